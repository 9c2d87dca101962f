"""A Keras classifier as a chain f = f^(L) ∘ … ∘ f^(1) that can be entered at any layer l.

A model is rebuilt once per architecture as a private graph of stock layers, into which the weights
of each further model of that architecture are copied. So the caller's model is never changed, and
graphs that were traced for one model serve all of its architecture. A model that cannot be rebuilt
(with layers or a `call` of its own) runs as it is, traced for itself.

Layers may compute in half or double precision; inputs and outputs are float32.
"""

from __future__ import annotations

import collections
import copy
import math
from collections.abc import Callable, Hashable
from typing import Any

import tensorflow as tf

from pgdl_measures.errors import MeasureError
from pgdl_measures.network.blocks import Block, Step, by_layer, cut, step
from pgdl_measures.network.checks import check_input_shape, check_weights
from pgdl_measures.network.endings import Ending, ending
from pgdl_measures.network.folding import folded
from pgdl_measures.network.graph import Call, Graph, has_own_call
from pgdl_measures.network.reading import read_graph
from pgdl_measures.network.rebuild import architecture, as_it_is, lend, own_layers, rebuilt

# Numbers in the widest tensor of a forward pass. A processor is fastest where they stay in its
# cache (docs/speed.md), a GPU where there is much to do at once.
_FORWARD_ELEMENTS = {"CPU": 1 << 20, "GPU": 1 << 22}
_LONG = 40  # calls: a second of tracing

_layers = tf.keras.layers


