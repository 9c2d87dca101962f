"""Bootstrap intervals of the competition's score, for all measures of a task at once.

What `scoring.bootstrap.interval` computes with the score of `scoring.cmi`, resample by resample and
measure by measure, is computed here together, because the resamples of a task, its pairs of models
and their groups are the same for all of its measures.

A resample is a weight per model: how often it was drawn. A pair of models (i, j) then counts
w_i w_j times, so that the pairs of a group that have V_g and V_mu are

    sum over the pairs of the group that have V_g  of  V_mu(i, j) w_i w_j

which is a matrix product [measures, pairs] x [pairs, resamples]. Copies of one model are tied, as a
model is with itself, and count only among all pairs of a group. The counts are whole numbers; the
scores that follow from them are those of the loop up to the rounding of sums.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from scoring.bootstrap import Interval, centred, check_enough, draw_weights
from scoring.cmi import Floats, Ints, cells_of_sets, conditioning_sets, entropy
from scoring.products import one_core_product

_RESAMPLES = 256  # at a time: what is computed of them stays in the cache


def cmi_intervals(
    codes: npt.ArrayLike,
    gap: npt.ArrayLike,
    measures: npt.ArrayLike,
    scores: Sequence[float],
    *,
    replicates: int = 1000,
    level: float = 0.95,
    seed: int = 0,
    step: Callable[[], None] = lambda: None,
) -> list[Interval]:
    """The interval of the score of each of `measures` [measures, models], all of them finite.

    `scores` are those of the models themselves. `step` is called after each conditioning set, of
    which there are as many as `scoring.cmi.conditioning_sets` has. Raises `ScoringError` if the
    score is undefined for most resamples, which does not depend on the measure.
    """
    codes, gap = np.asarray(codes, np.intp), np.asarray(gap, np.float64)
    measures = np.asarray(measures, np.float64)
    sets = conditioning_sets(codes.shape[1])
    drawn = draw_weights(len(gap), replicates, seed).astype(np.float32)
    chunks = [
        np.ascontiguousarray(drawn[:, start : start + _RESAMPLES])
        for start in range(0, replicates, _RESAMPLES)
    ]
    smallest = np.full((len(measures), replicates), np.nan)
    for cells in cells_of_sets(codes, codes.max(axis=0, initial=0) + 1, sets):
        sums = [_Sums(len(measures), weights.shape[1]) for weights in chunks]
        for group in _groups(cells, gap, measures):
            for weights, of_chunk in zip(chunks, sums):
                of_chunk.add(group, weights)
        smallest = np.fmin(smallest, np.hstack([of_chunk.score() for of_chunk in sums]))
        step()
    defined = ~np.isnan(smallest[0]) if len(measures) else np.ones(replicates, bool)
    check_enough(int(defined.sum()), replicates, len(gap))
    return [
        centred(score, row[defined], replicates, level, (0.0, 1.0))
        for score, row in zip(scores, smallest)
    ]


@dataclass(frozen=True, eq=False)
class _Half:
    """The pairs (i, j) of a group that have one value of V_g."""

    first: Ints  # [pairs]: i
    second: Ints  # [pairs]: j
    measure_above: npt.NDArray[np.float32]  # [measures, pairs]: V_mu


@dataclass(frozen=True, eq=False)
class _Group:
    """All pairs of a model of one cell with a model of another, or of the same."""

    first: Ints  # the models of the one cell
    second: Ints  # those of the other
    above: _Half  # pairs with V_g = 1
    others: _Half


def _groups(cells: Ints, gap: Floats, measures: Floats) -> Iterator[_Group]:
    """The groups of a conditioning set that have pairs, from the cell of each model [models].

    One at a time: together they would hold every pair of models once for each measure.
    """
    members = [np.flatnonzero(cells == cell) for cell in np.unique(cells)]
    return (_group(one, other, gap, measures) for one in members for other in members)


def _group(one: Ints, other: Ints, gap: Floats, measures: Floats) -> _Group:
    first, second = np.repeat(one, len(other)), np.tile(other, len(one))
    above = gap[first] > gap[second]
    rest = ~above & (first != second)
    halves = (
        _Half(i, j, (measures[:, i] > measures[:, j]).astype(np.float32))
        for i, j in ((first[half], second[half]) for half in (above, rest))
    )
    return _Group(one, other, *halves)


class _Sums:
    """Sums over the groups of one conditioning set, for some resamples."""

    def __init__(self, measures: int, resamples: int) -> None:
        self._mutual = np.zeros((measures, resamples))
        self._entropy = np.zeros(resamples)
        self._undecided = np.zeros(resamples, bool)

    def add(self, group: _Group, weights: npt.NDArray[np.float32]) -> None:
        """Counts a group; `weights` are those of the models [models, resamples]."""
        in_first, in_second = (
            weights[models].sum(axis=0, dtype=np.float64) for models in (group.first, group.second)
        )
        pairs = in_first * in_second  # [resamples]
        gap, both = _count(group.above, weights)
        _, measure_only = _count(group.others, weights)
        self._undecided |= (gap > 0) & (gap < pairs)
        filled = pairs > 0
        share = np.divide(1.0, pairs, out=np.zeros_like(pairs), where=filled)
        self._mutual += share * _information(pairs, gap, both, measure_only)
        self._entropy += np.where(filled, entropy(np.where(filled, pairs, 1.0), gap), 0.0)

    def score(self) -> Floats:
        """The scores [measures, resamples]; NaN where undefined."""
        none = np.full_like(self._mutual, np.nan)
        return np.divide(self._mutual, self._entropy, out=none, where=self._undecided)


def _count(half: _Half, weights: npt.NDArray[np.float32]) -> tuple[Floats, Floats]:
    """How many pairs there are [resamples], and have V_mu [measures, resamples]."""
    pairs = weights[half.first] * weights[half.second]  # [pairs, resamples]
    counts = one_core_product(half.measure_above, pairs)
    return pairs.sum(axis=0, dtype=np.float64), counts.astype(np.float64)


def _information(pairs: Floats, gap: Floats, both: Floats, measure_only: Floats) -> Floats:
    """I(V_g; V_mu) times the number of pairs, from counts of pairs that have one or both.

    With f(n) = n log2 n it is the sum of f over the four joint counts and f of all, less f of the
    two counts of V_g and of the two of V_mu.
    """
    measure = both + measure_only
    found = _f(both)
    found += _f(gap - both)
    found += _f(measure_only)
    found += _f(pairs - gap - measure_only)
    found -= _f(measure)
    found -= _f(pairs - measure)
    found += _f(pairs) - _f(gap) - _f(pairs - gap)
    return found


def _f(count: Floats) -> Floats:
    return count * np.log2(np.maximum(count, 1.0))
