"""Which translations of which images a network misclassifies. Evaluated lazily.

A misclassified window has the score l_exc(f, x) = max_i l_i(f, x) - l_y(f, x), which is 0 or more
(Werpachowski et al. 2019, Section 5.1); a correctly classified one has the score `CORRECT`. The
logits l are the outputs before a final softmax: probabilities would order windows differently.
"""

from __future__ import annotations

import math
from typing import Any, Protocol

import numpy as np
import tensorflow as tf

from pgdl_measures.accuracy import NAN_OUTPUTS
from pgdl_measures.adversarial.translations import Translations
from pgdl_measures.errors import NotFiniteError
from pgdl_measures.network.compiled import Network

CORRECT = -1.0
_BATCH_ELEMENTS = 1 << 24  # numbers of the canvases in a batch, 64 MB, whatever the network allows


class Images(Protocol):
    """Images [m, h, w, c], converted to float32 one batch at a time. A NumPy array will do, also a
    memory-mapped one that is larger than the memory."""

    @property
    def shape(self) -> tuple[int, ...]: ...

    def __getitem__(self, rows: Any) -> np.ndarray: ...


class Windows:
    """Scores of tau_v(x_i) for all examples i and translations v within 3 eps.

    `request` marks scores as needed; `evaluate` computes those that are not known yet. It keeps
    five bytes per example and translation: 42 MB for 50,000 examples at eps = 2.
    """

    def __init__(
        self,
        network: Network,
        images: Images | tf.Tensor,
        labels: np.ndarray | tf.Tensor,
        translations: Translations,
    ) -> None:
        self.eps = translations.eps
        self.evaluated = 0  # forward passes so far
        self._network = network
        self._images: Images = np.asarray(images) if tf.is_tensor(images) else images
        self._labels = np.asarray(labels, np.int32)
        self._translations = translations
        side = translations.side
        self._scores = np.full((len(labels), side, side), np.nan, np.float32)
        self._pending = np.zeros(self._scores.shape, bool)

    def __len__(self) -> int:
        return len(self._scores)

    def scores(self, examples: np.ndarray, shifts: np.ndarray) -> np.ndarray:
        """Scores [n, ...] of examples [n] under shifts [n, ..., 2]; NaN where not evaluated."""
        return self._scores[self._index(examples, shifts)]

    def request(
        self, examples: np.ndarray, shifts: np.ndarray, wanted: np.ndarray | None = None
    ) -> None:
        """Marks examples [n] under shifts [n, ..., 2] as needed; with `wanted`, only those."""
        index = self._index(examples, shifts)
        if wanted is not None:
            index = tuple(np.broadcast_to(part, wanted.shape)[wanted] for part in index)
        self._pending[index] = True

    def evaluate(self) -> None:
        """Evaluates what was requested and is not known yet."""
        index = np.nonzero(self._pending & np.isnan(self._scores))
        self._pending[:] = False
        examples, *position = index
        if not len(examples):
            return
        shifts = np.stack(position, axis=1) - 3 * self.eps
        size = batch_size(self._network, self._translations)
        batches = [slice(i, i + size) for i in range(0, len(examples), size)]
        scores = np.concatenate([self._batch(examples[now], shifts[now]) for now in batches])
        if np.isnan(scores).any():
            raise NotFiniteError(NAN_OUTPUTS)
        self._scores[index] = scores
        self.evaluated += len(scores)

    def _batch(self, examples: np.ndarray, shifts: np.ndarray) -> np.ndarray:
        shape = tuple(self._images.shape[1:])
        graph = self._network.graph(
            ("adversarial_windows", self._translations, shape),
            lambda: _build(self._network, shape, self._translations),
        )
        needed, rows = np.unique(examples, return_inverse=True)
        return graph(
            tf.constant(self._images[needed], tf.float32),
            tf.constant(self._labels[examples]),
            tf.constant(rows.reshape(-1), tf.int32),
            tf.constant(shifts, tf.int32),
        ).numpy()

    def _index(self, examples: np.ndarray, shifts: np.ndarray) -> tuple[np.ndarray, ...]:
        examples = examples.reshape(-1, *[1] * (shifts.ndim - 2))
        return examples, shifts[..., 0] + 3 * self.eps, shifts[..., 1] + 3 * self.eps


def batch_size(network: Network, translations: Translations) -> int:
    """Windows in a forward pass: a network with narrow layers may see thousands of images at a
    time, but their canvases would fill the memory."""
    canvas = math.prod(translations.canvas) * network.input_shape[-1]
    return min(network.forward_batch, max(1, _BATCH_ELEMENTS // canvas))


def _build(network: Network, image_shape: tuple[int, ...], translations: Translations) -> Any:
    @tf.function(
        input_signature=[
            tf.TensorSpec([None, *image_shape], tf.float32),
            tf.TensorSpec([None], tf.int32),
            tf.TensorSpec([None], tf.int32),
            tf.TensorSpec([None, 2], tf.int32),
        ]
    )
    def scores(
        images: tf.Tensor, labels: tf.Tensor, rows: tf.Tensor, shifts: tf.Tensor
    ) -> tf.Tensor:
        logits = network.logits(translations.apply(images, rows, shifts))
        wrong = tf.argmax(logits, axis=-1, output_type=tf.int32) != labels
        excess = tf.reduce_max(logits, axis=-1) - tf.gather(logits, labels, batch_dims=1)
        return tf.where(wrong | tf.math.is_nan(excess), excess, CORRECT)

    return scores
