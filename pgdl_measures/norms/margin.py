"""The output margin gamma: the 10th percentile of the margins (Dziugaite et al. 2020, C.6.2).

The margin of an example is f(x)[y] - max_{j != y} f(x)[j].

The scores f(x) are the logits: the outputs before a final softmax. All formulas use gamma squared,
so for a network that misclassifies more than a tenth of its training data, whose gamma is negative,
only its size counts.

The paper uses all examples. The default here is 5,000, drawn at random: a tenth of a pass over
CIFAR-10. The standard error is sqrt(0.1 x 0.9 / 5000) = 0.4 percentiles, so in 95 of 100 cases the
result lies between the 9.2th and the 10.8th percentile of all margins.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import tensorflow as tf

from pgdl_measures.base import Subject
from pgdl_measures.errors import MeasureError
from pgdl_measures.network.compiled import Network
from pgdl_measures.norms.sampling import sample

PERCENTILE = 10


def margin(subject: Subject, examples: int, seed: int) -> float:
    """Gamma of that many training examples."""

    def compute() -> float:
        values = margins(subject, *sample(subject.data, examples, seed))
        found = float(np.percentile(values, PERCENTILE))
        if not found or not np.isfinite(found):
            raise MeasureError(
                f"the {PERCENTILE}th percentile of the output margins is {found}; "
                "a measure over the margin is not defined"
            )
        return found

    return subject.share(("margin", examples, seed), compute)


def margins(subject: Subject, inputs: tf.Tensor, labels: tf.Tensor) -> np.ndarray:
    """The margin of each example."""
    network = subject.network
    graph = network.graph("margins", lambda: _build(network))
    return graph(inputs, labels).numpy()


def label_margins(scores: tf.Tensor, labels: tf.Tensor) -> tf.Tensor:
    """The margins [n] of scores [n, classes] at these labels; part of a graph."""
    own = tf.one_hot(labels, tf.shape(scores)[-1], on_value=True, off_value=False)
    right = tf.reduce_sum(tf.where(own, scores, 0.0), axis=-1)
    return right - tf.reduce_max(tf.where(own, scores.dtype.min, scores), axis=-1)


def _build(network: Network) -> Any:
    @tf.function(
        input_signature=[
            tf.TensorSpec([None, *network.input_shape], tf.float32),
            tf.TensorSpec([None], tf.int32),
        ]
    )
    def margins(inputs: tf.Tensor, labels: tf.Tensor) -> tf.Tensor:
        count = tf.shape(labels)[0]
        steps = -(-count // network.forward_batch)
        found = tf.TensorArray(tf.float32, steps, element_shape=[None], infer_shape=False)
        for i in tf.range(steps):
            tf.autograph.experimental.set_loop_options(parallel_iterations=1)
            now = slice(i * network.forward_batch, (i + 1) * network.forward_batch)
            found = found.write(i, label_margins(network.logits(inputs[now]), labels[now]))
        return found.concat()

    return margins