class Network:
    """The chain of one architecture with the weights of the model that was bound last.

    `steps` lead from one cut to the next; `layers` are the numbers of the steps that make up each
    layer of the papers.
    """

    def __init__(self, graph: Graph, input_shape: tuple[int, ...]) -> None:
        self.graph_of_calls = graph
        self.input_shape = input_shape
        self._graphs: dict[Hashable, Any] = {}
        self._ways: dict[tuple[int, int], Any] = {}
        self._parts = cut(graph)
        self._cuts = [*(source for _, source, _ in self._parts), graph.output]
        self.steps: list[Step] = [step(*part) for part in self._parts]
        self.layers: list[list[int]] = by_layer([calls for calls, _, _ in self._parts])
        self.shapes: dict[int, tuple[int, ...]] = {}  # of the tensors, by their numbers
        self._types, widest, outputs = self._try_out()
        self.ending: Ending = ending(self.steps, outputs)
        self.outputs = self.ending.classes
        device = "GPU" if tf.config.list_logical_devices("GPU") else "CPU"
        self.forward_batch = min(max(_FORWARD_ELEMENTS[device] // widest, 32), 4096)
        self.sources: list[Any] = own_layers(graph)  # whose weights are copied
        self.weight_numbers: list[list[int]] = []  # of each such layer's weights among the model's

    def _try_out(self) -> tuple[list[tf.DType], int, tf.Tensor]:
        """Types of all cuts, the numbers in the widest tensor, and some outputs. Builds layers."""
        values: dict[int, Any] = {0: tf.zeros([1, *self.input_shape])}
        widest = 1
        for call in self.graph_of_calls.calls:
            call.run(values)
            if isinstance(call.layer, tf.keras.Model):
                # What it computes inside is unknown: count a layer of 64 features.
                widest = max(widest, 64 * math.prod(self.input_shape[:-1]))
        self.shapes = {number: tuple(x.shape[1:]) for number, x in values.items()}
        outputs = self.shapes[self.graph_of_calls.output]
        if len(outputs) != 1:
            raise MeasureError(
                f"the model's outputs have shape {list(outputs)} for an example; expected "
                "[classes], one number for each class"
            )
        types = [values[tensor].dtype for tensor in self._cuts]
        sizes = [int(tf.size(x)) for x in values.values()]
        return types, max([widest, *sizes]), values[self.graph_of_calls.output]

    def check_mixable(self, layer: int = 0) -> None:
        """Raises where x^(layer) are token ids: the mean of two ids is another word's id."""
        if layer == 0 and any(
            type(call.layer).__name__ == "Embedding"
            for call in self.graph_of_calls.calls
            if 0 in call.inputs
        ):
            raise MeasureError(
                "the inputs are token ids, which cannot be mixed or perturbed; use a measure of a "
                "later layer, such as manifold_mixup or gi_intra_l1"
            )

    def layer_calls(self) -> list[list[Call]]:
        """The calls that make up each layer."""
        return [[call for step in steps for call in self._parts[step][0]] for steps in self.layers]

    def layer_configs(self) -> list[list[dict[str, Any]]]:
        """The configurations of the Keras layers that make up each layer."""
        return [
            [call.layer.get_config() for call in calls if isinstance(call.layer, _layers.Layer)]
            for calls in self.layer_calls()
        ]

    def with_steps(self, wrap: Callable[[Step], Step]) -> Network:
        """The same network with another step for each, and no graphs traced yet."""
        twin = copy.copy(self)
        twin.steps = [wrap(one) for one in self.steps]
        twin._graphs, twin._ways = {}, {}
        return twin

    def entry(self, layer: int) -> int:
        """The index of the step that takes x^(layer): 0 is the input."""
        if not 0 <= layer < len(self.layers):
            reason = self._opaque() or "it is a single layer or block"
            raise MeasureError(
                f"layer {layer} is past the end: this network can be entered at 0 to "
                f"{len(self.layers) - 1}" + ("" if len(self.layers) > 1 else f", because {reason}")
            )
        return self.layers[layer][0]

    def _opaque(self) -> str:
        """Why the layers of a model of the user's own are not known; empty if they are."""
        for call in self.graph_of_calls.calls:
            if isinstance(call.layer, _layers.Layer) and has_own_call(call.layer):
                return (
                    f"the `call` of {type(call.layer).__name__} does not run on symbolic inputs, "
                    "which would show its layers; Keras 3 takes keras.ops there, but not "
                    "TensorFlow's functions"
                )
        return ""

    def layer_shape(self, layer: int) -> tuple[int, ...]:
        """The shape of x^(layer) for one example."""
        return self.step_shape(self.entry(layer))

    def step_shape(self, number: int) -> tuple[int, ...]:
        """The shape for one example of what that step takes; of the outputs after the last one."""
        return self.shapes[self._cuts[number]]

    def affine_steps(self, start: int) -> int:
        """How many steps from `start` on are affine, and so commute with interpolation."""
        count = 0
        for one in self.steps[start:]:
            if not getattr(one, "affine", False):
                break
            count += 1
        return count

    def run(self, x: tf.Tensor, start: int = 0, stop: int | None = None) -> tf.Tensor:
        """Steps `start` to `stop` (default: to the outputs, float32) at inference."""
        if start:
            x = tf.cast(x, self._types[start])
        x = self._through(x, start, len(self.steps) if stop is None else stop)
        return self.ending.outputs(x) if stop is None else x

    def _through(self, x: tf.Tensor, start: int, stop: int) -> tf.Tensor:
        """Steps `start` to `stop`. A long way is traced once for all graphs that it is part of."""
        calls = sum(len(part[0]) for part in self._parts[start:stop])
        if calls <= _LONG or tf.executing_eagerly():
            for one in folded(self.steps[start:stop]):
                x = one(x)
            return x
        if (start, stop) not in self._ways:
            shape = [None, *self.step_shape(start)]

            @tf.function(input_signature=[tf.TensorSpec(shape, self._types[start])])
            def way(x: tf.Tensor) -> tf.Tensor:
                for one in folded(self.steps[start:stop]):
                    x = one(x)
                return x

            self._ways[start, stop] = way
        return self._ways[start, stop](x)

    def logits(self, x: tf.Tensor, start: int = 0) -> tf.Tensor:
        """The outputs before a final softmax or sigmoid, if there is one. Where it is inside the
        last step, logarithms of the outputs: they differ from the logits by a constant per example,
        as far as no probability underflows."""
        if start:
            x = tf.cast(x, self._types[start])
        return self.ending.scores(self._through(x, start, self.ending.stop))

    def features(self, x: tf.Tensor) -> tf.Tensor:
        """What the last affine layer takes: a tensor at a cut, or inside a block."""
        number, tensor = self.classifier()
        calls, source, _ = self._parts[number]
        x = self._through(x, 0, number)
        return x if tensor == source else Block(calls, source, tensor).values(x)[tensor]

    def classifier(self) -> tuple[int, int]:
        """The step with the last layer that has a kernel, and the tensor that it takes."""
        for number in reversed(range(len(self._parts))):
            for call in reversed(self._parts[number][0]):
                if any(hasattr(call.layer, name) for name in ("kernel", "pointwise_kernel")):
                    return number, call.inputs[0]
        reason = self._opaque()
        raise MeasureError(
            "the model has no dense or convolutional layer whose inputs could be its features"
            + (f": {reason}" if reason else "")
        )

    def calls_to_logits(self) -> list[Call]:
        """The calls that lead to the logits."""
        return [call for calls, _, _ in self._parts[: self.ending.stop] for call in calls]

    def graph(self, key: Hashable, build: Callable[[], Any]) -> Any:
        """The graph of that key: the `tf.function` that `build` makes, traced once."""
        if key not in self._graphs:
            self._graphs[key] = build().get_concrete_function()
        return self._graphs[key]

    def bind(self, model: tf.keras.Model, graph: Graph) -> None:
        """Takes the weights of `model`, whose graph is of this architecture."""
        sources = own_layers(graph)
        if self.sources and sources[0] is not self.sources[0]:
            lend(self.graph_of_calls, graph)
        numbers = {id(weight): number for number, weight in enumerate(model.weights)}
        self.weight_numbers = [[numbers[id(w)] for w in layer.weights] for layer in sources]


_CACHED_ARCHITECTURES = 16
_networks: collections.OrderedDict[str, Network] = collections.OrderedDict()


def network(
    model: tf.keras.Model, input_shape: tuple[int, ...], known: Network | None = None
) -> Network:
    """The network of `model`, good until the next model of its architecture is bound.

    A model that runs as it is keeps the graphs that were traced for it only where the network that
    was made of it before is given as `known`.
    """
    check_input_shape(model, input_shape)
    check_weights(model)
    graph = read_graph(model, input_shape)
    try:
        key = architecture(graph, input_shape)
        if key in _networks:
            _networks.move_to_end(key)
        else:
            _networks[key] = Network(rebuilt(graph), input_shape)
            while len(_networks) > _CACHED_ARCHITECTURES:
                _networks.popitem(last=False)
        found = _networks[key]
    except (NotImplementedError, TypeError):  # layers that cannot be made from their configuration
        found = known or Network(as_it_is(graph), input_shape)
    found.bind(model, graph)
    return found
