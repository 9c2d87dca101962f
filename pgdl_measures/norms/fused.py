"""A network with each batch norm fused into the kernel before it (Dziugaite et al. 2020, C.5).

At inference a batch norm is x -> scale * x + shift per channel. Directly after a kernel, without an
activation between them, it is folded into that kernel and its bias; no output changes. After
anything else there is no kernel to fold it into: it remains a layer, and its kernel is the vector
of its scales. The scales of a layer or group normalization are such a kernel too. In all other
layers with weights (attention, embeddings, custom layers), each weight but the biases is a kernel.

`run` takes the weights as arguments. So perturbed or squared weights never touch a variable, and a
graph traced for one model serves all models of its architecture. A softmax or sigmoid at the end is
left out: `run` returns logits.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import tensorflow as tf

from pgdl_measures.base import Subject
from pgdl_measures.errors import MeasureError
from pgdl_measures.network.endings import Ending
from pgdl_measures.network.graph import Call, is_stock
from pgdl_measures.network.rebuild import is_linear
from pgdl_measures.network.substitution import with_weights
from pgdl_measures.norms.initial import initial_weights
from pgdl_measures.norms.kernels import Geometry, channels_last, kernel_geometry, matrix_axes

_layers = tf.keras.layers
_IDENTITIES = tuple(
    getattr(_layers, name)
    for name in (
        "ActivityRegularization",
        "AlphaDropout",
        "Dropout",
        "GaussianDropout",
        "GaussianNoise",
        "SpatialDropout1D",
        "SpatialDropout2D",
    )
    if hasattr(_layers, name)  # not every version of Keras has all
)
_WITHOUT_KERNELS = (_layers.Normalization, _layers.PReLU)  # their weights are not kernels
_PREPROCESSING = (_layers.Normalization, _layers.Rescaling)


@dataclass
class _Entry:
    """One kernel with its bias and the batch norms that follow it; or such batch norms alone."""

    geometry: Geometry
    layer: int | None = None  # the index of the layer in the network
    kernel: int = 0  # the indices of kernel and bias in the layer's weights
    bias: int | None = None
    batch_norms: list[int] = field(default_factory=list)


@dataclass
class _Run:
    """How a call is run: by its entries' kernels, or by the layer with substituted weights."""

    call: Call
    entries: list[int] = field(default_factory=list)
    activation: Callable[[tf.Tensor], tf.Tensor] | None = None
    by_layer: bool = False
    skipped: bool = False


Weights = list[np.ndarray]


