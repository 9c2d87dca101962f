"""Davies-Bouldin index of early features, and its product with mixup errors (first place).

The index compares the spread of classes with the distances between them: the mean over classes i of
max_j (S_i + S_j) / M_ij, with S the mean distance of a class from its centroid and M the distance
of two centroids. Read: complexitymeasures.py (complexityDB, complexityMixup) and complexity.py of
github.com/parthnatekar/pgdl at b8ed0ea, whose default - the winning solution - is the product
DBI x (1 - accuracy on label-wise mixup).

As there: features are the 4 x 4 maxima of the first convolution or pooling layer's output, the
index is the mean over 10 draws of 120 examples. Ours differs in that a network without such a layer
is measured at its first dense layer, maps smaller than 4 x 4 are pooled whole, and the mixup
accuracy is that of the `mixup` measure (pairs drawn over the training data, all classes together)
instead of all pairs in ten batches, class by class.
"""

from __future__ import annotations

import numpy as np

from pgdl_measures.base import Subject
from pgdl_measures.competition.features import features, first_output
from pgdl_measures.errors import MeasureError
from pgdl_measures.norms.sampling import sample
from pgdl_measures.response_curves.enough import Batches
from pgdl_measures.response_curves.measures import BATCHES, shared_curve
from pgdl_measures.response_curves.statistics import end_point

_POOL = 4


def davies_bouldin(points: np.ndarray, labels: np.ndarray) -> float:
    """The index of points [n, features] in classes; 0 where all classes are single points."""
    points = np.asarray(points, np.float64)
    classes = [points[labels == label] for label in np.unique(labels)]
    centroids = np.stack([members.mean(axis=0) for members in classes])
    spreads = np.array(
        [np.linalg.norm(c - centre, axis=1).mean() for c, centre in zip(classes, centroids)]
    )
    between = np.linalg.norm(centroids[:, None] - centroids[None], axis=2)
    between[between == 0] = np.inf  # a class and itself, or two that cannot be told apart
    return float(np.max((spreads[:, None] + spreads) / between, axis=1).mean())


def dbi(subject: Subject, *, draws: int = 10, examples: int = 120, seed: int = 0) -> float:
    """The mean index over draws of the training data."""
    return subject.share(
        ("dbi", draws, examples, seed), lambda: _dbi(subject, draws, examples, seed)
    )


def dbi_mixup(
    subject: Subject,
    *,
    draws: int = 10,
    examples: int = 120,
    batches: Batches = BATCHES,
    batch_size: int = 128,
    seed: int = 0,
) -> float:
    """DBI x (1 - accuracy on the means of two inputs of one class)."""
    curve = shared_curve(
        subject,
        (0.5,),
        end_point,
        batches,
        pairing="intra",
        layer=0,
        batch_size=batch_size,
        reshuffle=False,
        seed=seed,
    )
    index = dbi(subject, draws=draws, examples=examples, seed=seed)
    return index * (1 - float(curve.accuracy[0]))


def _dbi(subject: Subject, draws: int, examples: int, seed: int) -> float:
    indices = []
    step = first_output(subject, "strides", "units")
    inputs, labels = sample(subject.data, draws * examples, seed)
    for start in range(0, len(labels), examples):
        now = slice(start, start + examples)
        classes = labels[now].numpy()
        if len(np.unique(classes)) > 1:
            (points,) = features(subject, inputs[now], (step,), pool=_POOL)
            indices.append(davies_bouldin(points, classes))
    if not indices:
        raise MeasureError(
            f"no draw of {examples} examples has two classes; a Davies-Bouldin index compares them"
        )
    return float(np.mean(indices))
