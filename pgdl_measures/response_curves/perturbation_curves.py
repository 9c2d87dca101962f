"""Response curves of image perturbations (Schiff et al. 2021, Algorithm 1).

All magnitudes are measured on the same batches and with the same random draws, so that differences
along a curve are the network's and not the sample's; and since the draws depend on nothing but the
seed, all models of a task are shown the same images. No example is drawn twice: where there are
fewer than `batches` full batches, all of them are used. Perturbed inputs are kept for the next
model as far as memory allows, and magnitude 0 is looked up.

Noise and intensity are of any tensor: they can perturb x^(l), the output of layer l, whose range is
then that of its channels over the examples of the curve.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from pgdl_measures.accuracy import NAN_OUTPUTS, predict
from pgdl_measures.data import TrainingData, check_images
from pgdl_measures.errors import MeasureError, NotFiniteError
from pgdl_measures.network.compiled import Network
from pgdl_measures.perturbations.catalogue import Perturbation
from pgdl_measures.perturbations.mixup import draw_batches
from pgdl_measures.perturbations.value_range import ValueRange, value_range
from pgdl_measures.response_curves.curves import Curve, check_classes, check_magnitudes
from pgdl_measures.response_curves.perturbed import perturbed, perturbing
from pgdl_measures.unperturbed import Unperturbed

BATCHES = 40  # of 128: a tenth of the training data of the paper (Section 4.2)


def perturbation_curve(
    network: Network,
    data: TrainingData,
    values: ValueRange,
    perturbation: Perturbation,
    magnitudes: Sequence[float],
    *,
    layer: int = 0,
    batches: int = BATCHES,
    batch_size: int = 128,
    seed: int = 0,
    unperturbed: Unperturbed | None = None,
    skip: int = 0,
) -> Curve:
    """The response curve of a perturbation of x^(layer); `values` is the range of the inputs.

    The first `skip` batches are left out, of a curve at layer 0. `unperturbed` has predictions that
    other curves have needed.
    """
    check_magnitudes(magnitudes)
    order = _batches(data, batches, batch_size, seed, perturbation, layer)
    alphas = np.asarray(magnitudes, np.float32)
    correct = np.zeros((len(order) - skip, len(alphas)), np.int32)
    zero = alphas == 0
    if zero.any():
        unperturbed = unperturbed or Unperturbed(network, data)
        hits = [np.count_nonzero(unperturbed.correct(rows)) for rows in order[skip:].numpy()]
        correct[:, zero] = np.array(hits)[:, None]
    if not zero.all():
        every = np.broadcast_to(alphas[~zero, None, None], (np.sum(~zero), *order.shape))
        given = (network, data, values, perturbation, order, every, seed)
        found = _correct_at(layer, *given) if layer else _correct(*given, skip)
        correct[:, ~zero] = found
    return Curve(np.asarray(magnitudes, float), correct, np.full_like(correct, order.shape[1]))


def augmented_accuracy(
    network: Network,
    data: TrainingData,
    values: ValueRange,
    perturbation: Perturbation,
    *,
    layer: int = 0,
    batches: int = BATCHES,
    batch_size: int = 128,
    seed: int = 0,
) -> float:
    """The accuracy on images that are perturbed by magnitudes drawn uniformly from the range."""
    order = _batches(data, batches, batch_size, seed, perturbation, layer)
    rng = np.random.default_rng(seed)
    alphas = rng.uniform(perturbation.low, perturbation.high, (1, *order.shape)).astype(np.float32)
    given = (network, data, values, perturbation, order, alphas, seed)
    correct = _correct_at(layer, *given) if layer else _correct(*given)
    return float(correct.sum() / tf.size(order).numpy())


def drawn_examples(
    data: TrainingData, *, batches: int = BATCHES, batch_size: int = 128, seed: int = 0
) -> np.ndarray:
    """The examples that such a curve uses."""
    return _batches(data, batches, batch_size, seed).numpy().ravel()


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
            f"{perturbation.name} perturbs images only; the output of layer {layer} can be "
            "perturbed by noise or intensity"
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
    skip: int = 0,
) -> np.ndarray:
    """Correct predictions [batches, m] under magnitudes [m, batches, size], from `skip` on."""
    perturb = perturbing(perturbation, data.shape)
    predicted, found_nan = [], []
    for k in range(skip, len(order)):
        rows = order[k]
        for alphas in magnitudes[:, k]:

            def compute(alphas=alphas, rows=rows, k=k):  # type: ignore[no-untyped-def]
                return perturb(data.inputs, rows, *values, alphas, tf.constant([seed, k]))

            key = ("perturbed", perturbation, seed, k, len(rows), alphas.tobytes())
            found = predict(network, data.kept.get(key, compute))
            predicted.append(found.classes)
            found_nan.append(found.found_nan)
    if tf.reduce_any(tf.stack(found_nan)):
        raise NotFiniteError(f"{NAN_OUTPUTS} under {perturbation.name}")
    labels = tf.gather(data.labels, order[skip:])[:, None]  # [batches, 1, size]
    hits = tf.reshape(tf.stack(predicted), [len(labels), len(magnitudes), -1]) == labels
    return tf.math.count_nonzero(hits, axis=2, dtype=tf.int32).numpy()


def _correct_at(
    layer: int,
    network: Network,
    data: TrainingData,
    values: ValueRange,
    perturbation: Perturbation,
    order: tf.Tensor,
    magnitudes: np.ndarray,
    seed: int,
) -> np.ndarray:
    """The same where x^(layer) is perturbed, in one graph."""
    graph = network.graph(
        ("perturbation", perturbation.function, layer),
        lambda: _build(network, perturbation, layer),
    )
    values = layer_range(network, data, order, layer)
    every = tf.constant(magnitudes, tf.float32)
    correct, found_nan = graph(data.inputs, data.labels, *values, order, every, tf.constant(seed))
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
