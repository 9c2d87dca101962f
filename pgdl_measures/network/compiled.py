"""A Keras model as a chain f = f^(L) ∘ … ∘ f^(1) that can be entered at layer l, for inference.

A model is rebuilt once per architecture as a private chain of stock layers, and each further model
of that architecture only lends it its weights. So the caller's model is never changed, and graphs
that were traced for one model serve all of its architecture. A model that cannot be rebuilt (with
layers or a `call` of its own) runs as it is, traced for itself.
"""

from __future__ import annotations

import collections
import math
from collections.abc import Callable, Hashable
from typing import Any

import numpy as np
import tensorflow as tf

from pgdl_measures.errors import MeasureError
from pgdl_measures.network.chain import KerasStep, Step, architecture, chain, rebuilt

_FORWARD_ELEMENTS = 64 * 32 * 32 * 64
_TINY = 1.2e-38  # the smallest normal number

_layers = tf.keras.layers


class Network:
    """The chain of one architecture with the weights of the model that was bound last."""

    def __init__(self, layers: list[list[Step]], input_shape: tuple[int, ...]) -> None:
        self.layers = layers
        self.steps = [step for layer in layers for step in layer]
        self._graphs: dict[Hashable, Any] = {}
        self.input_shape = input_shape
        x, widest = tf.zeros([1, *input_shape]), 1
        for step in self.steps:  # builds the layers, too
            widest = max(widest, _widest_inside(step, x))
            x = step(x)
            widest = max(widest, int(tf.size(x)))
        if len(x.shape) != 2:
            raise MeasureError(
                f"the model's outputs have shape {list(x.shape[1:])} for an example; expected "
                "[classes], one number for each class"
            )
        self.outputs = int(x.shape[-1])
        # Examples per forward pass: the widest activation then fills some ten megabytes, which
        # keeps all cores busy and the memory small.
        self.forward_batch = min(max(_FORWARD_ELEMENTS // widest, 32), 4096)

    def entry(self, layer: int) -> int:
        """The index of the step that takes x^(layer): 0 is the input."""
        if not 0 <= layer < len(self.layers):
            raise MeasureError(
                f"layer {layer} is past the end: this network can be entered at 0 to "
                f"{len(self.layers) - 1}"
                + ("" if len(self.layers) > 1 else ", because its layers are not a plain chain")
            )
        return sum(len(steps) for steps in self.layers[:layer])

    def affine_steps(self, start: int) -> int:
        """How many steps from `start` on are affine, and so commute with interpolation."""
        count = 0
        for step in self.steps[start:]:
            if not getattr(step, "affine", False):
                break
            count += 1
        return count

    def run(self, x: tf.Tensor, start: int = 0, stop: int | None = None) -> tf.Tensor:
        """Steps `start` to `stop` (default: to the outputs) at inference."""
        for step in self.steps[start:stop]:
            x = step(x)
        return x

    def logits(self, x: tf.Tensor, start: int = 0) -> tf.Tensor:
        """The outputs before a final softmax, if there is one. Where it is inside the last step,
        logarithms of the outputs: they differ from the logits by a constant per example, as far as
        no probability underflows."""
        last = self.steps[-1]
        if _is_softmax(last):
            return self.run(x, start, len(self.steps) - 1)
        outputs = self.run(x, start)
        return tf.math.log(tf.maximum(outputs, _TINY)) if _ends_in_softmax(last) else outputs

    def graph(self, key: Hashable, build: Callable[[], Any]) -> Any:
        """The graph of that key: the `tf.function` that `build` makes, traced once."""
        if key not in self._graphs:
            self._graphs[key] = build().get_concrete_function()
        return self._graphs[key]

    def bind(self, model: tf.keras.Model) -> None:
        """Takes the weights of `model`, which has this architecture."""
        for steps, layer in zip(self.layers, chain(model)):
            steps[0].layer.set_weights(layer.get_weights())  # type: ignore[attr-defined]


_CACHED_ARCHITECTURES = 16
_networks: collections.OrderedDict[str, Network] = collections.OrderedDict()


def network(model: tf.keras.Model, input_shape: tuple[int, ...]) -> Network:
    """The network of `model`, good until the next model of its architecture is bound."""
    _check_input_shape(model, input_shape)
    _check_weights(model)
    try:
        key = architecture(model, input_shape)
        if key in _networks:
            _networks.move_to_end(key)
        else:
            _networks[key] = Network([rebuilt(layer) for layer in chain(model)], input_shape)
            while len(_networks) > _CACHED_ARCHITECTURES:
                _networks.popitem(last=False)
        _networks[key].bind(model)
        return _networks[key]
    except (NotImplementedError, TypeError):  # layers that cannot be made from their configuration
        return Network([[KerasStep(layer)] for layer in chain(model)], input_shape)


def _is_softmax(step: Step) -> bool:
    """Whether a step is a softmax and nothing else."""
    layer = getattr(step, "layer", step)
    if isinstance(layer, _layers.Activation):
        layer = layer.activation
    return isinstance(layer, _layers.Softmax) or layer is tf.keras.activations.softmax


def _ends_in_softmax(step: Step) -> bool:
    layer = getattr(step, "layer", None)
    while isinstance(layer, tf.keras.Model) and layer.layers:
        layer = layer.layers[-1]
    return isinstance(layer, _layers.Softmax) or (
        getattr(layer, "activation", None) is tf.keras.activations.softmax
    )


def _widest_inside(step: Step, x: tf.Tensor) -> int:
    """Numbers per example in the widest activation within a step that is a whole model; where the
    model does not tell, as many as a layer of 64 features has."""
    model = getattr(step, "layer", None)
    if not isinstance(model, tf.keras.Model):
        return 1
    try:
        return max(math.prod(layer.output.shape[1:]) for layer in model.layers)
    except (AttributeError, TypeError, ValueError):
        return 64 * math.prod(x.shape[1:-1])


def _check_weights(model: tf.keras.Model) -> None:
    """NaN must not get into a network: a relu may make numbers of it."""
    for weight, array in zip(model.weights, model.get_weights()):
        if not np.isfinite(array).all():
            raise MeasureError(f"the model's weights {weight.name} are NaN or infinite")


def _check_input_shape(model: tf.keras.Model, input_shape: tuple[int, ...]) -> None:
    try:
        expected = tuple(model.input_shape)[1:]
    except (AttributeError, ValueError, TypeError):  # not built, or with several inputs
        return
    if len(expected) != len(input_shape) or any(
        e is not None and e != found for e, found in zip(expected, input_shape)
    ):
        raise MeasureError(
            f"the dataset's inputs have shape {list(input_shape)}; the model takes {list(expected)}"
        )
