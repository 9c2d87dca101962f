"""How a measure correlates with the gap: Kendall, granulated Psi, Spearman, Pearson.

Kendall's tau (tau-b, which corrects for ties), Spearman's rho and Pearson's r are SciPy's. The
granulated Psi is that of Jiang et al. 2020a (the "Psi summary" that Dziugaite et al. 2020
argue against): among models that differ in one hyperparameter only,

    tau = mean over pairs of sgn(mu_i - mu_j) sgn(gap_i - gap_j)

(tau-a: a tie counts 0); psi of a hyperparameter is the mean of tau over the settings of all the
others, and Psi is the mean of psi over the hyperparameters. Two models with the same value of the
hyperparameter (repeats with another seed) are no intervention on it, and their pair does not count;
settings and hyperparameters without a pair are left out of the means.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import stats

from scoring.errors import ScoringError

Ints = npt.NDArray[np.intp]


@dataclass(frozen=True)
class Granulated:
    """Psi, and the psi of each hyperparameter that it is the mean of."""

    psi: float
    by_hparam: dict[str, float]


def kendall(gap: npt.ArrayLike, measure: npt.ArrayLike) -> float:
    """Kendall's tau-b of two vectors [models]."""
    return float(stats.kendalltau(*_varying(gap, measure))[0])


def spearman(gap: npt.ArrayLike, measure: npt.ArrayLike) -> float:
    """Spearman's rank correlation of two vectors [models]."""
    return float(stats.spearmanr(*_varying(gap, measure))[0])


def pearson(gap: npt.ArrayLike, measure: npt.ArrayLike) -> float:
    """Pearson's linear correlation of two vectors [models]."""
    return float(stats.pearsonr(*_varying(gap, measure))[0])


def granulated(
    codes: npt.ArrayLike,
    gap: npt.ArrayLike,
    measure: npt.ArrayLike,
    *,
    hparams: Sequence[str] | None = None,
) -> Granulated:
    """Psi over the grid `codes` [models, hparams] of `measure` [models] against `gap` [models]."""
    codes = np.asarray(codes, dtype=np.intp)
    gap, measure = _finite(gap, measure)
    if codes.ndim != 2 or len(codes) != len(gap):
        raise ScoringError(f"codes of shape {codes.shape} do not fit {len(gap)} models")
    names = hparams if hparams is not None else [f"h{k}" for k in range(codes.shape[1])]
    agreement = np.sign(gap[:, None] - gap) * np.sign(measure[:, None] - measure)
    by_hparam = {}
    for name, (first, second, setting) in zip(names, one_hparam_pairs(codes)):
        pairs = np.bincount(setting)
        total = np.bincount(setting, agreement[first, second])
        if first.size:
            by_hparam[name] = float(np.mean(total[pairs > 0] / pairs[pairs > 0]))
    if not by_hparam:
        raise ScoringError(
            "Psi is undefined: no two models differ in exactly one hyperparameter "
            f"({len(codes)} models, {codes.shape[1]} hyperparameters)"
        )
    return Granulated(float(np.mean(list(by_hparam.values()))), by_hparam)


def one_hparam_pairs(codes: Ints) -> Iterator[tuple[Ints, Ints, Ints]]:
    """For each hyperparameter the ordered pairs of models that differ in it alone.

    Yielded are the two models of each pair and the setting of all the other hyperparameters, by
    number, each [pairs].
    """
    for k in range(codes.shape[1]):
        _, setting = np.unique(np.delete(codes, k, axis=1), axis=0, return_inverse=True)
        setting = setting.reshape(-1)  # [models]; NumPy 2.0 alone gives it another shape
        first, second = np.nonzero(
            (setting[:, None] == setting) & (codes[:, None, k] != codes[:, k])
        )
        yield first, second, setting[first]


def _finite(
    gap: npt.ArrayLike, measure: npt.ArrayLike
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    vectors = np.asarray(gap, np.float64), np.asarray(measure, np.float64)
    if vectors[0].ndim != 1 or vectors[0].shape != vectors[1].shape:
        raise ScoringError(
            f"gap and measure must be vectors of one length, not of shapes {vectors[0].shape} "
            f"and {vectors[1].shape}"
        )
    for name, values in zip(("gap", "measure"), vectors):
        bad = np.flatnonzero(~np.isfinite(values))
        if bad.size:
            raise ScoringError(f"{name} of model number {bad[0]} is {values[bad[0]]}")
    return vectors


def _varying(
    gap: npt.ArrayLike, measure: npt.ArrayLike
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """The vectors, both of them with more than one value: else a correlation is 0/0."""
    vectors = _finite(gap, measure)
    for name, values in zip(("gap", "measure"), vectors):
        if len(np.unique(values)) < 2:
            raise ScoringError(
                f"a correlation is undefined: the {name} of all {len(values)} models is the same"
            )
    return vectors
