"""Response curves of image perturbations in one compiled graph (Schiff et al. 2021, Algorithm 1).

All magnitudes are measured on the same batches and with the same random draws, so that differences
along a curve are the network's and not the sample's; and since the draws depend on nothing but the
seed, all models of a task are shown the same images. No example is drawn twice: where there are
fewer than `batches` full batches, all of them are used.

Inputs of an unknown range are handed to the perturbation with black at 0 and white at 1, which are
the smallest and largest value of each channel over the training data, and mapped back after it. The
intensity alone is of the inputs as they are: T_alpha(x) = alpha x (Section 3). Noise and intensity
are of any tensor: they can perturb x^(l), the output of layer l, whose range is then that of its
channels over the examples of the curve.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from pgdl_measures.accuracy import NAN_OUTPUTS, share_correct
from pgdl_measures.data import TrainingData, check_images
from pgdl_measures.errors import MeasureError
from pgdl_measures.network.compiled import Network
from pgdl_measures.perturbations.catalogue import Perturbation
from pgdl_measures.perturbations.mixup import draw_batches
from pgdl_measures.perturbations.value_range import ValueRange, value_range
from pgdl_measures.response_curves.curves import Curve, check_classes, check_magnitudes


def perturbation_curve(
    network: Network,
    data: TrainingData,
    values: ValueRange,
    perturbation: Perturbation,
    magnitudes: Sequence[float],
    *,
    layer: int = 0,
    batches: int = 40,
    batch_size: int = 128,
    seed: int = 0,
) -> Curve:
    """The response curve of a perturbation of x^(layer); `values` is the range of the inputs."""
    check_magnitudes(magnitudes)
    order = _batches(data, batches, batch_size, seed, perturbation, layer)
    alphas = np.asarray(magnitudes, np.float32)[:, None, None]
    correct = _correct(network, data, values, perturbation, order, alphas, seed, layer)
    return Curve(np.asarray(magnitudes, float), correct, np.full_like(correct, order.shape[1]))


def augmented_accuracy(
    network: Network,
    data: TrainingData,
    values: ValueRange,
    perturbation: Perturbation,
    *,
    layer: int = 0,
    batches: int = 40,
    batch_size: int = 128,
    seed: int = 0,
) -> float:
    """The accuracy on images that are perturbed by magnitudes drawn uniformly from the range."""
    order = _batches(data, batches, batch_size, seed, perturbation, layer)
    rng = np.random.default_rng(seed)
    alphas = rng.uniform(perturbation.low, perturbation.high, (1, *order.shape))
    correct = _correct(network, data, values, perturbation, order, alphas, seed, layer)
    return float(correct.sum() / tf.size(order).numpy())


def unperturbed_accuracy(
    network: Network,
    data: TrainingData,
    *,
    batches: int = 40,
    batch_size: int = 128,
    seed: int = 0,
) -> float:
    """The accuracy on the images that curves of these settings are of, as they are."""
    order = tf.reshape(_batches(data, batches, batch_size, seed), [-1])
    return share_correct(network, tf.gather(data.inputs, order), tf.gather(data.labels, order))


def perturbed(
    images: tf.Tensor,
    values: ValueRange,
    perturbation: Perturbation,
    magnitudes: tf.Tensor,
    rng: tf.Tensor,
) -> tf.Tensor:
    """Inputs [n, h, w, c] of the range `values` under magnitudes [n]."""
    magnitudes = tf.reshape(magnitudes, [-1] + [1] * (len(images.shape) - 1))
    if perturbation.of_values:
        return tf.ensure_shape(perturbation.function(images, magnitudes, rng), images.shape)
    span = values.high - values.low
    units = tf.math.divide_no_nan(images - values.low, span)
    moved = perturbation.function(units, magnitudes, rng)
    return tf.ensure_shape(moved, images.shape) * span + values.low


def available_batches(examples: int, batch_size: int = 128) -> int:
    """The full batches that there are, of which no more are drawn."""
    return examples // min(batch_size, examples)


def layer_range(network: Network, data: TrainingData, order: tf.Tensor, layer: int) -> ValueRange:
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


def _batches(
    data: TrainingData,
    batches: int,
    batch_size: int,
    seed: int,
    perturbation: Perturbation | None = None,
    layer: int = 0,
) -> tf.Tensor:
    """Indices of the batches [batches, size]."""
    if layer == 0:
        check_images(data.shape)
    elif perturbation is not None and not perturbation.of_tensors:
        raise MeasureError(
            f"{perturbation.name} is of images; of what layer {layer} computes there are noise and "
            "intensity"
        )
    check_classes(data)
    if batches < 1 or batch_size < 1:
        raise MeasureError(f"{batches} batches of {batch_size} have no example in them")
    size = min(batch_size, len(data))
    drawn = min(batches, available_batches(len(data), batch_size))
    return draw_batches(len(data), drawn, size, tf.constant([seed, 0]))


def _correct(
    network: Network,
    data: TrainingData,
    values: ValueRange,
    perturbation: Perturbation,
    order: tf.Tensor,
    magnitudes: np.ndarray,
    seed: int,
    layer: int,
) -> np.ndarray:
    """Correct predictions [batches, m] of magnitudes that broadcast to [m, batches, size]."""
    graph = network.graph(
        ("perturbation", perturbation.function, layer),
        lambda: _build(network, perturbation, layer),
    )
    if layer:
        values = layer_range(network, data, order, layer)
    every = np.broadcast_to(magnitudes, (len(magnitudes), *order.shape))
    correct, found_nan = graph(
        data.inputs, data.labels, *values, order, tf.constant(every, tf.float32), tf.constant(seed)
    )
    if found_nan:
        raise MeasureError(f"{NAN_OUTPUTS} under {perturbation.name}")
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

            def respond(alphas, images=images, label=label, k=k):  # type: ignore[no-untyped-def]
                rng = tf.stack([seed, k])
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
