"""Inputs of an unknown range as grey levels 0..255, and back.

Image operations are defined on bytes; a task's inputs are floats, scaled or standardized in a way
that the task does not state. The smallest and largest value of each channel over all training data
are taken for black and white. Where inputs were made from bytes by any affine map per channel, and
the data has both ends, this finds the very bytes again; otherwise the inputs are rounded to the
nearest of 256 levels.
"""

from __future__ import annotations

from typing import NamedTuple

import tensorflow as tf

from pgdl_measures.base import Subject


class ValueRange(NamedTuple):
    """The values of black and white, per channel."""

    low: tf.Tensor  # [c] float32
    high: tf.Tensor  # [c] float32


def value_range(inputs: tf.Tensor) -> ValueRange:
    """The range of the training inputs [examples, h, w, c]."""
    axes = list(range(inputs.shape.rank - 1))
    return ValueRange(tf.reduce_min(inputs, axes), tf.reduce_max(inputs, axes))


def training_range(subject: Subject) -> ValueRange:
    """The range of a subject's training inputs, computed once."""
    return subject.share("value_range", lambda: value_range(subject.data.inputs))


def to_levels(inputs: tf.Tensor, values: ValueRange) -> tf.Tensor:
    """Inputs [n, h, w, c] as uint8; a channel of a single value is 0."""
    span = values.high - values.low
    low, scale = _spread(inputs, values.low, tf.math.divide_no_nan(255.0, span))
    return tf.cast(tf.clip_by_value(tf.round((inputs - low) * scale), 0.0, 255.0), tf.uint8)


def from_levels(images: tf.Tensor, values: ValueRange) -> tf.Tensor:
    """uint8 images [n, h, w, c] as inputs."""
    low, scale = _spread(images, values.low, (values.high - values.low) / 255.0)
    return tf.cast(images, tf.float32) * scale + low


def _spread(images: tf.Tensor, *per_channel: tf.Tensor) -> list[tf.Tensor]:
    """Values per channel as whole images, with which TensorFlow computes ten times as fast."""
    return [tf.broadcast_to(value, images.shape[1:]) for value in per_channel]
