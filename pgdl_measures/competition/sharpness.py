"""Sharpness: how far the weights may move, at worst, before accuracy falls (the kit's baseline).

The kit (baselines/sharpness_v2/complexity.py, after Jiang et al. 2020a) looks by bisection for
the relative magnitude alpha in (0, 2) at which a network loses a tenth of its training accuracy,
when each weight may move by alpha |w|: from a random start within half of that, 20 steps of the
gradient with a rate of 0.001 on batches of 64, and back into the box. It returns alpha, which is
large for flat minima; this is its negative.

Where ours differs: the steps go up the loss, as the definition asks, while the kit's go down; the
loss is counted from the accuracy without perturbation, not from 1; one random start by default in
place of three; bisection goes on to the end instead of stopping within 0.01; and batch norm is
fused, where the kit moves its variances too and can make them negative. The weights are arguments
of the graph: no model is ever perturbed.
"""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from pgdl_measures.accuracy import share_correct
from pgdl_measures.base import Subject
from pgdl_measures.errors import MeasureError
from pgdl_measures.network.compiled import Network
from pgdl_measures.norms.fused import FusedNetwork, fused_network
from pgdl_measures.norms.sampling import count_wrong, sample

_LARGEST = 2.0
_TARGET = 0.1
_BATCH = 64
_RATE = 1e-3


def sharpness(
    subject: Subject,
    *,
    examples: int = 500,
    restarts: int = 1,
    steps: int = 20,
    depth: int = 10,
    seed: int = 0,
) -> float:
    """-alpha, on that many examples."""
    if min(restarts, depth) < 1 or steps < 0:
        raise MeasureError(
            f"depth={depth}, restarts={restarts}, steps={steps}; expected positive numbers, or "
            "steps=0"
        )
    fused, network = fused_network(subject), subject.network
    graph = network.graph("sharpness", lambda: _build(fused, network))
    inputs, labels = sample(subject.data, examples, seed)
    share_correct(network, inputs, labels)  # raises where outputs are NaN
    numbers = (tf.constant(number, tf.int32) for number in (restarts, steps, depth, seed))
    return -float(graph(inputs, labels, *fused.tensors(), *numbers))


def _build(fused: FusedNetwork, network: Network) -> Any:
    count = len(fused.kernels)

    def outputs(x: tf.Tensor, weights: list[tf.Tensor]) -> tf.Tensor:
        return fused.run(x, weights[:count], weights[count:])

    def accuracy(inputs: tf.Tensor, labels: tf.Tensor, weights: list[tf.Tensor]) -> tf.Tensor:
        wrong = count_wrong(fused, network, inputs, labels, weights[:count], weights[count:])
        total = tf.shape(labels)[0]
        return tf.cast(total - wrong, tf.float32) / tf.cast(total, tf.float32)

    def climbed(
        x: tf.Tensor, y: tf.Tensor, weights: list[tf.Tensor], box: list[tf.Tensor], alpha: tf.Tensor
    ) -> list[tf.Tensor]:
        """One step up the loss, within alpha |w| of the trained weights w."""
        with tf.GradientTape() as tape:
            tape.watch(weights)
            losses = tf.nn.sparse_softmax_cross_entropy_with_logits(y, outputs(x, weights))
            loss = tf.reduce_mean(losses)
        result = []
        # A bias that stands for none has no gradient.
        gradients = tape.gradient(loss, weights, unconnected_gradients="zero")
        for weight, gradient, w in zip(weights, gradients, box):
            reach = alpha * tf.abs(w)
            moved = weight + _RATE * tf.convert_to_tensor(gradient)  # an embedding's is sparse
            result.append(tf.clip_by_value(moved, w - reach, w + reach))
        return result

    def noise(w: tf.Tensor, seed: tf.Tensor, stream: tf.Tensor) -> tf.Tensor:
        """Uniform within half of |w|."""
        drawn = tf.random.stateless_uniform(
            w.shape, tf.stack([seed, stream]), -0.5, 0.5, alg="philox"
        )
        return drawn * tf.abs(w)

    scalar = tf.TensorSpec([], tf.int32)

    @tf.function(
        input_signature=[
            tf.TensorSpec([None, *network.input_shape], tf.float32),
            tf.TensorSpec([None], tf.int32),
            *fused.signature(),
            scalar,
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
        restarts: tf.Tensor,
        steps: tf.Tensor,
        depth: tf.Tensor,
        seed: tf.Tensor,
    ) -> tf.Tensor:
        trained = [*kernels, *biases]
        examples = tf.shape(labels)[0]
        before = accuracy(inputs, labels, trained)
        low, high = tf.constant(0.0), tf.constant(_LARGEST)
        for _ in tf.range(depth):
            alpha = (low + high) / 2
            least = before
            for restart in tf.range(restarts):
                weights = [
                    w + alpha * noise(w, seed, restart * len(trained) + i)
                    for i, w in enumerate(trained)
                ]
                for step in tf.range(steps):
                    tf.autograph.experimental.set_loop_options(parallel_iterations=1)
                    rows = tf.range(step * _BATCH, (step + 1) * _BATCH) % examples
                    x, y = tf.gather(inputs, rows), tf.gather(labels, rows)
                    weights = climbed(x, y, weights, trained, alpha)
                least = tf.minimum(least, accuracy(inputs, labels, weights))
            if before - least > _TARGET:
                high = alpha
            else:
                low = alpha
        return (low + high) / 2

    return search
