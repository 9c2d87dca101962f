"""The baselines of the starting kit: parameter count, distance from initialization, Jacobian norm.

Jacobian norm: the kit's example complexity (P. Foret, July 2020: "the norm of the jacobian wrt to
activations"). Its mean is over the first 528 examples, here over a sample of 512; there a layer is
one that the kit has wrapped, here a layer of the papers (see `network.blocks`). Of the other
two only the names were published.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import tensorflow as tf

from pgdl_measures.base import Subject
from pgdl_measures.competition.features import layer_inputs
from pgdl_measures.network.compiled import Network
from pgdl_measures.norms.initial import initial_weights
from pgdl_measures.norms.sampling import sample


def parameter_count(subject: Subject) -> float:
    """The number of trainable weights."""
    return float(sum(math.prod(weight.shape) for weight in subject.model.trainable_weights))


def distance_from_init(subject: Subject) -> float:
    """The Euclidean distance of all trainable weights from their initial values, as they are:
    nothing is fused or divided, unlike in `fro_dist`."""
    model = subject.model
    total = 0.0
    for weight, now, start in zip(model.weights, model.get_weights(), initial_weights(model)):
        if weight.trainable:
            total += float(np.sum(np.square(np.asarray(now, np.float64) - start)))
    return math.sqrt(total)


def jacobian_norm(subject: Subject, *, examples: int = 512, seed: int = 0) -> float:
    """The mean square of d outputs / d input of a layer, averaged over examples, then layers."""
    network, entries = subject.network, layer_inputs(subject)
    network.check_mixable()
    graph = network.graph("jacobian_norm", lambda: _build(network, entries))
    inputs, labels = sample(subject.data, examples, seed)
    return float(graph(inputs)) / (len(labels) * len(entries))


def _build(network: Network, entries: list[int]) -> Any:
    stops = [*entries[1:], None]
    sizes = [math.prod(network.step_shape(entry)) for entry in entries]

    @tf.function(input_signature=[tf.TensorSpec([None, *network.input_shape], tf.float32)])
    def mean_squares(inputs: tf.Tensor) -> tf.Tensor:
        """The sum over examples and layers of the mean square over outputs and features."""
        total = tf.constant(0.0)
        for start in tf.range(0, tf.shape(inputs)[0], network.forward_batch):
            tf.autograph.experimental.set_loop_options(parallel_iterations=1)
            batch = inputs[start : start + network.forward_batch]
            x, sources = network.run(batch, 0, entries[0]), []
            with tf.GradientTape(persistent=True) as tape:
                for entry, stop in zip(entries, stops):
                    tape.watch(x)
                    sources.append(x)
                    x = network.run(x, entry, stop)
            # Rows of the Jacobian one by one: the memory does not grow with the outputs.
            for output in tf.range(network.outputs):
                tf.autograph.experimental.set_loop_options(parallel_iterations=1)
                row = tf.broadcast_to(
                    tf.one_hot(output, network.outputs, dtype=x.dtype), tf.shape(x)
                )
                for gradient, size in zip(tape.gradient(x, sources, row), sizes):
                    squares = tf.cast(gradient, tf.float32) ** 2
                    total += tf.reduce_sum(squares) / (size * network.outputs)
        return total

    return mean_squares
