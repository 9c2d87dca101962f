"""What measures of one subject have in common: computed once, its time counted for each."""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable
from typing import TypeVar

import numpy as np
import tensorflow as tf

from pgdl_measures.base import Subject
from pgdl_measures.data import TrainingData

T = TypeVar("T")


def shared(subject: Subject, key: Hashable, compute: Callable[[], T]) -> T:
    """What `compute` gives; where it is found done, its seconds count as reused."""
    fresh = False

    def timed() -> tuple[T, float]:
        nonlocal fresh
        fresh = True
        start, reused = time.perf_counter(), subject.reused_seconds
        value = compute()
        # What it reused itself is part of what it would have cost.
        return value, time.perf_counter() - start + subject.reused_seconds - reused

    value, seconds = subject.share(key, timed)
    if not fresh:
        subject.reused_seconds += seconds
    return value


def sample(data: TrainingData, examples: int, seed: int) -> tuple[tf.Tensor, tf.Tensor]:
    """Inputs and labels of that many examples, drawn uniformly; of all, if there are no more."""
    if examples >= len(data):
        return data.inputs, data.labels
    chosen = np.random.default_rng(seed).choice(len(data), examples, replace=False)
    return tf.gather(data.inputs, chosen), tf.gather(data.labels, chosen)
