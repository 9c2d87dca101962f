"""The competition's score: conditional mutual information, normalized (Jiang et al. 2020b).

For a conditioning set S of two hyperparameters, every ordered pair of models (i, j), self-pairs
included, falls in the group given by both models' values of both hyperparameters. With
V_g = [gap_i > gap_j] and V_mu = [mu_i > mu_j] (strict, so a tie is 0), the score of S is

    mean over groups of I(V_g; V_mu)  /  mean over groups of H(V_g)        (log base 2)

and the score of the task is the smallest over all S (Jiang et al. 2020b, eq. 11-14). On a complete
grid, where the score of every S is defined, this is the organizers' program digit for digit, with
the 1e-12 inside the logarithm of its entropy. Beyond it:

- groups without a pair of models (an incomplete grid) are left out of both means and counted;
- with one hyperparameter S is that one, with none S is empty and all pairs form one group;
- groups are keyed by value numbers, not by the values' text, so that 1|12 and 11|2 differ;
- where V_g is constant in every group of S there is nothing to predict and the ratio is 0/0. Such
  a set has the score NaN and takes no part in the minimum; if all sets are like that (one model,
  equal gaps, two hyperparameters with one model per cell) the task has no score: `ScoringError`.

How it is computed: for each conditioning set, Z [models, cells] is the one-hot matrix of the cells
that its values form. Z' A Z counts the pairs of a relation A [models, models] for every two cells,
which is for every group. There is no loop over pairs of models, over groups or over sets.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from scoring.errors import ScoringError

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.intp]

EXACT_IN_FLOAT32 = 4096  # models of a cell: counts of pairs up to 4096^2 = 2^24 stay whole numbers
# Columns of one matrix product. BLAS gives a larger product to threads, which gains little for a
# task of the competition's size and makes it tens of times slower on a busy machine. For a task of
# thousands of models any product is large, and few of them are fastest.
_BLOCK, _LARGE_BLOCK = 24, 384
LARGE_PRODUCT = 1000  # models
_ENTROPY_OFFSET = 1e-12  # of the organizers' program; without it the last digits differ


@dataclass(frozen=True, eq=False)
class Task:
    """The models of a task: hyperparameters, gap and measure, checked."""

    codes: Ints  # [models, hparams]: the number of each value, from 0
    gap: Floats  # [models]
    measure: Floats  # [models]
    hparams: tuple[str, ...]  # names
    sizes: Ints  # [hparams]: numbers of possible values


@dataclass(frozen=True)
class SetScore:
    """The score under one conditioning set (a pair of hyperparameters, or fewer)."""

    hparams: tuple[str, ...]
    score: float  # NaN where no group has anything to predict
    groups: int  # all of them: the squared product of the numbers of values
    empty_groups: int

    @property
    def label(self) -> str:
        """The hyperparameters as words: `width, depth`."""
        return ", ".join(self.hparams) or "nothing"


@dataclass(frozen=True)
class Cmi:
    """The score of one task, and the table that it is the minimum of."""

    pairs: tuple[SetScore, ...]  # one per unordered pair of hyperparameters, in grid order
    minimum: SetScore

    @property
    def score(self) -> float:
        """The task's score, in [0, 1]."""
        return self.minimum.score

    @property
    def empty_groups(self) -> int:
        """Groups without a pair of models, over all conditioning sets."""
        return sum(pair.empty_groups for pair in self.pairs)


