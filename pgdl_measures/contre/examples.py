"""Contrastive examples Z^s = R(Z) of the training data, batch by batch (Wu et al. 2021, Sec. 3.2).

R is RandAugment with N operations of magnitude M for each image, or the operations that are named.
An example's operations depend on the seed and on its place in the data alone, so that all models of
a task are shown the same contrastive examples, whatever the batches. The graph that makes them
does not depend on the network: it is traced once per shape of image, and the examples are kept for
the next model as far as memory allows.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import tensorflow as tf

from pgdl_measures.data import TrainingData
from pgdl_measures.errors import MeasureError
from pgdl_measures.perturbations.randaugment import Draws, draw, randaugment
from pgdl_measures.perturbations.value_range import ValueRange, from_levels, to_levels

BATCH_ELEMENTS = 1 << 22  # four megabytes of images: more would be no faster


@dataclass(frozen=True)
class Sampling:
    """The contrastive sampling strategy R, and of how many examples."""

    count: int  # N
    magnitude: float  # M
    operations: tuple[str, ...] | None  # these in this order, in place of N drawn ones
    examples: int | None  # a uniform sample of the training data; None is all
    seed: int

    @property
    def is_identity(self) -> bool:
        """Whether R(Z) = Z."""
        return not self.operations if self.operations is not None else self.count == 0


def contrastive_batches(
    data: TrainingData, values: ValueRange, sampling: Sampling
) -> Iterator[tuple[tf.Tensor, tf.Tensor]]:
    """Contrastive inputs [n, h, w, c] and their labels [n], over all chosen examples.

    `values` is the range of all training inputs.
    """
    rows = chosen_rows(len(data), sampling)
    draws = draw(
        len(rows),
        count=sampling.count,
        magnitude=sampling.magnitude,
        operations=sampling.operations,
        seed=sampling.seed,
    )
    size = max(1, BATCH_ELEMENTS // math.prod(data.shape))
    for start in range(0, len(rows), size):
        now = slice(start, start + size)
        inputs, labels = tf.gather(data.inputs, rows[now]), tf.gather(data.labels, rows[now])
        if not sampling.is_identity:
            key = ("contrastive", replace(sampling, examples=len(rows)), start, size)
            compute = functools.partial(_contrast, inputs, values, draws, now)
            inputs = data.cache.get(key, compute)
        yield inputs, labels


def chosen_rows(total: int, sampling: Sampling) -> np.ndarray:
    """The examples that are sampled, of so many."""
    if sampling.examples is None or sampling.examples >= total:
        return np.arange(total)
    if sampling.examples < 1:
        raise MeasureError(f"{sampling.examples} examples were asked for; expected at least one")
    chosen = np.random.default_rng(sampling.seed).choice(total, sampling.examples, replace=False)
    return np.sort(chosen)


def _contrast(inputs: tf.Tensor, values: ValueRange, draws: Draws, now: slice) -> tf.Tensor:
    """The contrastive inputs of these examples, whose draws are those of the slice `now`."""
    return _graph(tuple(inputs.shape[1:]))(inputs, *values, *(column[now] for column in draws))


@functools.lru_cache(maxsize=8)
def _graph(shape: tuple[int, ...]) -> Any:
    channels = tf.TensorSpec([shape[-1]], tf.float32)

    @tf.function(
        input_signature=[
            tf.TensorSpec([None, *shape], tf.float32),
            channels,
            channels,
            tf.TensorSpec([None, None], tf.int32),
            tf.TensorSpec([None, None], tf.float32),
            tf.TensorSpec([None, None, 2], tf.float32),
        ]
    )
    def contrast(
        inputs: tf.Tensor, low: tf.Tensor, high: tf.Tensor, *draws: tf.Tensor
    ) -> tf.Tensor:
        values = ValueRange(low, high)
        return from_levels(randaugment(to_levels(inputs, values), Draws(*draws)), values)

    return contrast.get_concrete_function()
