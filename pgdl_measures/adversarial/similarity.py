"""How similar models trained on images are to models trained on windows of upsampled images.

Werpachowski et al. 2019, Section 5.3.3: if both kinds of model misclassify the same images, and
give them the same wrong labels, then a test of the second kind is also evidence about the first.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import tensorflow as tf

from pgdl_measures.adversarial.translations import Translations, translations
from pgdl_measures.adversarial.windows import Images, batch_size
from pgdl_measures.network.compiled import Network


@dataclass(frozen=True)
class Similarity:
    """The paper's five numbers, over all pairs of one model of each kind."""

    jaccard: float  # J_b: mean Jaccard index of the sets of misclassified examples
    jaccard_if_independent: float  # J_bi: the same, if the two models erred independently
    both_wrong: float  # M_b: median number of examples that both misclassify
    same_label: float  # L: mean share of those to which both give the same label
    same_labels: float  # M_l: median number of examples with the same wrong label


def similarity(labels: np.ndarray, original: np.ndarray, other: np.ndarray) -> Similarity:
    """Compares the predictions [models, m] of two kinds of model on examples with labels [m].

    Pairs without errors have no Jaccard index, and pairs without a common error have no share. The
    means leave them out, and are NaN if no pair is left.
    """
    pairs = [(a, b) for a in original for b in other]
    wrong = [(a != labels, b != labels) for a, b in pairs]
    both = np.array([(x & y).sum() for x, y in wrong])
    either = np.array([(x | y).sum() for x, y in wrong])
    same = np.array([((a == b) & (a != labels)).sum() for a, b in pairs])
    errors = np.array([(x.mean(), y.mean()) for x, y in wrong])
    chance = errors.prod(axis=1)
    return Similarity(
        _mean_ratio(both, either),
        _mean_ratio(chance, errors.sum(axis=1) - chance),
        float(np.median(both)),
        _mean_ratio(same, both),
        float(np.median(same)),
    )


def predict(
    network: Network, images: Images | tf.Tensor, *, eps: int = 2, padding: str = "upsample"
) -> np.ndarray:
    """The labels [m] that a network predicts for the central windows of images."""
    moved = translations(images.shape[1:], network.input_shape, eps, padding)
    shape = tuple(images.shape[1:])
    graph = network.graph(
        ("adversarial_labels", moved, shape), lambda: _build(network, shape, moved)
    )
    size = batch_size(network, moved)
    batches = [images[i : i + size] for i in range(0, images.shape[0], size)]
    return np.concatenate([graph(tf.constant(batch, tf.float32)).numpy() for batch in batches])


def _build(network: Network, shape: tuple[int, ...], moved: Translations) -> Any:
    @tf.function(input_signature=[tf.TensorSpec([None, *shape], tf.float32)])
    def labels(images: tf.Tensor) -> tf.Tensor:
        rows = tf.range(tf.shape(images)[0])
        windows = moved.apply(images, rows, tf.zeros([tf.size(rows), 2], tf.int32))
        return tf.argmax(network.run(windows), axis=-1, output_type=tf.int32)

    return labels


def _mean_ratio(numerators: np.ndarray, denominators: np.ndarray) -> float:
    known = denominators > 0
    return float((numerators[known] / denominators[known]).mean()) if known.any() else float("nan")
