"""Intra- and inter-class mixup (Schiff et al. 2021, Section 4.1.1, Appendix A.5, Algorithm 3).

Who is mixed with whom depends on the labels alone, so the pairs of all batches are drawn first, as
indices; x_p = (1 - alpha) x1 + alpha x2 keeps the label of x1.
"""

from __future__ import annotations

from typing import NamedTuple

import tensorflow as tf

PAIRINGS = ("intra", "inter")


class Pairs(NamedTuple):
    """Pairs of examples, as indices into the training data."""

    first: tf.Tensor  # [pairs] int32
    second: tf.Tensor  # [pairs] int32
    batch: tf.Tensor  # [pairs] int32: the batch that the pair is from


def draw_batches(
    examples: tf.Tensor, batches: tf.Tensor, size: tf.Tensor, seed: tf.Tensor
) -> tf.Tensor:
    """Indices of shuffled batches [batches, size], no example twice in one batch.

    The batches of Algorithm 1 are D[k b : (k+1) b] of a shuffled D. Where D has fewer examples than
    that, it is shuffled again and again; where it has fewer than one batch, the batch is D.
    """
    size = tf.minimum(size, examples)
    per_shuffle = examples // size
    shuffles = -(-batches // per_shuffle)
    keys = tf.random.stateless_uniform(
        [shuffles, examples], seed, minval=None, maxval=None, dtype=tf.int32, alg="philox"
    )
    order = tf.argsort(keys, axis=1)[:, : per_shuffle * size]
    return tf.reshape(order, [-1, size])[:batches]


def draw_pairs(labels: tf.Tensor, batches: tf.Tensor, pairing: str) -> Pairs:
    """Algorithm 3 on every batch: pair neighbours, drop the pairs that do not match.

    intra: the batch is first sorted by label, and pairs of unequal labels are dropped; inter: the
    batch stays in its random order, and pairs of equal labels are dropped. Of an odd batch one
    random example is left out.
    """
    size = tf.shape(batches)[1]
    batches = batches[:, : size // 2 * 2]
    if pairing == "intra":
        order = tf.argsort(tf.gather(labels, batches), axis=1, stable=True)
        batches = tf.gather(batches, order, batch_dims=1)
    first, second = batches[:, ::2], batches[:, 1::2]
    equal = tf.gather(labels, first) == tf.gather(labels, second)
    pairs = tf.where(equal if pairing == "intra" else ~equal)  # [pairs, 2]
    return Pairs(
        tf.gather_nd(first, pairs),
        tf.gather_nd(second, pairs),
        tf.cast(pairs[:, 0], tf.int32),
    )
