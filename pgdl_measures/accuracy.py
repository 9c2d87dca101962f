"""The accuracy of a network on its data, as it stands."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from pgdl_measures.data import TrainingData
from pgdl_measures.errors import MeasureError
from pgdl_measures.network.compiled import Network

NAN_OUTPUTS = "the model's outputs are NaN for some inputs"


def accuracy(network: Network, data: TrainingData) -> float:
    """The share of examples whose largest output is at their label."""
    return share_correct(network, data.inputs, data.labels)


def share_correct(network: Network, inputs: tf.Tensor, labels: tf.Tensor) -> float:
    """The same of inputs [n, ...] and labels [n]."""
    graph = network.graph("accuracy", lambda: _build(network))
    hits, found_nan = graph(inputs, labels)
    if found_nan:
        raise MeasureError(NAN_OUTPUTS)
    return int(hits) / len(labels)


def _build(network: Network) -> Any:
    @tf.function(
        input_signature=[
            tf.TensorSpec([None, *network.input_shape], tf.float32),
            tf.TensorSpec([None], tf.int32),
        ]
    )
    def correct(inputs: tf.Tensor, labels: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        hits, found_nan = tf.constant(0), tf.constant(False)
        for start in tf.range(0, tf.shape(labels)[0], network.forward_batch):
            tf.autograph.experimental.set_loop_options(parallel_iterations=1)
            now = slice(start, start + network.forward_batch)
            outputs = network.run(inputs[now])
            predicted = tf.argmax(outputs, axis=-1, output_type=tf.int32)
            hits += tf.math.count_nonzero(predicted == labels[now], dtype=tf.int32)
            found_nan |= tf.reduce_any(tf.math.is_nan(outputs))
        return hits, found_nan

    return correct
