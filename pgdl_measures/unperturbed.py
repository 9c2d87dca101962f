"""The predictions of a network for the training examples as they are, computed when first needed.

A response curve at magnitude 0 is nothing else, whatever the perturbation and the layer.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
import tensorflow as tf

from pgdl_measures.accuracy import predict
from pgdl_measures.base import Subject
from pgdl_measures.data import TrainingData
from pgdl_measures.network.compiled import Network

_UNKNOWN = -1


class Unperturbed:
    """The predicted classes of examples, each computed once."""

    def __init__(
        self,
        network: Network,
        data: TrainingData,
        reused: Callable[[float], None] = lambda seconds: None,
    ) -> None:
        """`reused` is called with the seconds that cached predictions had taken."""
        self._network, self._data, self._reused = network, data, reused
        self._seconds = 0.0  # of all predictions so far
        self._predicted = np.full(len(data), _UNKNOWN, np.int32)

    def predicted(self, examples: np.ndarray) -> np.ndarray:
        """The predicted classes of examples, in an array of any shape."""
        requested = np.unique(examples)
        missing = requested[self._predicted[requested] == _UNKNOWN]
        if len(missing) < len(requested):
            known = np.count_nonzero(self._predicted != _UNKNOWN)
            self._reused(self._seconds * (len(requested) - len(missing)) / known)
        if len(missing):
            start = time.perf_counter()
            rows = tf.constant(missing, tf.int32)
            found = predict(self._network, self._data.inputs, rows)
            self._predicted[missing] = found.checked().numpy()
            self._seconds += time.perf_counter() - start
        return self._predicted[examples]

    def correct(self, examples: np.ndarray) -> np.ndarray:
        """Whether the predictions of examples are their labels."""
        return self.predicted(examples) == self._data.labels.numpy()[examples]


def unperturbed(subject: Subject) -> Unperturbed:
    """The predictions that a subject's measures share."""

    def reused(seconds: float) -> None:
        subject.reused_seconds += seconds

    return subject.share("unperturbed", lambda: Unperturbed(subject.network, subject.data, reused))
