"""Which weights of a network are kernels, and which batch norms are folded into which of them.

At inference a batch norm is x -> scale * x + shift per channel. Directly after a kernel, without an
activation between them, it is folded into that kernel and its bias; no output changes. After
anything else there is no kernel to fold it into: it remains a layer, and its kernel is the vector
of its scales. The scales of a layer or group normalization are such a kernel too. In all other
layers with weights (attention, embeddings, custom layers), each weight but the biases is a kernel.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import tensorflow as tf

from pgdl_measures.network.compiled import Network
from pgdl_measures.network.endings import Ending
from pgdl_measures.network.graph import Call, is_stock
from pgdl_measures.network.inference import IDENTITIES
from pgdl_measures.network.rebuild import is_linear
from pgdl_measures.norms.kernels import Geometry, channels_last, kernel_geometry, matrix_axes

_layers = tf.keras.layers
# Not every version of Keras has all.
_IDENTITIES = tuple(getattr(_layers, name) for name in IDENTITIES if hasattr(_layers, name))
_WITHOUT_KERNELS = (_layers.Normalization, _layers.PReLU)  # their weights are not kernels


@dataclass
class Entry:
    """One kernel with its bias and the batch norms that follow it; or such batch norms alone."""

    geometry: Geometry
    layer: int | None = None  # the index of the layer in the network
    kernel: int = 0  # the indices of kernel and bias in the layer's weights
    bias: int | None = None
    batch_norms: list[int] = field(default_factory=list)


@dataclass
class Run:
    """How a call is run: by its entries' kernels, or by the layer with substituted weights."""

    call: Call
    entries: list[int] = field(default_factory=list)
    activation: Callable[[tf.Tensor], tf.Tensor] | None = None
    by_layer: bool = False
    skipped: bool = False


class Plan:
    """How each call of a network up to its logits is run, with its kernels in graph order."""

    def __init__(self, network: Network) -> None:
        self._network = network
        self._numbers = {id(layer): i for i, layer in enumerate(network.sources)}
        self.entries: list[Entry] = []
        self.runs = self._plan()
        self.ending = self._logits_ending()

    def _plan(self) -> list[Run]:
        """Decides how each call is run, and collects the kernels in graph order."""
        calls = self._network.calls_to_logits()
        uses: dict[int, int] = {}
        called: dict[int, int] = {}
        for call in calls:
            called[id(call.operation)] = called.get(id(call.operation), 0) + 1
            for tensor in call.inputs:
                uses[tensor] = uses.get(tensor, 0) + 1
        shapes = self._network.shapes
        runs: list[Run] = []
        unfinished: dict[int, int] = {}  # tensor -> the entry that its batch norm is folded into
        planned: dict[int, list[int]] = {}  # layer -> its entries, for when it is called again
        for call in calls:
            layer = call.layer
            source, target = call.inputs[0], call.outputs[0]
            before = unfinished.get(source) if uses[source] == 1 else None
            if _is_identity(layer):
                runs.append(Run(call, skipped=True))
                if before is not None:
                    unfinished[target] = before
                continue
            if not isinstance(layer, _layers.Layer) or not layer.weights:
                runs.append(Run(call))
                continue
            once = called[id(call.operation)] == 1
            scales = _channels(layer, shapes[source]) if once else None
            if scales is not None:
                if before is not None and (
                    self.entries[before].geometry.channels_first != scales.channels_first
                ):
                    before = None
                run = Run(call, skipped=before is not None)
                if before is None:
                    before = len(self.entries)
                    self.entries.append(Entry(scales))
                    run.entries = [before]
                self.entries[before].batch_norms.append(self._numbers[id(layer)])
                unfinished[target] = before
            else:
                run = self._kernel_run(call, layer, shapes, planned)
                if once and run.entries and not run.activation and not run.by_layer:
                    unfinished[target] = run.entries[-1]
            runs.append(run)
        return runs

    def _kernel_run(
        self, call: Call, layer: Any, shapes: dict[int, Any], planned: dict[int, list[int]]
    ) -> Run:
        """The run of a layer with weights; its first call adds its kernels."""
        plain = is_stock(layer) and len(call.inputs) == 1 and not call.kwargs
        source, target = shapes[call.inputs[0]], shapes[call.outputs[0]]
        geometries = kernel_geometry(layer, source, target) if plain else None
        number = self._numbers[id(layer)]
        if id(layer) not in planned:
            first = len(self.entries)
            if geometries is not None:
                last = len(geometries) - 1
                for i, geometry in enumerate(geometries):
                    bias = i + 1 if i == last and layer.use_bias else None
                    self.entries.append(Entry(geometry, number, i, bias))
            else:
                self.entries += _entries_by_layer(layer, number, source)
            planned[id(layer)] = list(range(first, len(self.entries)))
        linear = is_linear(getattr(layer, "activation", None))
        activation = None if linear or geometries is None else layer.activation
        return Run(call, planned[id(layer)], activation, by_layer=geometries is None)

    def _logits_ending(self) -> Ending:
        """The network's ending, without a softmax or sigmoid that is fused into the last layer."""
        ends = (tf.keras.activations.softmax, tf.keras.activations.sigmoid)
        ending = self._network.ending
        if self.runs and ending.probabilities and self.runs[-1].activation in ends:
            self.runs[-1].activation = None
            return dataclasses.replace(ending, probabilities=False)
        return ending


def _entries_by_layer(layer: Any, number: int, shape: tuple[int, ...]) -> list[Entry]:
    """The weights of a layer that Keras itself has to run, with those of the layers inside it."""
    if isinstance(layer, _WITHOUT_KERNELS):
        return []
    numbers = {id(weight): i for i, weight in enumerate(layer.weights)}
    entries: list[Entry] = []
    seen: set[int] = set()  # a layer lists the weights of the layers in it, which come first
    for part in reversed(list(layer._flatten_layers())):
        own = [w for w in part.trainable_weights if numbers.get(id(w), -1) not in {-1, *seen}]
        seen |= {numbers[id(weight)] for weight in own}
        biases = [numbers[id(weight)] for weight in own if _is_bias(weight)]
        for weight in own:
            if not _is_bias(weight):
                rank = len(weight.shape)
                geometry = Geometry(shape, matrix=matrix_axes(part, rank) if rank > 1 else None)
                bias = biases.pop(0) if biases else None
                entries.append(Entry(geometry, number, numbers[id(weight)], bias))
    return sorted(entries, key=lambda entry: entry.kernel)


def _is_bias(weight: Any) -> bool:
    return weight.name.split("/")[-1].split(":")[0] in ("bias", "beta")


def _is_identity(layer: Any) -> bool:
    """Whether a layer does nothing at inference."""
    return isinstance(layer, _IDENTITIES) or (
        isinstance(layer, _layers.Activation) and is_linear(layer.activation)
    )


def _channels(layer: Any, shape: tuple[int, ...]) -> Geometry | None:
    """How a batch norm scales channels, last or first; None for others, and other layers."""
    if not isinstance(layer, _layers.BatchNormalization) or not is_stock(layer):
        return None
    axis, *more = [layer.axis] if isinstance(layer.axis, int) else layer.axis
    if more:
        return None
    if axis in (-1, len(shape)):
        return Geometry(shape)
    return Geometry(channels_last(shape), channels_first=True) if axis in (1, -len(shape)) else None
