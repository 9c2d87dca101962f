"""The predictions of a network for inputs, and its accuracy on unperturbed data."""

from __future__ import annotations

from typing import Any, NamedTuple

import tensorflow as tf

from pgdl_measures.data import TrainingData
from pgdl_measures.errors import NotFiniteError
from pgdl_measures.network.compiled import Network

NAN_OUTPUTS = "the model's outputs are NaN for some inputs"


class Predictions(NamedTuple):
    """The classes whose outputs are largest."""

    classes: tf.Tensor  # [n] int32
    found_nan: tf.Tensor  # whether an output is NaN

    def checked(self) -> tf.Tensor:
        """The classes; raises where an output is NaN."""
        if self.found_nan:
            raise NotFiniteError(NAN_OUTPUTS)
        return self.classes


def predict(network: Network, inputs: tf.Tensor, rows: tf.Tensor | None = None) -> Predictions:
    """The predictions for inputs [n, ...], or for these rows of them."""
    if rows is None:
        rows = tf.range(tf.shape(inputs)[0])
    graph = network.graph("predict", lambda: _build(network))
    return Predictions(*graph(inputs, rows))


def accuracy(network: Network, data: TrainingData) -> float:
    """The share of examples whose largest output is at their label."""
    return share_correct(network, data.inputs, data.labels)


def share_correct(network: Network, inputs: tf.Tensor, labels: tf.Tensor) -> float:
    """The same of inputs [n, ...] and labels [n]."""
    hits = predict(network, inputs).checked() == labels
    return int(tf.math.count_nonzero(hits)) / len(labels)


def _build(network: Network) -> Any:
    @tf.function(
        input_signature=[
            tf.TensorSpec([None, *network.input_shape], tf.float32),
            tf.TensorSpec([None], tf.int32),
        ]
    )
    def compute(inputs: tf.Tensor, rows: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        count = tf.shape(rows)[0]
        passes = -(-count // network.forward_batch)
        size = -(-count // tf.maximum(passes, 1))  # all passes of one size
        found = tf.TensorArray(tf.int32, size=passes, infer_shape=False)
        found_nan = tf.constant(False)
        for i in tf.range(passes):
            tf.autograph.experimental.set_loop_options(parallel_iterations=1)
            outputs = network.run(tf.gather(inputs, rows[i * size : (i + 1) * size]))
            found = found.write(i, tf.argmax(outputs, axis=-1, output_type=tf.int32))
            found_nan |= tf.reduce_any(tf.math.is_nan(outputs))
        return found.concat(), found_nan

    return compute
