"""The examples that a measure uses - a uniform sample, or all in random order - and errors on them.

Datasets come unshuffled, often sorted by class. Any part of the sample is again a uniform sample.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import tensorflow as tf

from pgdl_measures.data import TrainingData
from pgdl_measures.errors import MeasureError
from pgdl_measures.network.compiled import Network
from pgdl_measures.norms.fused import FusedNetwork


def sample(data: TrainingData, examples: int, seed: int) -> tuple[tf.Tensor, tf.Tensor]:
    """Inputs and labels of that many examples, or of all if there are fewer, in random order."""
    if examples < 1:
        raise MeasureError(f"{examples} examples were asked for; expected at least one")
    count = min(examples, len(data))
    chosen = np.random.default_rng(seed).choice(len(data), count, replace=False)
    return tf.gather(data.inputs, chosen), tf.gather(data.labels, chosen)


def count_wrong(
    fused: FusedNetwork,
    network: Network,
    inputs: tf.Tensor,
    labels: tf.Tensor,
    kernels: Sequence[tf.Tensor],
    biases: Sequence[tf.Tensor],
) -> tf.Tensor:
    """How many of the examples the network with these weights gets wrong; part of a graph."""
    wrong = tf.constant(0)
    for start in tf.range(0, tf.shape(labels)[0], network.forward_batch):
        tf.autograph.experimental.set_loop_options(parallel_iterations=1)
        now = slice(start, start + network.forward_batch)
        outputs = fused.run(inputs[now], kernels, biases)
        predicted = tf.argmax(outputs, axis=-1, output_type=tf.int32)
        wrong += tf.math.count_nonzero(predicted != labels[now], dtype=tf.int32)
    return wrong
