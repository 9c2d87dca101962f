"""A network with each batch norm fused into the kernel before it (Dziugaite et al. 2020, C.5).

At inference a batch norm is x -> scale * x + shift per channel. After a kernel and no activation it
is folded into that kernel and its bias, which changes no output. A batch norm that follows anything
else (an activation, say) has no kernel to go into; it stays a layer by itself, whose kernel is the
vector of its scales. So a kernel's rank says what it does: 1 scales channels, 2 is dense, more is a
convolution.

`run` takes the weights as arguments: perturbed or squared weights never touch a variable, and the
graph that is traced for one model serves all of its architecture. A softmax at the end is left
out, so that `run` gives logits.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import tensorflow as tf

from pgdl_measures.base import Subject
from pgdl_measures.errors import MeasureError
from pgdl_measures.network.chain import plain_chain
from pgdl_measures.network.compiled import Network
from pgdl_measures.norms.initial import initial_weights

_layers = tf.keras.layers
_CONVOLUTIONS = (_layers.Conv1D, _layers.Conv2D)
_NOT_PLAIN = (_layers.Conv2DTranspose, _layers.DepthwiseConv2D, _layers.SeparableConv2D)
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


@dataclass(frozen=True)
class Geometry:
    """How a kernel is applied."""

    input_shape: tuple[int, ...]  # of one example
    strides: tuple[int, ...] = ()
    padding: str = "VALID"
    dilations: tuple[int, ...] = ()

    def apply(self, x: tf.Tensor, kernel: tf.Tensor, bias: tf.Tensor) -> tf.Tensor:
        """The layer without its activation."""
        rank = len(kernel.shape)
        if rank == 1:
            return x * kernel + bias
        if rank == 2:
            return tf.tensordot(x, kernel, 1) + bias
        convolved = tf.nn.convolution(
            x, kernel, strides=self.strides, padding=self.padding, dilations=self.dilations
        )
        return convolved + bias


@dataclass
class _Part:
    """A kernel layer with the batch norms that follow it, or such batch norms alone."""

    geometry: Geometry
    layer: int | None
    batch_norms: list[int] = field(default_factory=list)
    activation: Callable[[tf.Tensor], tf.Tensor] | None = None


Weights = list[np.ndarray]


class FusedNetwork:
    """The chain of a subject: `kernels`, `biases`, `geometries` by layer, and `run` from them.

    Every layer has a bias; where `has_bias` is false it stands for none, and is zero.
    """

    def __init__(self, subject: Subject) -> None:
        self._model = subject.model
        self._keras_layers = plain_chain(subject.model)
        self._parts = _parts(self._keras_layers, subject.network)
        fused = [part for part in self._parts if isinstance(part, _Part)]
        if not fused:
            raise MeasureError("the model has no kernels; its norms are not defined")
        self.geometries = [part.geometry for part in fused]
        self.has_bias = [
            part.layer is None or bool(part.batch_norms) or self._keras_layers[part.layer].use_bias
            for part in fused
        ]
        self.kernels, self.biases = self._fuse([la.get_weights() for la in self._keras_layers])

    def initial_kernels(self) -> Weights:
        """The kernels before training, fused in the same way."""
        remaining = initial_weights(self._model)
        by_layer = []
        for layer in self._keras_layers:
            by_layer.append(remaining[: len(layer.weights)])
            remaining = remaining[len(layer.weights) :]
        return self._fuse(by_layer)[0]

    def run(
        self, x: tf.Tensor, kernels: Sequence[tf.Tensor], biases: Sequence[tf.Tensor]
    ) -> tf.Tensor:
        """The logits of inputs x with these weights in place of the model's."""
        weights = iter(zip(self.geometries, kernels, biases))
        for part in self._parts:
            if isinstance(part, _Part):
                geometry, kernel, bias = next(weights)
                x = geometry.apply(x, kernel, bias)
                x = part.activation(x) if part.activation else x
            else:
                x = part(x)
        return x

    def signature(self) -> list[list[tf.TensorSpec]]:
        """The specifications of `kernels` and `biases` as arguments of a graph."""
        return [
            [tf.TensorSpec(array.shape, tf.float32) for array in arrays]
            for arrays in (self.kernels, self.biases)
        ]

    def tensors(self) -> list[list[tf.Tensor]]:
        """`kernels` and `biases` as such arguments."""
        return [
            [tf.constant(array, tf.float32) for array in arrays]
            for arrays in (self.kernels, self.biases)
        ]

    def _fuse(self, weights: Sequence[Sequence[np.ndarray]]) -> tuple[Weights, Weights]:
        kernels, biases = [], []
        for part in self._parts:
            if not isinstance(part, _Part):
                continue
            if part.layer is None:
                kernel, bias = np.ones(part.geometry.input_shape[-1]), np.zeros(1)
            else:
                kernel, *rest = (np.asarray(w, np.float64) for w in weights[part.layer])
                bias = rest[0] if rest else np.zeros(kernel.shape[-1])
            for number in part.batch_norms:
                scale, shift = _scale_and_shift(self._keras_layers[number], weights[number])
                kernel, bias = kernel * scale, bias * scale + shift
            kernels.append(kernel)
            biases.append(bias)
        return kernels, biases


