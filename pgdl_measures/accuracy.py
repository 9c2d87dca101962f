"""The accuracy of a network on its data, as it stands."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from pgdl_measures.data import TrainingData
from pgdl_measures.network import Network


def accuracy(network: Network, data: TrainingData) -> float:
    """The share of examples whose largest output is at their label."""
    graph = network.graph("accuracy", lambda: _build(network))
    return int(graph(data.inputs, data.labels)) / len(data)


def _build(network: Network) -> Any:
    @tf.function(
        input_signature=[
            tf.TensorSpec([None, *network.input_shape], tf.float32),
            tf.TensorSpec([None], tf.int32),
        ]
    )
    def correct(inputs: tf.Tensor, labels: tf.Tensor) -> tf.Tensor:
        hits = tf.constant(0)
        for start in tf.range(0, tf.shape(labels)[0], network.forward_batch):
            tf.autograph.experimental.set_loop_options(parallel_iterations=1)
            now = slice(start, start + network.forward_batch)
            predicted = tf.argmax(network.run(inputs[now]), axis=-1, output_type=tf.int32)
            hits += tf.math.count_nonzero(predicted == labels[now], dtype=tf.int32)
        return hits

    return correct
