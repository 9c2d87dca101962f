"""Mixup margin and augment margin: distances from the decision boundary (first place).

The margin of a perturbed example at a hidden layer h is (f_y - f_o) / ||grad_h (f_y - f_o)||, to
first order its distance from the boundary between its label y and the best other class o; it is
negative for a misclassified one. Margins are divided by the square root of the features' total
spread: the mean of their variances, the 5 % smallest and largest left out. The measure is minus
their mean. h is the output of the first layer with a kernel. Read: complexitymeasures.py
(complexityMargin) and computecomplexityfinal.py of github.com/parthnatekar/pgdl at b8ed0ea.

Perturbations: mixup is the mean of two examples of one class; augmentation is a random mirror
image, a contrast of 0.7 to 1 and, for every second image, an enlarged middle of 0.85 to 1 of the
size. Ours differs in that an example is never mixed with itself (unless alone in its class), and
partners are drawn among all 500 examples instead of batches of 50.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.stats
import tensorflow as tf

from pgdl_measures.base import Subject
from pgdl_measures.competition.augmentation import CHANNELS
from pgdl_measures.competition.features import first_output
from pgdl_measures.data import check_images
from pgdl_measures.network.compiled import Network
from pgdl_measures.norms.margin import label_margins
from pgdl_measures.norms.sampling import sample

_LEAST_NORM = 1e-7
_TRIMMED = 0.05


def mixup_margin(subject: Subject, *, examples: int = 500, seed: int = 0) -> float:
    """Minus the mean margin of the means of two examples of one class."""
    subject.network.check_mixable()
    inputs, labels = sample(subject.data, examples, seed)
    partners = class_partners(labels.numpy(), seed)
    return -mean_margin(subject, (inputs + tf.gather(inputs, partners)) / 2, labels)


def augment_margin(subject: Subject, *, examples: int = 500, seed: int = 0) -> float:
    """Minus the mean margin of augmented images."""
    check_images(subject.data.shape, CHANNELS)
    inputs, labels = sample(subject.data, examples, seed)
    return -mean_margin(subject, augmented(inputs, seed), labels)


def mean_margin(subject: Subject, inputs: tf.Tensor, labels: tf.Tensor) -> float:
    """The mean normalized margin of these examples at the first layer's output."""
    network = subject.network
    step = first_output(subject, "filters", "units")
    graph = network.graph("perturbed_margin", lambda: _build(network, step))
    margins, sums, squares = [], np.zeros(()), np.zeros(())
    for start in range(0, len(labels), network.forward_batch):
        now = slice(start, start + network.forward_batch)
        found, hidden = (tensor.numpy() for tensor in graph(inputs[now], labels[now]))
        hidden = hidden.astype(np.float64)
        margins.append(found)
        sums, squares = sums + hidden.sum(axis=0), squares + np.square(hidden).sum(axis=0)
    variances = np.maximum(squares / len(labels) - np.square(sums / len(labels)), 0)
    spread = np.sqrt(scipy.stats.trim_mean(variances, _TRIMMED))
    return float(np.concatenate(margins).mean() / (spread + _LEAST_NORM))


def class_partners(labels: np.ndarray, seed: int) -> np.ndarray:
    """For each example another of its class, each chosen once: a random cycle per class."""
    rng = np.random.default_rng(seed)
    partners = np.empty(len(labels), np.int64)
    for label in np.unique(labels):
        members = rng.permutation(np.flatnonzero(labels == label))
        partners[members] = np.roll(members, 1)
    return partners


def augmented(images: tf.Tensor, seed: int) -> tf.Tensor:
    """Images [n, h, w, c], each with its own mirroring, contrast and zoom."""
    count, height, width = images.shape[:3]
    u = tf.random.stateless_uniform([4, count], [seed, 0], alg="philox")
    mirrored = tf.where(u[0][:, None, None, None] < 0.5, images[:, :, ::-1], images)
    contrast = (0.7 + 0.3 * u[1])[:, None, None, None]
    mean = tf.reduce_mean(mirrored, axis=[1, 2], keepdims=True)
    faded = mean + contrast * (mirrored - mean)
    scale = tf.where(u[2] < 0.5, 1.0, 0.85 + 0.15 * u[3])
    corner = (1 - scale) / 2
    boxes = tf.stack([corner, corner, 1 - corner, 1 - corner], axis=1)
    return tf.image.crop_and_resize(faded, boxes, tf.range(count), [height, width])


def _build(network: Network, step: int | None) -> Any:
    @tf.function(
        input_signature=[
            tf.TensorSpec([None, *network.input_shape], tf.float32),
            tf.TensorSpec([None], tf.int32),
        ]
    )
    def compute(inputs: tf.Tensor, labels: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        hidden = network.logits(inputs) if step is None else network.run(inputs, 0, step)
        with tf.GradientTape() as tape:
            tape.watch(hidden)
            scores = hidden if step is None else network.logits(hidden, step)
            ahead = label_margins(scores, labels)
        count = tf.shape(labels)[0]
        gradient = tf.cast(tape.gradient(ahead, hidden), tf.float32)
        slope = tf.norm(tf.reshape(gradient, [count, -1]), axis=1)
        single = tf.cast(hidden, tf.float32)
        return ahead / (slope + _LEAST_NORM), tf.reshape(single, [count, -1])

    return compute
