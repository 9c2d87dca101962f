"""Label variation on graphs of similar examples: VPM, VR and WCV (third place).

Examples whose features at some layer are similar are joined in a graph with Laplacian L; the
variation tr(Y' L Y) of their labels Y (one-hot) counts the edges between classes. Read: VPM_1,
M_smoothness_penultimate_80, VR and WCV (complexity.py each) of github.com/cadurosar/pgdl:

- VPM, variation of the penultimate features with mixup: 500 examples, equally many of each class,
  each mixed with a random other by lambda ~ Beta(2, 2), inputs and labels alike; an edge to the
  nearest neighbour (by angle); I - A; the median over graphs.
- WCV, worst case variation: 500 such examples as they are, edges to and from the nearest neighbour,
  I - D^-1/2 A D^-1/2; the largest over the inputs of the last third of the layers.
- VR, variation rate: batches of 500 examples, 20 neighbours, edges weighted by the cosine, D - A;
  the mean change from the input of the layer before the last one to that of the last and to the
  outputs; the median over 11 batches.

Ours differs in that all classes are used (WCV and VPM_80 there take the labels 0 to 9), graphs are
drawn from all training data instead of its first part, VPM takes the median of 20 graphs (there 1
or 80), an example is never its own neighbour, even among duplicates, and a variation is divided by
the number of examples. Nearest neighbours by their kernel and by angle are the same.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import tensorflow as tf

from pgdl_measures.base import Subject
from pgdl_measures.competition.features import features, layer_inputs
from pgdl_measures.errors import MeasureError

_VR_NEIGHBOURS = 20


def vpm(subject: Subject, *, graphs: int = 20, examples: int = 500, seed: int = 0) -> float:
    """Variation of the Penultimate features with Mixup."""
    _check(examples, graphs)
    subject.network.check_mixable()
    penultimate = layer_inputs(subject)[-1]
    data, targets = subject.data, _one_hot(subject)
    variations = []
    for graph in range(graphs):
        rng = np.random.default_rng([seed, graph])
        rows = balanced(data.labels.numpy(), examples, rng)
        other = rng.permutation(rows)
        share = rng.beta(2, 2, len(rows))
        inputs = _mixed(tf.gather(data.inputs, rows), tf.gather(data.inputs, other), share)
        (points,) = features(subject, inputs, (penultimate,))
        laplacian = np.eye(len(rows)) - nearest(cosines(points), 1)
        variations.append(variation(laplacian, _mixed(targets[rows], targets[other], share)))
    return float(np.median(variations))


def wcv(subject: Subject, *, examples: int = 500, seed: int = 0) -> float:
    """Worst Case Variation."""
    _check(examples)
    entries = layer_inputs(subject)
    last = tuple(entries[-(len(entries) // 3 + 1) :])
    rows = balanced(subject.data.labels.numpy(), examples, np.random.default_rng(seed))
    targets = _one_hot(subject)[rows]
    variations = []
    for points in features(subject, tf.gather(subject.data.inputs, rows), last):
        directed = nearest(cosines(points), 1)
        adjacency = np.maximum(directed, directed.T)
        scale = 1 / np.sqrt(adjacency.sum(axis=1))
        laplacian = np.eye(len(rows)) - scale[:, None] * adjacency * scale
        variations.append(variation(laplacian, targets))
    return max(variations)


def vr(subject: Subject, *, graphs: int = 11, examples: int = 500, seed: int = 0) -> float:
    """Variation Rate."""
    _check(examples, graphs)
    layers = (*layer_inputs(subject)[-2:], None)
    targets = _one_hot(subject)
    order = np.random.default_rng(seed).permutation(len(subject.data))
    size = min(examples, len(order))
    changes = []
    for start in range(0, min(graphs * size, len(order) - size + 1), size):
        rows = order[start : start + size]
        variations = []
        for points in features(subject, tf.gather(subject.data.inputs, rows), layers):
            similarity = np.clip(cosines(points), 0, 1)
            directed = nearest(similarity, _VR_NEIGHBOURS)
            adjacency = np.maximum(directed, directed.T) * similarity
            laplacian = np.diag(adjacency.sum(axis=1)) - adjacency
            variations.append(variation(laplacian, targets[rows]))
        changes.append(np.mean(np.abs(np.diff(variations))))
    return float(np.median(changes))


def variation(laplacian: np.ndarray, targets: np.ndarray) -> float:
    """tr(Y' L Y) per example."""
    return float(np.sum(targets * tf.matmul(laplacian, targets).numpy()) / len(targets))


def cosines(points: np.ndarray) -> np.ndarray:
    """The cosines [n, n] between points [n, features]; with a point at zero they are zero."""
    points = np.asarray(points, np.float64)
    lengths = np.linalg.norm(points, axis=1, keepdims=True)
    unit = points / np.where(lengths > 0, lengths, 1)
    return tf.matmul(unit, unit, transpose_b=True).numpy()


def nearest(similarity: np.ndarray, neighbours: int) -> np.ndarray:
    """The adjacency [n, n] of edges from each point to the others that are most similar to it."""
    count = len(similarity)
    if count < 2:
        raise MeasureError(f"a graph of similar examples has {count} of them; expected two or more")
    others = np.where(np.eye(count, dtype=bool), -np.inf, similarity)
    edges = min(neighbours, count - 1)
    chosen = np.argpartition(-others, edges - 1, axis=1)[:, :edges]
    adjacency = np.zeros_like(similarity)
    np.put_along_axis(adjacency, chosen, 1.0, axis=1)
    return adjacency


def balanced(labels: np.ndarray, examples: int, rng: np.random.Generator) -> np.ndarray:
    """That many rows, in equal parts of each class, or all of a class that has fewer."""
    classes = np.unique(labels)
    per_class = max(examples // len(classes), 1)
    return np.concatenate(
        [rng.permutation(np.flatnonzero(labels == c))[:per_class] for c in classes]
    )


def _check(examples: int, graphs: int = 1) -> None:
    if min(examples, graphs) < 1:
        raise MeasureError(
            f"{graphs} graphs of {examples} examples were asked for; expected one of each or more"
        )


def _one_hot(subject: Subject) -> np.ndarray:
    labels = subject.data.labels.numpy()
    return np.eye(labels.max() + 1)[labels]


def _mixed(first: Any, second: Any, share: np.ndarray) -> Any:
    """share * first + (1 - share) * second, for arrays or tensors [n, ...]."""
    share = share.astype(np.float32).reshape([-1] + [1] * (len(first.shape) - 1))
    return share * first + (1 - share) * second