class FusedNetwork:
    """The network of a subject: `kernels`, `biases`, `geometries` in graph order, and `run`.

    Every kernel has a bias here; if the layer has none, `has_bias` is false and the bias is zero.
    """

    def __init__(self, subject: Subject) -> None:
        self._model, self._network = subject.model, subject.network
        self._numbers = {id(layer): i for i, layer in enumerate(self._network.sources)}
        self._entries: list[_Entry] = []
        self._runs = self._plan()
        if not self._entries:
            raise MeasureError("the model has no kernels; its norms are not defined")
        self.geometries = [entry.geometry for entry in self._entries]
        self.has_bias = [
            entry.layer is None or bool(entry.batch_norms) or entry.bias is not None
            for entry in self._entries
        ]
        self.kernels, self.biases = self._fuse([la.get_weights() for la in self._network.sources])

    def initial_kernels(self) -> Weights:
        """The kernels before training, fused in the same way."""
        initial = initial_weights(self._model)
        by_layer = [[initial[n] for n in numbers] for numbers in self._network.weight_numbers]
        return self._fuse(by_layer)[0]

    def run(
        self,
        x: tf.Tensor,
        kernels: Sequence[tf.Tensor],
        biases: Sequence[tf.Tensor],
        *,
        preprocess: bool = True,
    ) -> tf.Tensor:
        """The logits of inputs x with these weights in place of the model's.

        Without `preprocess`, rescaling and normalization layers are skipped.
        """
        values: dict[int, Any] = {0: x}
        for run in self._runs:
            layer = getattr(run.call.operation, "layer", None)
            if run.skipped or (not preprocess and isinstance(layer, _PREPROCESSING)):
                values[run.call.outputs[0]] = values[run.call.inputs[0]]
            elif run.by_layer:
                weights: dict[int, tf.Tensor] = {}
                for number in run.entries:
                    entry = self._entries[number]
                    weights[entry.kernel] = kernels[number]
                    if entry.bias is not None:
                        weights[entry.bias] = biases[number]
                with_weights(functools.partial(run.call.run, values), layer, weights)
            elif run.entries:
                y = values[run.call.inputs[0]]
                if layer is not None:
                    y = tf.cast(y, layer.compute_dtype)
                for number in run.entries:
                    y = self._entries[number].geometry.apply(y, kernels[number], biases[number])
                values[run.call.outputs[0]] = run.activation(y) if run.activation else y
            else:
                run.call.run(values)
        return self._ending.scores(values[self._runs[-1].call.outputs[0]])

    @property
    def gives_probabilities(self) -> bool:
        """Whether the softmax or sigmoid at the end could not be left out."""
        return self._ending.probabilities

    def calls_beside_kernels(self) -> list[Call]:
        """The calls that `run` leaves to the model's own layers."""
        return [run.call for run in self._runs if run.by_layer or not (run.entries or run.skipped)]

    def signature(self) -> list[list[tf.TensorSpec]]:
        """The specifications of `kernels` and `biases` as arguments of a graph."""
        return [
            [tf.TensorSpec(array.shape, tf.float32) for array in arrays]
            for arrays in (self.kernels, self.biases)
        ]

    def tensors(self) -> list[list[tf.Tensor]]:
        """`kernels` and `biases` as arguments of that graph."""
        return [
            [tf.constant(array, tf.float32) for array in arrays]
            for arrays in (self.kernels, self.biases)
        ]

    def _plan(self) -> list[_Run]:
        """Decides how each call is run, and collects the kernels in graph order."""
        calls = self._network.calls_to_logits()
        uses: dict[int, int] = {}
        called: dict[int, int] = {}
        for call in calls:
            called[id(call.operation)] = called.get(id(call.operation), 0) + 1
            for tensor in call.inputs:
                uses[tensor] = uses.get(tensor, 0) + 1
        shapes = self._network.shapes
        runs: list[_Run] = []
        unfinished: dict[
            int, int
        ] = {}  # tensor -> the entry that a batch norm of it is folded into
        planned: dict[int, list[int]] = {}  # layer -> its entries, for when it is called again
        for call in calls:
            layer = getattr(call.operation, "layer", None)
            source, target = call.inputs[0], call.outputs[0]
            before = unfinished.get(source) if uses[source] == 1 else None
            if _is_identity(layer):
                runs.append(_Run(call, skipped=True))
                if before is not None:
                    unfinished[target] = before
                continue
            if not isinstance(layer, _layers.Layer) or not layer.weights:
                runs.append(_Run(call))
                continue
            once = called[id(call.operation)] == 1
            scales = _channels(layer, shapes[source]) if once else None
            if scales is not None:
                if before is not None and (
                    self._entries[before].geometry.channels_first != scales.channels_first
                ):
                    before = None
                run = _Run(call, skipped=before is not None)
                if before is None:
                    before = len(self._entries)
                    self._entries.append(_Entry(scales))
                    run.entries = [before]
                self._entries[before].batch_norms.append(self._numbers[id(layer)])
                unfinished[target] = before
            else:
                run = self._kernel_run(call, layer, shapes, planned)
                if once and run.entries and not run.activation and not run.by_layer:
                    unfinished[target] = run.entries[-1]
            runs.append(run)
        self._ending = self._logits_ending(runs)
        return runs

    def _kernel_run(
        self, call: Call, layer: Any, shapes: dict[int, Any], planned: dict[int, list[int]]
    ) -> _Run:
        """The run of a layer with weights; its first call adds its kernels."""
        plain = is_stock(layer) and len(call.inputs) == 1 and not call.kwargs
        source, target = shapes[call.inputs[0]], shapes[call.outputs[0]]
        geometries = kernel_geometry(layer, source, target) if plain else None
        number = self._numbers[id(layer)]
        if id(layer) not in planned:
            first = len(self._entries)
            if geometries is not None:
                last = len(geometries) - 1
                for i, geometry in enumerate(geometries):
                    bias = i + 1 if i == last and layer.use_bias else None
                    self._entries.append(_Entry(geometry, number, i, bias))
            else:
                self._entries += _entries_by_layer(layer, number, source)
            planned[id(layer)] = list(range(first, len(self._entries)))
        linear = is_linear(getattr(layer, "activation", None))
        activation = None if linear or geometries is None else layer.activation
        return _Run(call, planned[id(layer)], activation, by_layer=geometries is None)

    def _logits_ending(self, runs: list[_Run]) -> Ending:
        """The network's ending, without a softmax or sigmoid that is fused into the last layer."""
        ends = (tf.keras.activations.softmax, tf.keras.activations.sigmoid)
        ending = self._network.ending
        if runs and ending.probabilities and runs[-1].activation in ends:
            runs[-1].activation = None
            return dataclasses.replace(ending, probabilities=False)
        return ending

    def _fuse(self, weights: Sequence[Sequence[np.ndarray]]) -> tuple[Weights, Weights]:
        kernels, biases = [], []
        for entry in self._entries:
            geometry = entry.geometry
            if entry.layer is None:
                kernel, bias = np.ones(geometry.input_shape[-1]), np.zeros(1)
            else:
                arrays = weights[entry.layer]
                kernel = np.asarray(arrays[entry.kernel], np.float64)
                if entry.bias is not None:
                    bias = np.asarray(arrays[entry.bias], np.float64)
                elif geometry.matrix is not None or geometry.depthwise:
                    bias = np.zeros(1)
                else:
                    bias = np.zeros(geometry.output_channels(kernel))
            for number in entry.batch_norms:
                layer = self._network.sources[number]
                scale, shift = _scale_and_shift(layer, weights[number])
                kernel, bias = geometry.scaled(kernel, scale), bias * scale + shift
            kernels.append(kernel)
            biases.append(bias)
        return kernels, biases


def fused_network(subject: Subject) -> FusedNetwork:
    """The fused network of a subject."""
    return subject.share("fused_network", lambda: FusedNetwork(subject))


def _entries_by_layer(layer: Any, number: int, shape: tuple[int, ...]) -> list[_Entry]:
    """The weights of a layer that Keras itself has to run, with those of the layers inside it."""
    if isinstance(layer, _WITHOUT_KERNELS):
        return []
    numbers = {id(weight): i for i, weight in enumerate(layer.weights)}
    entries: list[_Entry] = []
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
                entries.append(_Entry(geometry, number, numbers[id(weight)], bias))
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


def _scale_and_shift(
    layer: tf.keras.layers.Layer, weights: Sequence[np.ndarray]
) -> tuple[np.ndarray, np.ndarray]:
    """A batch norm at inference: gamma (x - mean) / sqrt(variance + epsilon) + beta."""
    arrays = [np.asarray(w, np.float64) for w in weights]
    gamma = arrays.pop(0) if layer.scale else 1.0
    beta = arrays.pop(0) if layer.center else 0.0
    mean, variance = arrays
    scale = gamma / np.sqrt(variance + layer.epsilon)
    return scale, beta - mean * scale
