"""RandAugment (Cubuk et al. 2020) on image batches: each image draws its own N operations.

They are drawn with replacement, and a magnitude M of 30 sets the value of each: see `operations`.
All draws are made first, so that an image's do not depend on the batch that it is in.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import tensorflow as tf

from pgdl_measures.errors import MeasureError, UnknownNameError
from pgdl_measures.perturbations import geometric
from pgdl_measures.perturbations.operations import (
    MAX_MAGNITUDE,
    OPERATIONS,
    RANDAUGMENT,
    Changing,
    Moving,
)


class Draws(NamedTuple):
    """What is done to each of n images, in N steps."""

    operation: tf.Tensor  # [n, N] int32: the operation's number
    value: tf.Tensor  # [n, N] float32
    place: tf.Tensor  # [n, N, 2] float32: uniform in [0, 1), for what else is random


def draw(
    examples: int,
    *,
    count: int,
    magnitude: float,
    seed: int,
    operations: Sequence[str] | None = None,
) -> Draws:
    """Draws for so many images; with `operations`, these in this order for every image."""
    if not 0 <= magnitude <= MAX_MAGNITUDE:
        raise MeasureError(f"the magnitude is {magnitude}; expected 0 to {MAX_MAGNITUDE}")
    if count < 0:
        raise MeasureError(f"the number of operations is {count}; expected 0 or more")
    if operations is None:
        number = tf.random.stateless_uniform(
            [examples, count], [seed, 0], 0, len(RANDAUGMENT), tf.int32, alg="philox"
        )
    else:
        numbers = tf.constant([_number(name) for name in operations], tf.int32)
        number = tf.tile(numbers[tf.newaxis], [examples, 1])
    uniform = tf.random.stateless_uniform([*number.shape, 3], [seed, 1], alg="philox")
    values = [operation.value(magnitude) for operation in OPERATIONS.values()]
    signed = [isinstance(op, Moving) and op.signed for op in OPERATIONS.values()]
    value = tf.gather(np.asarray(values, np.float32), number)
    negated = tf.gather(signed, number) & (uniform[..., 0] < 0.5)
    return Draws(number, tf.where(negated, -value, value), uniform[..., 1:])


def randaugment(images: tf.Tensor, draws: Draws) -> tf.Tensor:
    """uint8 images [n, h, w, c] after their operations, one step after the other."""
    for step in tf.range(tf.shape(draws.operation)[1]):
        now = Draws(draws.operation[:, step], draws.value[:, step], draws.place[:, step])
        images = _apply(images, now)
    return images


@tf.autograph.experimental.do_not_convert  # has no loop; traced four times as fast
def _apply(images: tf.Tensor, draws: Draws) -> tf.Tensor:
    """One step: images that drew the same operation go through it together, and all that are moved
    go through one resampling."""
    height, width = images.shape[1:3]
    partition = tf.dynamic_partition(
        tf.range(tf.shape(images)[0]), draws.operation, len(OPERATIONS)
    )
    rows, changed, moved_rows, matrices = [], [], [], []
    for operation, row in zip(OPERATIONS.values(), partition):
        value, place = tf.gather(draws.value, row), tf.gather(draws.place, row)
        if isinstance(operation, Moving):
            moved_rows.append(row)
            matrices.append(operation.matrices(value, place, height, width))
        elif isinstance(operation, Changing):
            rows.append(row)
            changed.append(operation.change(tf.gather(images, row), value, place))
    rows.append(tf.concat(moved_rows, axis=0))
    changed.append(geometric.affine(tf.gather(images, rows[-1]), tf.concat(matrices, axis=0)))
    return tf.ensure_shape(tf.dynamic_stitch(rows, changed), images.shape)


def _number(name: str) -> int:
    if name not in OPERATIONS:
        raise UnknownNameError("operation", name, OPERATIONS)
    return list(OPERATIONS).index(name)
