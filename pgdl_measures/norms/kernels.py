"""How kernels are applied: convolutions (also grouped, depthwise, transposed), matrices, scales."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import tensorflow as tf

_layers = tf.keras.layers
_CONVOLUTIONS = (
    *(_layers.Conv1D, _layers.Conv2D, _layers.Conv3D, _layers.Conv2DTranspose),
    *(_layers.DepthwiseConv2D, _layers.SeparableConv2D),
)


@dataclass(frozen=True)
class Geometry:
    """How a kernel is applied.

    Its rank says what it does: rank 1 scales channels, rank 2 is dense, more is a convolution. With
    `matrix` it is a matrix instead, and its first `matrix` axes are the inputs.
    """

    # Of one example, channels last; of the output, if the convolution is transposed.
    input_shape: tuple[int, ...]
    strides: tuple[int, ...] = ()
    padding: str = "VALID"
    dilations: tuple[int, ...] = ()
    groups: int = 1
    depthwise: bool = False
    transposed: bool = False
    matrix: int | None = None
    channels_first: bool = False  # in the tensors that it takes and makes

    def apply(self, x: tf.Tensor, kernel: tf.Tensor, bias: tf.Tensor) -> tf.Tensor:
        """The layer without its activation."""
        if self.channels_first:
            axes = range(1, len(x.shape) - 1)
            last = self._applied(tf.transpose(x, [0, *(a + 1 for a in axes), 1]), kernel, bias)
            return tf.transpose(last, [0, len(x.shape) - 1, *axes])
        return self._applied(x, kernel, bias)

    def _applied(self, x: tf.Tensor, kernel: tf.Tensor, bias: tf.Tensor) -> tf.Tensor:
        kernel, bias = tf.cast(kernel, x.dtype), tf.cast(bias, x.dtype)
        rank = len(kernel.shape)
        if rank == 1:
            return x * kernel + bias
        if rank == 2:
            return _biased(tf.tensordot(x, kernel, 1), bias)
        return _biased(self._convolved(x, kernel), bias)

    def _convolved(self, x: tf.Tensor, kernel: tf.Tensor) -> tf.Tensor:
        if self.depthwise:
            strides = (1, *self.strides, 1)
            return tf.nn.depthwise_conv2d(x, kernel, strides, self.padding, None, self.dilations)
        if self.transposed:
            shape = [tf.shape(x)[0], *self.input_shape]
            return tf.nn.conv_transpose(x, kernel, shape, self.strides, self.padding)
        if self.groups > 1:
            # One by one: the gradient of a grouped convolution does not run on CPUs.
            parts = zip(tf.split(x, self.groups, -1), tf.split(kernel, self.groups, -1))
            return tf.concat([self._plain(part, own) for part, own in parts], -1)
        return self._plain(x, kernel)

    def _plain(self, x: tf.Tensor, kernel: tf.Tensor) -> tf.Tensor:
        return tf.nn.convolution(
            x, kernel, strides=self.strides, padding=self.padding, dilations=self.dilations
        )

    def scaled(self, kernel: np.ndarray, scale: Any) -> np.ndarray:
        """The kernel with each output channel multiplied by its scale."""
        if self.depthwise and np.ndim(scale):
            return kernel * np.reshape(scale, kernel.shape[-2:])
        return kernel * (np.reshape(scale, [-1, 1]) if self.transposed else scale)

    def output_channels(self, kernel: np.ndarray) -> int:
        """The number of output channels."""
        if self.depthwise:
            return kernel.shape[-2] * kernel.shape[-1]
        return kernel.shape[-2 if self.transposed else -1]

    def inputs(self, kernel: np.ndarray) -> int:
        """k^2 c of a convolution of c channels; 1 for a vector of scales."""
        if self.matrix is not None:
            return math.prod(kernel.shape[: self.matrix])
        if self.transposed:
            return kernel.size // kernel.shape[-2]
        return kernel.size // kernel.shape[-1] * self.groups

    def by_group(self, kernel: np.ndarray) -> np.ndarray:
        """A convolution's kernel as [groups, ..., channels in, channels out] of each group."""
        if self.depthwise:
            return np.moveaxis(kernel[..., np.newaxis, :], -3, 0)
        return np.stack(np.split(kernel, self.groups, axis=-1))


def kernel_geometry(
    layer: Any, shape: tuple[int, ...], output_shape: tuple[int, ...]
) -> list[Geometry] | None:
    """How a stock dense or convolutional layer applies its kernels, one after the other; None for
    any other layer, which only Keras itself can run."""
    if isinstance(layer, _layers.Dense):
        return [Geometry(shape)]
    rank = len(shape) - 1
    if not isinstance(layer, _CONVOLUTIONS) or rank < 1:
        return None
    if layer.padding == "causal":
        return None
    if layer.data_format == "channels_first":
        shape, output_shape = channels_last(shape), channels_last(output_shape)
    strides, dilations = tuple(layer.strides), tuple(layer.dilation_rate)
    first = layer.data_format == "channels_first"
    plain = Geometry(shape, strides, layer.padding.upper(), dilations, channels_first=first)
    depthwise = replace(plain, groups=shape[-1], depthwise=True)
    if isinstance(layer, _layers.SeparableConv2D):
        between = (*output_shape[:-1], shape[-1] * layer.depth_multiplier)
        ones = (1,) * rank
        return [depthwise, Geometry(between, ones, "VALID", ones, channels_first=first)]
    if isinstance(layer, _layers.DepthwiseConv2D):
        return [depthwise]
    if hasattr(layer, "output_padding"):  # transposed
        simple = set(dilations) == {1} and layer.output_padding is None
        return [replace(plain, input_shape=output_shape, transposed=True)] if simple else None
    return [replace(plain, groups=layer.groups)]


def channels_last(shape: tuple[int, ...]) -> tuple[int, ...]:
    """The shape of an example whose channels are first, with them last."""
    return (*shape[1:], shape[0])


def matrix_axes(layer: Any, kernel_rank: int) -> int:
    """How many of a weight's first axes are inputs."""
    equation = getattr(layer, "equation", None)
    if equation is None or "," not in equation:
        return kernel_rank - 1
    _, kernel, output = equation.replace("->", ",").split(",")
    summed = [letter not in output for letter in kernel]
    return summed.index(False) if False in summed and any(summed) else kernel_rank - 1


def _biased(y: tf.Tensor, bias: tf.Tensor) -> tf.Tensor:
    """Adds a bias; TensorFlow computes one of each channel together with the kernel before it."""
    return tf.nn.bias_add(y, bias) if bias.shape == y.shape[-1:] else y + bias
