"""Response curves of image perturbations (Schiff et al. 2021, Algorithm 1).

All magnitudes are measured on the same batches and with the same random draws, so that differences
along a curve are the network's and not the sample's; and since the draws depend on nothing but the
seed, all models of a task are shown the same images. No example is drawn twice: where there are
fewer than `batches` full batches, all of them are used. Perturbed inputs are kept for the next
model as far as memory allows, and magnitude 0 is looked up.

Perturbations of the output of a layer are in `response_curves.perturbed_layers`.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence

import numpy as np
import tensorflow as tf

from pgdl_measures.accuracy import NAN_OUTPUTS, predict
from pgdl_measures.data import TrainingData, check_images
from pgdl_measures.errors import MeasureError, NotFiniteError
from pgdl_measures.network.compiled import Network
from pgdl_measures.perturbations.catalogue import Perturbation
from pgdl_measures.perturbations.mixup import draw_batches
from pgdl_measures.perturbations.value_range import ValueRange
from pgdl_measures.response_curves.checks import check_classes, check_magnitudes
from pgdl_measures.response_curves.curves import Curve
from pgdl_measures.response_curves.perturbed import perturbing
from pgdl_measures.response_curves.perturbed_layers import correct_at
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
        hits = unperturbed.correct(order[skip:].numpy())  # [batches, size]
        correct[:, zero] = hits.sum(axis=1)[:, None]
    if not zero.all():
        same = np.broadcast_to(alphas[~zero, None, None], (np.sum(~zero), *order.shape))
        correct[:, ~zero] = _correct(
            network, data, values, perturbation, order, same, seed, layer=layer, skip=skip
        )
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
    correct = _correct(network, data, values, perturbation, order, alphas, seed, layer=layer)
    return float(correct.sum() / tf.size(order).numpy())


def drawn_examples(data: TrainingData, *, batches: int = BATCHES, seed: int = 0) -> np.ndarray:
    """The examples that such a curve uses, in batches of 128."""
    return _batches(data, batches, 128, seed).numpy().ravel()


def available_batches(examples: int, batch_size: int = 128) -> int:
    """The full batches that there are, of which no more are drawn."""
    return examples // min(batch_size, examples)


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
    *,
    layer: int,
    skip: int = 0,
) -> np.ndarray:
    """Correct predictions [batches, m] under magnitudes [m, batches, size], from `skip` on."""
    if layer:
        return correct_at(layer, network, data, perturbation, order, magnitudes, seed)
    perturb = perturbing(perturbation, data.shape)
    predicted, found_nan = [], []
    for k in range(skip, len(order)):
        rows, rng = order[k], tf.constant([seed, k])
        for alphas in magnitudes[:, k]:
            compute = functools.partial(perturb, data.inputs, rows, *values, alphas, rng)
            key = ("perturbed", perturbation, seed, k, len(rows), alphas.tobytes())
            found = predict(network, data.cache.get(key, compute))
            predicted.append(found.classes)
            found_nan.append(found.found_nan)
    if tf.reduce_any(tf.stack(found_nan)):
        raise NotFiniteError(f"{NAN_OUTPUTS} under {perturbation.name}")
    labels = tf.gather(data.labels, order[skip:])[:, None]  # [batches, 1, size]
    hits = tf.reshape(tf.stack(predicted), [len(labels), len(magnitudes), -1]) == labels
    return tf.math.count_nonzero(hits, axis=2, dtype=tf.int32).numpy()
