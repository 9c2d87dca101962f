"""Perturbed inputs (Schiff et al. 2021, Algorithm 1): T_alpha of images, or of any tensor.

Inputs of an unknown range are handed to the perturbation with black at 0 and white at 1, which are
the smallest and largest value of each channel over the training data, and mapped back after it. The
intensity alone is of the inputs as they are: T_alpha(x) = alpha x (Section 3).
"""

from __future__ import annotations

import functools
from typing import Any

import tensorflow as tf

from pgdl_measures.perturbations.catalogue import Perturbation
from pgdl_measures.perturbations.value_range import ValueRange


def perturbed(
    images: tf.Tensor,
    values: ValueRange,
    perturbation: Perturbation,
    magnitudes: tf.Tensor,
    rng: tf.Tensor,
) -> tf.Tensor:
    """Inputs [n, h, w, c] of the range `values` under magnitudes [n]; `rng` is a random seed."""
    magnitudes = tf.reshape(magnitudes, [-1] + [1] * (len(images.shape) - 1))
    if perturbation.of_values:
        return tf.ensure_shape(perturbation.function(images, magnitudes, rng), images.shape)
    span = values.high - values.low
    units = tf.math.divide_no_nan(images - values.low, span)
    moved = perturbation.function(units, magnitudes, rng)
    return tf.ensure_shape(moved, images.shape) * span + values.low


@functools.lru_cache(maxsize=32)
def perturbing(perturbation: Perturbation, shape: tuple[int, ...]) -> Any:
    """The graph of `perturbed` for images of one shape, which does not depend on the network.

    It takes all training inputs and the rows of those to perturb.
    """
    channel = tf.TensorSpec([shape[-1]], tf.float32)

    @tf.function(
        input_signature=[
            tf.TensorSpec([None, *shape], tf.float32),
            tf.TensorSpec([None], tf.int32),
            channel,
            channel,
            tf.TensorSpec([None], tf.float32),
            tf.TensorSpec([2], tf.int32),
        ]
    )
    def move(
        inputs: tf.Tensor,
        rows: tf.Tensor,
        low: tf.Tensor,
        high: tf.Tensor,
        magnitudes: tf.Tensor,
        rng: tf.Tensor,
    ) -> tf.Tensor:
        some = tf.gather(inputs, rows)
        return perturbed(some, ValueRange(low, high), perturbation, magnitudes, rng)

    return move.get_concrete_function()