def cmi(
    codes: npt.ArrayLike,
    gap: npt.ArrayLike,
    measure: npt.ArrayLike,
    *,
    hparams: Sequence[str] | None = None,
    sizes: Sequence[int] | None = None,
) -> Cmi:
    """The score of `measure` [models] as a predictor of `gap` [models].

    `codes` [models, hparams] numbers each model's hyperparameter values from 0. `hparams` are
    their names (default h0, h1, …) and `sizes` their numbers of possible values (default: those
    that occur), which only matter for the count of empty groups.
    """
    task = checked_task(codes, gap, measure, hparams, sizes)
    sets = conditioning_sets(len(task.hparams))
    cells = _one_hot_cells(task.codes, task.sizes, sets)
    scores, filled = _score_sets(cells, task.gap, task.measure)
    pairs = []
    for chosen, score, groups_filled in zip(sets, scores.tolist(), filled.tolist()):
        groups = math.prod(int(task.sizes[k]) for k in chosen) ** 2
        hparams_of_set = tuple(task.hparams[k] for k in chosen)
        pairs.append(SetScore(hparams_of_set, score, groups, groups - groups_filled))
    defined = [pair for pair in pairs if not math.isnan(pair.score)]
    if not defined:
        raise ScoringError(
            f"the score of {len(task.gap)} models is undefined: within every group of models the "
            "order of the gaps is fixed, so there is nothing to predict (equal gaps, or too few "
            "models for two hyperparameters to be held fixed)"
        )
    return Cmi(tuple(pairs), min(defined, key=lambda pair: pair.score))


def cmi_score(codes: npt.ArrayLike, gap: npt.ArrayLike, measure: npt.ArrayLike) -> float:
    """The score alone."""
    return cmi(codes, gap, measure).score


def conditioning_sets(hparams: int) -> list[tuple[int, ...]]:
    """The unordered pairs of hyperparameters; all there is where that is fewer than two."""
    return list(itertools.combinations(range(hparams), min(hparams, 2)))


def cells_of_sets(codes: Ints, widths: Ints, sets: Sequence[tuple[int, ...]]) -> Ints:
    """The cell [sets, models] that each model's values of a set's hyperparameters form.

    `widths` are the numbers of values of the hyperparameters; all sets have the same size.
    """
    cell = np.zeros((len(sets), len(codes)), dtype=np.intp)
    for member in np.array(sets, dtype=np.intp).T:  # the first of every pair, then the second
        cell = cell * widths[member, None] + codes.T[member]
    return cell


def entropy(pairs: Floats, gap: Floats) -> Floats:
    """H(V_g) of groups, from how many pairs there are and how many have V_g."""
    p_gap = np.array([pairs - gap, gap]) / pairs
    return -np.sum(p_gap * np.log2(p_gap + _ENTROPY_OFFSET), axis=0)


def checked_task(
    codes: npt.ArrayLike,
    gap: npt.ArrayLike,
    measure: npt.ArrayLike,
    hparams: Sequence[str] | None = None,
    sizes: Sequence[int] | None = None,
) -> Task:
    """The arguments of `cmi` as a `Task`; `ScoringError` where they do not fit together."""
    codes = np.asarray(codes, dtype=np.intp)
    gap, measure = np.asarray(gap, np.float64), np.asarray(measure, np.float64)
    if codes.ndim != 2:
        raise ScoringError(f"codes must be [models, hparams], not of shape {codes.shape}")
    for name, values in (("gap", gap), ("measure", measure)):
        if values.shape != codes.shape[:1]:
            raise ScoringError(
                f"{name} has the shape {values.shape}, but there are {len(codes)} models"
            )
        bad = np.flatnonzero(~np.isfinite(values))
        if bad.size:
            raise ScoringError(f"{name} of model number {bad[0]} is {values[bad[0]]}")
    if not len(codes):
        raise ScoringError("there are no models to score")
    names = hparams if hparams is not None else [f"h{k}" for k in range(codes.shape[1])]
    widths = np.asarray(sizes) if sizes is not None else codes.max(axis=0, initial=0) + 1
    return Task(codes, gap, measure, tuple(names), widths)


