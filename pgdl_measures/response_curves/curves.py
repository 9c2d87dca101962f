"""Response curves of mixup in one compiled graph (Schiff et al. 2021, Algorithms 1 and 3).

Pairs are drawn once and every magnitude is measured on the same pairs: the differences along a
curve are then the network's and not the sample's. (Algorithm 1 shuffles anew for each magnitude;
`reshuffle` does that.) All batches and magnitudes run inside the graph.

Interpolation commutes with affine maps: A((1-a) x1 + a x2) + b = (1-a)(A x1 + b) + a (A x2 + b).
So the affine steps that follow the perturbed layer - a convolution up to its activation, batch
normalization, flatten, dense, average pooling - run once for both ends of a pair instead of once
per magnitude, and the interpolation is done after them. An example is the end of many pairs: where
memory allows, these steps run once for it. At magnitude 0 a pair is its first end: all curves of a
model share its unperturbed prediction.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import tensorflow as tf

from pgdl_measures.accuracy import NAN_OUTPUTS
from pgdl_measures.data import TrainingData
from pgdl_measures.errors import NotFiniteError
from pgdl_measures.network.compiled import Network
from pgdl_measures.perturbations.mixup import Pairs, draw_batches, draw_pairs
from pgdl_measures.response_curves import statistics
from pgdl_measures.response_curves.checks import check_mixup, check_pairs
from pgdl_measures.unperturbed import Unperturbed


@dataclass(frozen=True)
class Curve:
    """Counts of a response curve; its accuracy is `correct` over `pairs`, summed over batches."""

    magnitudes: np.ndarray  # [magnitudes]
    correct: np.ndarray  # [batches, magnitudes]
    pairs: np.ndarray  # [batches, magnitudes]: of examples, or examples where none are paired

    @property
    def accuracy(self) -> np.ndarray:
        """The share of pairs that keep the label of their first end, per magnitude."""
        return self.correct.sum(axis=0) / self.pairs.sum(axis=0)

    def statistic(self, function: statistics.Statistic) -> float:
        """A statistic of this curve."""
        return float(function(self.magnitudes, self.accuracy))

    def standard_error(self, function: statistics.Statistic) -> float:
        """The standard error of that statistic, from the spread over batches."""
        return statistics.standard_error(function, self.magnitudes, self.correct, self.pairs)


def mixup_curve(
    network: Network,
    data: TrainingData,
    magnitudes: Sequence[float],
    *,
    pairing: str,
    layer: int,
    batches: int = 180,
    batch_size: int = 128,
    seed: int = 0,
    reshuffle: bool = False,
    hoist: bool = True,
    forward_batch: int | None = None,
    unperturbed: Unperturbed | None = None,
    skip: int = 0,
) -> Curve:
    """The response curve of intra- or inter-class mixup of x^(layer).

    The first `skip` batches are left out. `batch_size` is Algorithm 1's and decides which examples
    can be paired; `forward_batch` is how many pairs the network sees at a time (default: what suits
    it) and decides nothing but speed and memory (not at magnitude 0). `hoist=False` interpolates at
    the layer itself, pair by pair and at magnitude 0 too, for comparison. `unperturbed` has
    predictions that other curves have needed.
    """
    check_mixup(data, magnitudes, pairing, batches, batch_size)
    network.check_mixable(layer)
    entry = network.entry(layer)
    meet = entry + network.affine_steps(entry) if hoist else entry
    once = hoist and _fits(network, data, meet, batches * batch_size)
    graph = network.graph(("mixup_curve", entry, meet, once), lambda: _build(network, meet, once))
    unperturbed = unperturbed or Unperturbed(network, data)

    def run(alphas: np.ndarray, salt: int) -> tuple[np.ndarray, np.ndarray]:
        drawn = _draw(data.labels, *map(tf.constant, (batches, batch_size, [seed, salt])), pairing)
        pairs = Pairs(*(part.numpy() for part in drawn))
        pairs = Pairs(*(part[pairs.batch >= skip] for part in pairs))
        count = np.bincount(pairs.batch, minlength=batches)
        correct = np.zeros((batches, len(alphas)), np.int32)
        zero = (alphas == 0) & hoist
        if not len(pairs.first):
            return correct, np.tile(count[:, None], len(alphas))
        if zero.any():
            hits = unperturbed.correct(pairs.first)
            correct[:, zero] = np.bincount(pairs.batch, hits, minlength=batches)[:, None]
        if not zero.all():
            rows, ends = np.unique(np.stack([pairs.first, pairs.second]), return_inverse=True)
            first, second = ends.reshape(2, -1).astype(np.int32)
            correct[:, ~zero], found_nan = graph(
                data.inputs,
                tf.gather(data.labels, pairs.first),
                tf.constant(rows),
                *map(tf.constant, (first, second, pairs.batch)),
                tf.constant(alphas[~zero], tf.float32),
                tf.constant(batches),
                tf.constant(forward_batch or network.forward_batch),
            )
            if found_nan:
                raise NotFiniteError(NAN_OUTPUTS)
        return correct, np.tile(count[:, None], len(alphas))

    alphas = np.asarray(magnitudes, float)
    if reshuffle:
        # The shuffle belongs to the magnitude, whichever others are measured beside it.
        columns = [run(np.array([alpha]), salt=round(alpha * 1e6)) for alpha in alphas]
        correct, pairs = (np.concatenate(parts, axis=1) for parts in zip(*columns))
    else:
        correct, pairs = run(alphas, salt=0)
    if not skip:
        check_pairs(pairs, data, pairing)
    return Curve(alphas, correct[skip:], pairs[skip:])


@tf.function(reduce_retracing=True)
def _draw(
    labels: tf.Tensor, batches: tf.Tensor, batch_size: tf.Tensor, seed: tf.Tensor, pairing: str
) -> Pairs:
    """The pairs of all batches: they depend on labels and seed alone."""
    order = draw_batches(tf.shape(labels)[0], batches, batch_size, seed)
    return draw_pairs(labels, order, pairing)


def _fits(network: Network, data: TrainingData, meet: int, draws: int) -> bool:
    """Whether what enters the step `meet` fits into the memory for all examples that are drawn."""
    numbers = min(len(data), draws) * math.prod(network.step_shape(meet))
    return 2 * 4 * numbers <= data.spare_bytes  # in parts, and then as one


def _build(network: Network, meet: int, once: bool) -> Any:
    scalar = tf.TensorSpec([], tf.int32)
    numbers = tf.TensorSpec([None], tf.int32)

    @tf.function(
        input_signature=[
            tf.TensorSpec([None, *network.input_shape], tf.float32),
            *(numbers, numbers, numbers, numbers, numbers),
            tf.TensorSpec([None], tf.float32),
            scalar,
            scalar,
        ]
    )
    def curve(
        inputs: tf.Tensor,
        labels: tf.Tensor,  # of the first end of each pair
        rows: tf.Tensor,  # the examples that are ends
        first: tf.Tensor,  # which of them is the first end of each pair
        second: tf.Tensor,
        batch: tf.Tensor,
        magnitudes: tf.Tensor,
        batches: tf.Tensor,
        forward_batch: tf.Tensor,
    ) -> tuple[tf.Tensor, tf.Tensor]:
        def reached(some: tf.Tensor) -> tf.Tensor:
            """What these examples are at the step `meet`."""
            return _float(network.run(tf.gather(inputs, some), 0, meet))

        reached_once = tf.zeros([0])
        if once:
            parts = -(-tf.shape(rows)[0] // forward_batch)
            found = tf.TensorArray(tf.float32, size=parts, infer_shape=False)
            for i in tf.range(parts):
                tf.autograph.experimental.set_loop_options(parallel_iterations=1)
                now = slice(i * forward_batch, (i + 1) * forward_batch)
                found = found.write(i, reached(rows[now]))
            reached_once = tf.ensure_shape(found.concat(), [None, *network.step_shape(meet)])
        correct = tf.zeros([batches, tf.size(magnitudes)], tf.int32)
        found_nan = tf.constant(False)
        for i in tf.range(-(-tf.shape(first)[0] // forward_batch)):
            tf.autograph.experimental.set_loop_options(parallel_iterations=1)
            now = slice(i * forward_batch, (i + 1) * forward_batch)
            label = labels[now]
            if once:
                start = tf.gather(reached_once, first[now])
                way = tf.gather(reached_once, second[now]) - start
            else:
                start = reached(tf.gather(rows, first[now]))
                way = reached(tf.gather(rows, second[now])) - start

            def respond(
                alpha: tf.Tensor,
                start: tf.Tensor = start,
                way: tf.Tensor = way,
                label: tf.Tensor = label,
            ) -> tuple[tf.Tensor, tf.Tensor]:
                outputs = network.run(start + alpha * way, meet)
                predicted = tf.argmax(outputs, axis=-1, output_type=tf.int32)
                return predicted == label, tf.reduce_any(tf.math.is_nan(outputs))

            hits, nan = tf.map_fn(
                respond, magnitudes, fn_output_signature=(tf.bool, tf.bool), parallel_iterations=1
            )
            hits = tf.cast(tf.transpose(hits), tf.int32)  # [pairs of this step, magnitudes]
            correct += tf.math.unsorted_segment_sum(hits, batch[now], batches)
            found_nan |= tf.reduce_any(nan)
        return correct, found_nan

    return curve


def _float(x: tf.Tensor) -> tf.Tensor:
    """What a layer of half precision computes, to be mixed in single precision."""
    return tf.cast(x, tf.float32)