def fused_network(subject: Subject) -> FusedNetwork:
    """The fused network of a subject."""
    return subject.share("fused_network", lambda: FusedNetwork(subject))


def _parts(layers: list[tf.keras.layers.Layer], network: Network) -> list[Any]:
    """Fused layers and, between them, the other layers as functions."""
    parts: list[Any] = []
    unfinished: _Part | None = None  # what a batch norm would be folded into
    x = tf.zeros([1, *network.input_shape])
    for number, layer in enumerate(layers):
        start = network.entry(number)
        stop = network.entry(number + 1) if number + 1 < len(layers) else None
        shape = tuple(x.shape[1:])
        x = network.run(x, start, stop)
        if _is_identity(layer):
            continue
        if isinstance(layer, _layers.BatchNormalization):
            _check_axis(layer, number, len(shape))
            if unfinished is None:
                unfinished = _Part(Geometry(shape), None)
                parts.append(unfinished)
            unfinished.batch_norms.append(number)
        elif _has_kernel(layer, number):
            activation = None if _is_linear(layer) else layer.activation
            part = _Part(_geometry(layer, shape), number, activation=activation)
            parts.append(part)
            unfinished = part if activation is None else None
        else:
            parts.append(lambda x, start=start, stop=stop: network.run(x, start, stop))
            unfinished = None
    if isinstance(layers[-1], _layers.Softmax) or _is_softmax(layers[-1]):
        if isinstance(parts[-1], _Part):
            parts[-1].activation = None
        else:
            parts.pop()
    return parts


def _is_identity(layer: tf.keras.layers.Layer) -> bool:
    """Whether a layer does nothing at inference."""
    return isinstance(layer, _IDENTITIES) or (
        isinstance(layer, _layers.Activation) and _is_linear(layer)
    )


def _check_axis(layer: tf.keras.layers.Layer, number: int, last: int) -> None:
    axis = layer.axis if isinstance(layer.axis, int) else list(layer.axis)
    if axis not in (-1, last, [-1], [last]):
        raise MeasureError(
            f"layer {number} is a BatchNormalization over axis {axis}; it can be fused over the "
            f"last one only, {last}"
        )


def _has_kernel(layer: tf.keras.layers.Layer, number: int) -> bool:
    plain = isinstance(layer, _CONVOLUTIONS) and not isinstance(layer, _NOT_PLAIN)
    if plain and layer.groups == 1 and layer.data_format == "channels_last":
        return True
    if isinstance(layer, _layers.Dense):
        return True
    if layer.weights:
        raise MeasureError(
            f"layer {number} is a {type(layer).__name__} with weights; norms are of Dense, of "
            "Conv1D and Conv2D (one group, channels last) and of BatchNormalization"
        )
    return False


def _geometry(layer: tf.keras.layers.Layer, input_shape: tuple[int, ...]) -> Geometry:
    if isinstance(layer, _layers.Dense):
        return Geometry(input_shape)
    if layer.padding == "causal":
        raise MeasureError("norms of a convolution with causal padding are not defined here")
    return Geometry(
        input_shape, tuple(layer.strides), layer.padding.upper(), tuple(layer.dilation_rate)
    )


def _is_linear(layer: tf.keras.layers.Layer) -> bool:
    return layer.activation in (None, tf.keras.activations.linear)


def _is_softmax(layer: tf.keras.layers.Layer) -> bool:
    return getattr(layer, "activation", None) is tf.keras.activations.softmax


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
