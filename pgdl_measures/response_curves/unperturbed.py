"""The predictions of a network for the training examples as they are, computed when first needed.

A response curve at magnitude 0 is nothing else, whatever the perturbation and the layer.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import tensorflow as tf

from pgdl_measures.accuracy import NAN_OUTPUTS
from pgdl_measures.data import TrainingData
from pgdl_measures.errors import MeasureError
from pgdl_measures.network.compiled import Network

_UNKNOWN = -1


class Unperturbed:
    """The predicted classes of examples, each computed once."""

    def __init__(self, network: Network, data: TrainingData) -> None:
        self._network, self._data = network, data
        self._predicted = np.full(len(data), _UNKNOWN, np.int32)

    def predicted(self, examples: np.ndarray) -> np.ndarray:
        """The predicted classes [n] of examples [n]."""
        wanted = np.unique(examples)
        missing = wanted[self._predicted[wanted] == _UNKNOWN]
        if len(missing):
            graph = self._network.graph("unperturbed", lambda: _build(self._network))
            found, found_nan = graph(self._data.inputs, tf.constant(missing, tf.int32))
            if found_nan:
                raise MeasureError(NAN_OUTPUTS)
            self._predicted[missing] = found.numpy()
        return self._predicted[examples]


def _build(network: Network) -> Any:
    @tf.function(
        input_signature=[
            tf.TensorSpec([None, *network.input_shape], tf.float32),
            tf.TensorSpec([None], tf.int32),
        ]
    )
    def predict(inputs: tf.Tensor, rows: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        steps = -(-tf.shape(rows)[0] // network.forward_batch)
        found = tf.TensorArray(tf.int32, size=steps, infer_shape=False)
        found_nan = tf.constant(False)
        for i in tf.range(steps):
            tf.autograph.experimental.set_loop_options(parallel_iterations=1)
            now = slice(i * network.forward_batch, (i + 1) * network.forward_batch)
            outputs = network.run(tf.gather(inputs, rows[now]))
            found = found.write(i, tf.argmax(outputs, axis=-1, output_type=tf.int32))
            found_nan |= tf.reduce_any(tf.math.is_nan(outputs))
        return found.concat(), found_nan

    return predict