def _one_hot_cells(
    codes: Ints, widths: Ints, sets: list[tuple[int, ...]]
) -> npt.NDArray[np.floating]:
    """Z' [sets, cells, models]; where a set has fewer cells than others, further rows are 0.

    Where more cells are possible than there are models, Z' has only those that have models.
    """
    cell = cells_of_sets(codes, widths, sets)
    if cell.max() >= len(codes):
        apart = cell + (cell.max() + 1) * np.arange(len(sets))[:, None]  # no number is of two sets
        cell = np.unique(apart, return_inverse=True)[1].reshape(cell.shape)
        cell -= cell.min(axis=1, keepdims=True)
    cells = cell[:, None] == np.arange(cell.max() + 1)[:, None]
    largest = np.count_nonzero(cells, axis=2).max()
    return cells.astype(np.float32 if largest <= EXACT_IN_FLOAT32 else np.float64)


def _score_sets(
    cells: npt.NDArray[np.floating], gap: Floats, measure: Floats
) -> tuple[Floats, Ints]:
    """Score of each conditioning set, and its number of groups that have a pair of models."""
    sets, width, models = cells.shape
    block = _BLOCK if models < LARGE_PRODUCT else _LARGE_BLOCK
    columns = -(-3 * models // block) * block  # three relations side by side, filled up with 0
    relations = np.zeros((models, columns), dtype=cells.dtype)
    gap_above, measure_above = gap[:, None] > gap, measure[:, None] > measure  # V_g, V_mu
    relations[:, :models] = gap_above
    relations[:, models : 2 * models] = measure_above
    relations[:, 2 * models : 3 * models] = gap_above & measure_above

    by_first = np.empty((sets * width, columns), dtype=cells.dtype)
    np.matmul(cells.reshape(-1, models), _blocks(relations, block), out=_blocks(by_first, block))
    counts = by_first[:, : 3 * models].reshape(sets, -1, models) @ cells.transpose(0, 2, 1)
    counts = counts.reshape(sets, width, 3, width).transpose(2, 0, 1, 3)  # [3, sets, cells, cells]
    in_cells = cells.sum(axis=2, dtype=np.float64)
    pairs = in_cells[:, :, None] * in_cells[:, None, :]  # [sets, cells, cells]

    filled = np.nonzero(pairs)
    set_of_group, pairs = filled[0], pairs[filled]  # [filled groups]
    gap_count, *others = counts[:, filled[0], filled[1], filled[2]].astype(np.float64)
    mutual, entropy = information(pairs, gap_count, *others)
    undecided = (gap_count > 0) & (gap_count < pairs)  # V_g takes both values
    # Both means are over the filled groups, so that the ratio of sums is the ratio of means.
    score = np.divide(
        np.bincount(set_of_group, mutual),
        np.bincount(set_of_group, entropy),
        out=np.full(sets, np.nan),
        where=np.bincount(set_of_group, undecided) > 0,
    )
    return score, np.bincount(set_of_group)


def _blocks(matrix: npt.NDArray[np.floating], block: int) -> npt.NDArray[np.floating]:
    """A view of the matrix as a stack [blocks, rows, columns of a block]."""
    return matrix.reshape(len(matrix), -1, block).transpose(1, 0, 2)


def information(pairs: Floats, gap: Floats, measure: Floats, both: Floats) -> tuple[Floats, Floats]:
    """I(V_g; V_mu) and H(V_g) of groups, from how many pairs there are and have V_g, V_mu, both."""
    not_gap, not_measure = pairs - gap, pairs - measure
    joint = np.array([not_gap - measure + both, measure - both, gap - both, both])
    apart = np.array([not_gap * not_measure, not_gap * measure, gap * not_measure, gap * measure])
    # All of these are whole numbers. Where a joint count is 0 its term is 0 times a logarithm that
    # the maxima keep finite; elsewhere both are at least 1 and the maxima change nothing.
    ratio = np.maximum(joint, 1.0) * pairs / np.maximum(apart, 1.0)
    mutual = np.sum(joint * np.log2(ratio), axis=0) / pairs
    return mutual, entropy(pairs, gap)
