"""The leave-one-out error of the nearest neighbour on the training inputs (Cover and Hart 1967).

It does not use the model. With endless data it is at most twice the smallest error that any
classifier can have; with few data it says how much their number teaches about unseen examples.
Within a task it ranks nothing, but it tells an easy task from a hard one, which measures of
networks that fit their training data often cannot.
"""

from __future__ import annotations

import tensorflow as tf

from pgdl_measures.base import Subject
from pgdl_measures.errors import MeasureError
from pgdl_measures.norms.sampling import sample

_AT_ONCE = 512  # rows of the matrix of distances


def nearest_neighbour_error(subject: Subject, *, examples: int = 2000, seed: int = 0) -> float:
    """The share of `examples` whose nearest other example of them has another label."""
    subject.network.check_mixable()  # the distance of two token ids means nothing
    inputs, labels = sample(subject.data, examples, seed)
    if len(labels) < 2:
        raise MeasureError(f"found {len(labels)} training example; a neighbour needs 2 or more")
    flat = tf.reshape(inputs, [len(labels), -1])
    centred = flat - tf.reduce_mean(flat, axis=0)
    wrong = 0
    for start in range(0, len(labels), _AT_ONCE):
        rows = tf.range(start, min(start + _AT_ONCE, len(labels)))
        neighbours = tf.gather(labels, _nearest(centred, rows))
        wrong += int(tf.math.count_nonzero(neighbours != tf.gather(labels, rows)))
    return wrong / len(labels)


@tf.function(reduce_retracing=True)
def _nearest(points: tf.Tensor, rows: tf.Tensor) -> tf.Tensor:
    """For each of these rows of [n, d] the number of its nearest other point; the first of several.

    |a - b|^2 without |a|^2, which is the same for all b.
    """
    products = tf.matmul(tf.gather(points, rows), points, transpose_b=True)  # [rows, n]
    distances = tf.reduce_sum(points**2, axis=1) - 2 * products
    return tf.argmin(
        distances + tf.one_hot(rows, tf.shape(points)[0], points.dtype.max, 0.0), axis=1
    )
