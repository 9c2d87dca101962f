"""A cache of what is computed from the training data alone, for the next model of the task.

Perturbed images and contrastive examples depend on the data and the random seed, not on the
network.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable

import tensorflow as tf


class TensorCache:
    """Tensors by key, up to `limit` bytes in all; what comes later is computed each time."""

    def __init__(self, limit: int) -> None:
        self._spare = limit
        self._tensors: dict[Hashable, tf.Tensor] = {}

    def get(self, key: Hashable, compute: Callable[[], tf.Tensor]) -> tf.Tensor:
        """The tensor of that key, which says all that `compute()` depends on besides the data."""
        if key in self._tensors:
            return self._tensors[key]
        tensor = compute()
        size = tensor.shape.num_elements() * tensor.dtype.size
        if size <= self._spare:
            self._spare -= size
            self._tensors[key] = tensor
        return tensor
