"""The predictions of a network for the training examples as they are, computed when first needed.

A response curve at magnitude 0 is nothing else, whatever the perturbation and the layer.
"""

from __future__ import annotations

import numpy as np
import tensorflow as tf

from pgdl_measures.accuracy import predict
from pgdl_measures.base import Subject
from pgdl_measures.data import TrainingData
from pgdl_measures.network.compiled import Network

_UNKNOWN = -1


class Unperturbed:
    """The predicted classes of examples, each computed once."""

    def __init__(self, network: Network, data: TrainingData) -> None:
        self._network, self._data = network, data
        self._predicted = np.full(len(data), _UNKNOWN, np.int32)

    def predicted(self, examples: np.ndarray) -> np.ndarray:
        """The predicted classes [n] of examples [n]."""
        wanted = np.unique(examples)
        missing = wanted[self._predicted[wanted] == _UNKNOWN]
        if len(missing):
            rows = tf.constant(missing, tf.int32)
            found = predict(self._network, self._data.inputs, rows)
            self._predicted[missing] = found.checked().numpy()
        return self._predicted[examples]

    def correct(self, examples: np.ndarray) -> np.ndarray:
        """Whether the predictions of examples are their labels."""
        return self.predicted(examples) == self._data.labels.numpy()[examples]


def unperturbed(subject: Subject) -> Unperturbed:
    """The one of a subject, that all its measures share."""
    return subject.share("unperturbed", lambda: Unperturbed(subject.network, subject.data))
