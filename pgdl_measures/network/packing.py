"""A convolution of few channels, computed on several columns of the image at once.

A processor multiplies vectors of 16 numbers, so that a convolution of one channel, or of three,
leaves most of its work undone. Neighbouring columns taken for channels fill the vectors: b columns
of c channels are one column of b c channels, and the kernel becomes a band matrix over them. Its
zeros cost less than it saves (docs/speed.md). Each output is a sum of the same products.
"""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from pgdl_measures.network.graph import is_stock, stock_class
from pgdl_measures.network.rebuild import KerasStep, is_linear

_layers = tf.keras.layers


class Packed:
    """A convolutional layer on packed columns, as one step."""

    affine = True

    def __init__(self, step: KerasStep) -> None:
        self.layer, self._step = step.layer, step

    def __call__(self, x: tf.Tensor) -> tf.Tensor:
        if packed_columns(x.shape[2], *self.layer.kernel.shape[2:]) == 1:
            return self._step(x)
        x = tf.cast(x, self.layer.compute_dtype)  # as Keras does
        y = packed_convolution(x, tf.convert_to_tensor(self.layer.kernel))
        if not self.layer.use_bias:
            return y
        return tf.nn.bias_add(y, tf.convert_to_tensor(self.layer.bias))


def packed_columns(input_width: int | None, channels: int, filters: int) -> int:
    """How many columns to pack; 1 where nothing is won. GPUs were not measured and pack none."""
    if input_width is None or tf.config.list_logical_devices("GPU"):
        return 1
    wanted = 4 if channels <= 4 else 2 if max(channels, filters) <= 16 else 1
    return next(columns for columns in (wanted, 2, 1) if input_width % columns == 0)


def packed_convolution(x: tf.Tensor, kernel: tf.Tensor) -> tf.Tensor:
    """The convolution of x [n, h, w, c] with stride 1 and padding "same"."""
    height, width, channels, filters = kernel.shape
    columns = packed_columns(x.shape[2], channels, filters)
    blocks = -(-(columns + width - 1) // columns)  # those that one block of outputs is made of
    reach = blocks * columns
    above, left = (height - 1) // 2, (width - 1) // 2
    padding = [[0, 0], [above, height - 1 - above], [left, reach - columns - left], [0, 0]]
    padded = tf.pad(x, padding)
    packed = [padded.shape[1], padded.shape[2] // columns, columns * channels]
    # The kernel of each output of a block begins one column after that of the one before.
    band = tf.stack(
        [
            tf.pad(kernel, [[0, 0], [first, reach - width - first], [0, 0], [0, 0]])
            for first in range(columns)
        ],
        axis=3,
    )
    band = tf.reshape(band, [height, blocks, columns * channels, columns * filters])
    y = tf.nn.conv2d(tf.reshape(padded, [-1, *packed]), band, 1, "VALID")
    return tf.reshape(y, [-1, x.shape[1], x.shape[2], filters])


def can_pack(step: Any) -> bool:
    """Whether a step is a convolution that `packed_convolution` computes.

    It must have been built: only then does it tell its weights.
    """
    if not isinstance(step, KerasStep) or not isinstance(step.layer, _layers.Conv2D):
        return False
    layer = step.layer
    if not is_stock(layer) or stock_class(layer) is not _layers.Conv2D:
        return False
    plain = {*layer.strides, *layer.dilation_rate, layer.groups} == {1}
    plain &= layer.padding == "same" and is_linear(layer.activation)
    plain &= layer.data_format == "channels_last"
    plain &= layer.compute_dtype == layer.dtype == "float32"
    plain &= len(layer.weights) == 1 + bool(layer.use_bias)  # no low-rank additions
    return plain
