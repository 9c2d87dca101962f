"""Perturbations of the output of a layer (Schiff et al. 2021, Algorithm 1).

Noise and intensity are of any tensor: they can perturb x^(l), the output of layer l, whose range is
then that of its channels over the examples of the curve.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import tensorflow as tf

from pgdl_measures.accuracy import NAN_OUTPUTS
from pgdl_measures.data import TrainingData
from pgdl_measures.errors import NotFiniteError
from pgdl_measures.network.compiled import Network
from pgdl_measures.perturbations.catalogue import Perturbation
from pgdl_measures.perturbations.value_range import ValueRange, value_range
from pgdl_measures.response_curves.perturbed import perturbed


def correct_at(
    layer: int,
    network: Network,
    data: TrainingData,
    perturbation: Perturbation,
    order: tf.Tensor,
    magnitudes: np.ndarray,
    seed: int,
) -> np.ndarray:
    """Correct predictions [batches, m] under magnitudes [m, batches, size] of x^(layer)."""
    graph = network.graph(
        ("perturbation", perturbation.function, layer),
        lambda: _build(network, perturbation, layer),
    )
    values = _layer_range(network, data, order, layer)
    alphas = tf.constant(magnitudes, tf.float32)
    correct, found_nan = graph(data.inputs, data.labels, *values, order, alphas, tf.constant(seed))
    if found_nan:
        raise NotFiniteError(f"{NAN_OUTPUTS} under {perturbation.name}")
    return correct.numpy()


def _build(network: Network, perturbation: Perturbation, layer: int) -> Any:
    entry = network.entry(layer)
    channel = tf.TensorSpec([network.layer_shape(layer)[-1]], tf.float32)

    @tf.function(
        input_signature=[
            tf.TensorSpec([None, *network.input_shape], tf.float32),
            tf.TensorSpec([None], tf.int32),
            channel,
            channel,
            tf.TensorSpec([None, None], tf.int32),
            tf.TensorSpec([None, None, None], tf.float32),
            tf.TensorSpec([], tf.int32),
        ]
    )
    def curve(
        inputs: tf.Tensor,
        labels: tf.Tensor,
        low: tf.Tensor,
        high: tf.Tensor,
        order: tf.Tensor,
        magnitudes: tf.Tensor,
        seed: tf.Tensor,
    ) -> tuple[tf.Tensor, tf.Tensor]:
        batches = tf.shape(order)[0]
        correct = tf.TensorArray(tf.int32, size=batches)
        found_nan = tf.constant(False)
        for k in tf.range(batches):
            tf.autograph.experimental.set_loop_options(parallel_iterations=1)
            images, label = tf.gather(inputs, order[k]), tf.gather(labels, order[k])
            images = tf.cast(network.run(images, 0, entry), tf.float32)

            rng = tf.stack([seed, k])

            def respond(
                alphas: tf.Tensor,
                images: tf.Tensor = images,
                label: tf.Tensor = label,
                rng: tf.Tensor = rng,
            ) -> tuple[tf.Tensor, tf.Tensor]:
                moved = perturbed(images, ValueRange(low, high), perturbation, alphas, rng)
                outputs = network.run(moved, entry)
                hits = tf.argmax(outputs, axis=-1, output_type=tf.int32) == label
                count = tf.math.count_nonzero(hits, dtype=tf.int32)
                return count, tf.reduce_any(tf.math.is_nan(outputs))

            counts, nan = tf.map_fn(
                respond,
                magnitudes[:, k],
                fn_output_signature=(tf.int32, tf.bool),
                parallel_iterations=1,
            )
            correct = correct.write(k, counts)
            found_nan |= tf.reduce_any(nan)
        return correct.stack(), found_nan

    return curve


def _layer_range(network: Network, data: TrainingData, order: tf.Tensor, layer: int) -> ValueRange:
    """The range of x^(layer) over the examples of these batches."""
    entry = network.entry(layer)

    def build() -> Any:
        @tf.function(input_signature=[tf.TensorSpec([None, *network.input_shape], tf.float32)])
        def ends(inputs: tf.Tensor) -> ValueRange:
            return value_range(tf.cast(network.run(inputs, 0, entry), tf.float32))

        return ends

    graph = network.graph(("layer_range", layer), build)
    found = [graph(tf.gather(data.inputs, batch)) for batch in order]
    lows, highs = (tf.stack(ends) for ends in zip(*found))
    return ValueRange(tf.reduce_min(lows, 0), tf.reduce_max(highs, 0))
