"""The rescaled protocol: translations lose no pixels (Werpachowski et al. 2019, Section 5.3).

Images are upsampled bilinearly, so that a window of their original size can move 3 eps pixels each
way. The training set is one random window of each training image, the test set the central window
of each test image. In training the paper's networks see random crops of three quarters of a side;
ours take images of one size, and see them shifted as far, with mirrored borders.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import tensorflow as tf

from ingestion.datasets.arrays import Data, Split
from pgdl_measures.adversarial.translations import Translations, translations

_BATCH = 500


def rescaled(data: Data, *, eps: int = 2, seed: int = 0) -> Data:
    """The same data in windows of upsampled images; the size of images stays."""
    moves = translations(data.shape, data.shape, eps)
    rng = np.random.default_rng((seed, 2))
    random = rng.integers(-3 * eps, 3 * eps + 1, size=(len(data.train), 2))
    return replace(
        data,
        train=_windows(data.train, moves, random),
        test=_windows(data.test, moves, np.zeros((len(data.test), 2), int)),
    )


def random_crops(images: tf.Tensor, seed: tf.Tensor, padding: str = "REFLECT") -> tf.Tensor:
    """Images [n, h, w, c], each shifted by up to an eighth of a side each way."""
    _, height, width, _ = images.shape
    down, right = height // 8, width // 8
    padded = tf.pad(images, [[0, 0], [down, down], [right, right], [0, 0]], mode=padding)
    limits = tf.constant([down, right])
    draws = tf.random.stateless_uniform([tf.shape(images)[0], 2], seed, alg="philox")
    shifts = tf.cast(draws * tf.cast(2 * limits + 1, tf.float32), tf.int32) - limits
    moves = Translations(0, (height, width), (height + 2 * down, width + 2 * right), resizes=False)
    return moves.apply(padded, tf.range(tf.shape(images)[0]), shifts)


def _windows(split: Split, moves: Translations, shifts: np.ndarray) -> Split:
    parts = []
    for i in range(0, len(split), _BATCH):
        images = tf.constant(split.images[i : i + _BATCH])
        shift = tf.constant(shifts[i : i + _BATCH], tf.int32)
        parts.append(moves.apply(images, tf.range(len(images)), shift).numpy())
    return Split(np.concatenate(parts), split.labels)
