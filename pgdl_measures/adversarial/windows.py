"""Which translations of which images a network misclassifies, evaluated when first needed.

A misclassified window has the score l_exc(f, x) = max_i l_i(f, x) - l_y(f, x), which is 0 or more
(Werpachowski et al. 2019, Section 5.1); any other has the score `CORRECT`. The logits l are the
outputs before a final softmax: probabilities would order windows differently.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import tensorflow as tf

from pgdl_measures.adversarial.translations import Translations
from pgdl_measures.errors import MeasureError
from pgdl_measures.network.compiled import Network

CORRECT = -1.0


class Windows:
    """Scores of tau_v(x_i) for all examples i and translations v within 3 eps.

    `request` says what is needed, `evaluate` computes what of it is not known yet. Four bytes are
    kept per example and translation: 34 MB for 50,000 examples at eps = 2.
    """

    def __init__(
        self,
        network: Network,
        images: tf.Tensor,
        labels: tf.Tensor,
        translations: Translations,
    ) -> None:
        self.eps = translations.eps
        self.evaluated = 0  # forward passes so far
        self._network, self._images, self._labels = network, images, labels
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
        """Puts examples [n] under shifts [n, ..., 2] - only those `wanted` - on the list."""
        index = self._index(examples, shifts)
        if wanted is not None:
            index = tuple(np.broadcast_to(part, wanted.shape)[wanted] for part in index)
        self._pending[index] = True

    def evaluate(self) -> None:
        """Evaluates what was requested and is not known."""
        index = np.nonzero(self._pending & np.isnan(self._scores))
        self._pending[:] = False
        examples, *position = index
        if not len(examples):
            return
        graph = self._network.graph(
            ("adversarial_windows", self._translations, tuple(self._images.shape[1:])),
            lambda: _build(self._network, self._images.shape[1:], self._translations),
        )
        shifts = np.stack(position, axis=1) - 3 * self.eps
        scores = graph(
            self._images,
            self._labels,
            tf.constant(examples, tf.int32),
            tf.constant(shifts, tf.int32),
        ).numpy()
        if np.isnan(scores).any():
            raise MeasureError("the model's outputs are NaN for some inputs")
        self._scores[index] = scores
        self.evaluated += len(scores)

    def _index(self, examples: np.ndarray, shifts: np.ndarray) -> tuple[np.ndarray, ...]:
        examples = examples.reshape(-1, *[1] * (shifts.ndim - 2))
        return examples, shifts[..., 0] + 3 * self.eps, shifts[..., 1] + 3 * self.eps


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
        images: tf.Tensor, labels: tf.Tensor, examples: tf.Tensor, shifts: tf.Tensor
    ) -> tf.Tensor:
        steps = -(-tf.size(examples) // network.forward_batch)
        found = tf.TensorArray(tf.float32, steps, infer_shape=False, element_shape=[None])
        for i in tf.range(steps):
            tf.autograph.experimental.set_loop_options(parallel_iterations=1)
            now = slice(i * network.forward_batch, (i + 1) * network.forward_batch)
            windows = translations.apply(images, examples[now], shifts[now])
            logits = network.logits(windows)
            label = tf.gather(labels, examples[now])
            wrong = tf.argmax(logits, axis=-1, output_type=tf.int32) != label
            excess = tf.reduce_max(logits, axis=-1) - tf.gather(logits, label, batch_dims=1)
            found = found.write(i, tf.where(wrong | tf.math.is_nan(excess), excess, CORRECT))
        return found.concat()

    return scores
