"""The largest weight perturbation that a network tolerates (Dziugaite et al. 2020, C.6.6).

sigma is the largest number with E_u[L(f_{w+u})] <= L(f_w) + 0.1, where L is the share of errors and
u ~ N(0, sigma^2 I); the magnitude-aware sigma' has u_i ~ N(0, sigma'^2 |w_i|^2 + epsilon^2). The
paper prints E[L(f_{w+u}) <= 0.1] and means networks without training errors; counting the errors
that perturbation adds, as the authors' code does, gives every network a sigma. That code passes the
variance where `torch.normal` takes a standard deviation, so that u ~ N(0, sigma^4 I): the published
numbers are of `noise="variance"`, and the default, `noise="deviation"`, is the paper's text.

It is found by bisection in (0, 2) in 15 steps with 10 draws of u: the authors' constants. (They
stop within 0.01 of the target, which leaves many models with the same few dyadic fractions; we go
on.) u covers fused kernels and biases, where a layer has one. The same draws, scaled, are used at
every step, so that the errors vary with sigma and not with luck. The search is one graph whose
weights are arguments: there is nothing to restore.

By default L is of 250 examples, drawn at random, where the paper takes all: 15 x 10 passes over
50,000 examples are 7.5 million forward passes, and the competition leaves 300 s for a model. An
error rate of 0.1 then has a standard error of sqrt(0.1 x 0.9 / 250) = 0.019. That of sigma itself
was 3.5 % over 30 seeds (sigma': 3.7 %) for one network of three dense layers, trained on Gaussian
clusters; with all of their 10,000 examples it was still some 2.8 % (2.6 %), over 8 seeds. A NiN
with batch norm and three strides, trained on 2,000 CIFAR-10 images, has more, over 8 seeds: 5.3 %
(sigma': 4.6 %) by default, 4.0 % (5.2 %) with 1,000 examples, 4.5 % (5.4 %) with 40 draws; with
both, at 16 times the cost, sigma' has 3.1 % over 5 seeds. Values nearer than some 5 % are not told
apart by default.
"""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from pgdl_measures.accuracy import share_correct
from pgdl_measures.base import Subject
from pgdl_measures.errors import MeasureError, UnknownNameError
from pgdl_measures.network.compiled import Network
from pgdl_measures.norms.fused import FusedNetwork, fused_network
from pgdl_measures.norms.sampling import count_wrong, sample
from pgdl_measures.options import WORDS

EPSILON = 1e-3
_LARGEST = 2.0
_TARGET = 0.1
_MARGIN = 1e-3  # more than sums of errors are rounded by


def perturbation_size(
    subject: Subject,
    magnitude_aware: bool,
    examples: int,
    draws: int,
    depth: int,
    seed: int,
    noise: str = "deviation",
) -> float:
    """sigma, or sigma' if `magnitude_aware`, on that many examples and draws of u."""
    if noise not in WORDS["noise"]:
        raise UnknownNameError("noise", noise, WORDS["noise"])
    if min(examples, draws, depth) < 1:
        raise MeasureError(
            f"the search has {examples} examples, {draws} draws and {depth} steps; "
            "expected at least one of each"
        )

    def search() -> float:
        fused, network = fused_network(subject), subject.network
        graph = network.graph(
            ("perturbation_size", magnitude_aware, noise),
            lambda: _build(fused, network, magnitude_aware, noise),
        )
        inputs, labels = sample(subject.data, examples, seed)
        share_correct(network, inputs, labels)  # raises where outputs are NaN
        numbers = (tf.constant(n, tf.int32) for n in (draws, depth, seed))
        return float(graph(inputs, labels, *fused.tensors(), *numbers))

    key = ("perturbation_size", magnitude_aware, noise, examples, draws, depth, seed)
    return subject.share(key, search)


def _build(fused: FusedNetwork, network: Network, magnitude_aware: bool, noise: str) -> Any:
    there = [True] * len(fused.kernels) + fused.has_bias

    def perturbed(
        weights: list[tf.Tensor], sigma: tf.Tensor, draw: tf.Tensor, seed: tf.Tensor
    ) -> list[tf.Tensor]:
        result = []
        for number, (w, exists) in enumerate(zip(weights, there)):
            if not exists:
                result.append(w)
                continue
            stream = tf.stack([seed, draw * len(weights) + number])
            draws_of_one = tf.random.stateless_normal(w.shape, stream, alg="philox")
            variance = sigma**2 * w**2 + EPSILON**2 if magnitude_aware else sigma**2
            size = variance if noise == "variance" else tf.sqrt(variance)
            result.append(w + size * draws_of_one)
        return result

    def errors(
        inputs: tf.Tensor, labels: tf.Tensor, kernels: list[tf.Tensor], biases: list[tf.Tensor]
    ) -> tf.Tensor:
        wrong = count_wrong(fused, network, inputs, labels, kernels, biases)
        return tf.cast(wrong, tf.float32) / tf.cast(tf.shape(labels)[0], tf.float32)

    scalar = tf.TensorSpec([], tf.int32)

    @tf.function(
        input_signature=[
            tf.TensorSpec([None, *network.input_shape], tf.float32),
            tf.TensorSpec([None], tf.int32),
            *fused.signature(),
            scalar,
            scalar,
            scalar,
        ]
    )
    def search(
        inputs: tf.Tensor,
        labels: tf.Tensor,
        kernels: list[tf.Tensor],
        biases: list[tf.Tensor],
        draws: tf.Tensor,
        depth: tf.Tensor,
        seed: tf.Tensor,
    ) -> tf.Tensor:
        before = errors(inputs, labels, kernels, biases)
        low, high = tf.constant(0.0), tf.constant(_LARGEST)
        for _ in tf.range(depth):
            sigma = (low + high) / 2
            total = tf.constant(0.0)
            for draw in tf.range(draws):
                tf.autograph.experimental.set_loop_options(parallel_iterations=1)
                near = perturbed([*kernels, *biases], sigma, draw, seed)
                total += errors(inputs, labels, near[: len(kernels)], near[len(kernels) :])
                least = total / tf.cast(draws, tf.float32) - before
                most = least + tf.cast(draws - draw - 1, tf.float32) / tf.cast(draws, tf.float32)
                if least > _TARGET + _MARGIN or most < _TARGET - _MARGIN:
                    break
            # The draws that were left out add errors, but not so many that this would change.
            added = total / tf.cast(draws, tf.float32) - before
            if added > _TARGET:
                high = sigma
            else:
                low = sigma
        return (low + high) / 2

    return search
