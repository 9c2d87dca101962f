"""ContRE (Wu et al. 2021): how a network does on contrastive examples of its own training data.

The gap L(Z) - L(Z^s) (Section 4.4.4), the accuracy L(Z^s) and the Fisher ratio of the features of
Z^s (eq. 4), with RandAugment of N = 2, M = 20, or with any operations by name (Figures 3 and 4,
Table 1). All are oriented so that larger predicts a larger generalization gap: the accuracy and the
Fisher ratio, which are large for networks that generalize, are negated.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from pgdl_measures.accuracy import predict
from pgdl_measures.base import Subject
from pgdl_measures.contre.examples import Sampling, chosen_rows, contrastive_batches
from pgdl_measures.contre.fisher import fisher_ratio
from pgdl_measures.data import check_images
from pgdl_measures.errors import NotFiniteError
from pgdl_measures.network.compiled import Network
from pgdl_measures.options import split_words
from pgdl_measures.perturbations.operations import CHANNELS
from pgdl_measures.perturbations.value_range import training_range
from pgdl_measures.unperturbed import unperturbed

_FEATURE_BYTES = 1 << 28  # of features that are held at a time


def gap(
    subject: Subject,
    *,
    count: int = 2,
    magnitude: float = 20.0,
    operations: str | Sequence[str] | None = None,
    examples: int | None = None,
    seed: int = 0,
) -> float:
    """The accuracy on the originals less that on contrastive examples.

    `count` is N and `magnitude` M; `operations` (names, or a text of names and commas) takes these
    in this order in place of N drawn ones; `examples` uses a sample of the training data.
    """
    originals = Sampling(0, 0.0, None, examples, seed)
    contrast = Sampling(count, magnitude, _names(operations), examples, seed)
    return _accuracy(subject, originals) - _accuracy(subject, contrast)


def accuracy(
    subject: Subject,
    *,
    count: int = 2,
    magnitude: float = 20.0,
    operations: str | Sequence[str] | None = None,
    examples: int | None = None,
    seed: int = 0,
) -> float:
    """The accuracy on contrastive examples, negated. Options as of `gap`."""
    return -_accuracy(subject, Sampling(count, magnitude, _names(operations), examples, seed))


def fisher(
    subject: Subject,
    *,
    count: int = 2,
    magnitude: float = 20.0,
    operations: str | Sequence[str] | None = None,
    dimensions: int | None = 64,
    examples: int | None = None,
    seed: int = 0,
) -> float:
    """The Fisher ratio of the features of contrastive examples, negated; `count=0`: of originals.

    Features are what the last dense or convolutional layer takes, averaged over space where they
    are maps. Where the features of all examples take more than 256 MB, a sample is used.
    """
    check_images(subject.data.shape, CHANNELS)
    network = subject.network
    network.classifier()  # raises where there is none, before a graph is traced
    width = _features(network, subject.data.inputs[:1]).shape[1]
    chosen = len(subject.data) if examples is None else examples
    chosen = min(chosen, _FEATURE_BYTES // (4 * width))
    sampling = Sampling(count, magnitude, _names(operations), chosen, seed)

    def compute() -> float:
        features, labels = [], []
        for inputs, label in _batches(subject, sampling):
            features.append(_features(network, inputs))
            labels.append(label.numpy())
        found = np.concatenate(features)
        if np.isnan(found).any():
            raise NotFiniteError("the model's features are NaN for some inputs")
        return fisher_ratio(found, np.concatenate(labels), dimensions=dimensions)

    return -subject.share(("contre_fisher", dimensions, sampling), compute)


def _accuracy(subject: Subject, sampling: Sampling) -> float:
    check_images(subject.data.shape, CHANNELS)
    if sampling.is_identity:
        return float(unperturbed(subject).correct(chosen_rows(len(subject.data), sampling)).mean())

    def compute() -> float:
        correct = total = 0
        for inputs, labels in _batches(subject, sampling):
            hits = predict(subject.network, inputs).checked() == labels
            correct += int(tf.math.count_nonzero(hits))
            total += len(labels)
        return correct / total

    return subject.share(("contre_accuracy", sampling), compute)


def _batches(subject: Subject, sampling: Sampling) -> Iterator[tuple[tf.Tensor, tf.Tensor]]:
    return contrastive_batches(subject.data, training_range(subject), sampling)


def _features(network: Network, inputs: tf.Tensor) -> np.ndarray:
    """The features [n, d] of inputs."""
    return network.graph("contre_features", lambda: _build(network))(inputs).numpy()


def _build(network: Network) -> Any:
    @tf.function(input_signature=[tf.TensorSpec([None, *network.input_shape], tf.float32)])
    def forward(inputs: tf.Tensor) -> tf.Tensor:
        batch = network.forward_batch
        steps = -(-tf.shape(inputs)[0] // batch)
        found = tf.TensorArray(tf.float32, size=steps, infer_shape=False)
        for i in tf.range(steps):
            tf.autograph.experimental.set_loop_options(parallel_iterations=1)
            values = tf.cast(network.features(inputs[i * batch : (i + 1) * batch]), tf.float32)
            if values.shape.rank > 2:
                values = tf.reduce_mean(values, axis=list(range(1, values.shape.rank - 1)))
            found = found.write(i, values)
        return found.concat()

    return forward


def _names(operations: str | Sequence[str] | None) -> tuple[str, ...] | None:
    return None if operations is None else tuple(split_words(operations))
