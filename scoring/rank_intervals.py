"""Bootstrap intervals of Kendall's tau, Spearman's rho and Psi, for all measures of a task at once.

The numbers are those of `scoring.bootstrap.interval` with `kendall`, `spearman` and `granulated` of
`scoring.rank`, resample by resample. A resample is a weight w per model: how often it was drawn.

- tau-b is w'A w / sqrt(w'B w  w'C w), where A_ij = sgn(gap_i - gap_j) sgn(mu_i - mu_j) and B and C
  say where the gap and where the measure differ.
- The mean rank of model i in a resample is, up to a factor and a constant, the sum over j of
  w_j sgn(mu_i - mu_j); rho is Pearson's correlation of the mean ranks.
- Psi is linear in the agreement of the pairs of models that differ in one hyperparameter, so that
  all measures and resamples are one matrix product.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from scoring.bootstrap import Interval, centred, check_enough, draw_weights
from scoring.errors import ScoringError
from scoring.products import one_core_product
from scoring.rank import granulated, kendall, one_hparam_pairs, spearman

Floats = npt.NDArray[np.float64]

_BOUNDS = (-1.0, 1.0)
_STATISTICS: dict[str, Callable[..., float]] = {
    "kendall": lambda codes, gap, measure: kendall(gap, measure),
    "spearman": lambda codes, gap, measure: spearman(gap, measure),
    "psi": lambda codes, gap, measure: granulated(codes, gap, measure).psi,
}


def rank_intervals(
    codes: npt.ArrayLike,
    gap: npt.ArrayLike,
    measures: npt.ArrayLike,
    *,
    replicates: int = 1000,
    level: float = 0.95,
    seed: int = 0,
) -> list[dict[str, Interval]]:
    """For each of `measures` [measures, models] the intervals of `kendall`, `spearman` and `psi`.

    One that is undefined for the models themselves, or for most resamples, is left out.
    """
    codes, gap = np.asarray(codes, np.intp), np.asarray(gap, np.float64)
    measures = np.asarray(measures, np.float64)
    weights = draw_weights(len(gap), replicates, seed)  # [models, resamples]
    gap_sign = _signs(gap)
    gap_rank, gap_pairs = _product(gap_sign, weights), _unequal_pairs(gap, weights)
    psi = _psi(codes, gap_sign, measures, weights)
    found: list[dict[str, Interval]] = []
    for measure, psi_of_measure in zip(measures, psi):
        sign = _signs(measure)
        agreeing = (_product(gap_sign * sign, weights) * weights).sum(axis=0)
        of_resamples = {
            "kendall": _ratio(agreeing, np.sqrt(gap_pairs * _unequal_pairs(measure, weights))),
            "spearman": _correlation(gap_rank, _product(sign, weights), weights),
            "psi": psi_of_measure,
        }
        found.append({})
        for name, resampled in of_resamples.items():
            defined = resampled[~np.isnan(resampled)]
            try:
                value = _STATISTICS[name](codes, gap, measure)
                check_enough(len(defined), replicates, len(gap))
            except ScoringError:
                continue
            found[-1][name] = centred(value, defined, replicates, level, _BOUNDS)
    return found


def _signs(values: Floats) -> Floats:
    return np.sign(values[:, None] - values)


def _product(relation: Floats, weights: Floats) -> Floats:
    """A w of each resample [models, resamples]; whole numbers, which float32 holds exactly."""
    return one_core_product(relation.astype(np.float32), weights.astype(np.float32)).astype(float)


def _unequal_pairs(values: Floats, weights: Floats) -> Floats:
    """How many ordered pairs of a resample have different values [resamples]."""
    _, number = np.unique(values, return_inverse=True)
    drawn = np.zeros((number.max(initial=0) + 1, weights.shape[1]))
    np.add.at(drawn, number, weights)
    return len(values) ** 2 - np.square(drawn).sum(axis=0)


def _correlation(x: Floats, y: Floats, weights: Floats) -> Floats:
    """The weighted correlation over models of each resample [resamples]; NaN where undefined."""
    models = len(weights)
    x = x - (weights * x).sum(axis=0) / models
    y = y - (weights * y).sum(axis=0) / models
    xy, xx, yy = ((weights * product).sum(axis=0) for product in (x * y, x * x, y * y))
    return _ratio(xy, np.sqrt(xx * yy))


def _psi(codes: npt.NDArray[np.intp], gap: Floats, measures: Floats, weights: Floats) -> Floats:
    """Psi [measures, resamples]; NaN where a resample has no two models to compare."""
    agreements, shares = [], []
    for first, second, setting in one_hparam_pairs(codes):
        drawn = weights[first] * weights[second]  # [pairs, resamples]
        in_setting = np.zeros((setting.max(initial=-1) + 1, weights.shape[1]))
        np.add.at(in_setting, setting, drawn)
        settings = np.maximum((in_setting > 0).sum(axis=0), 1)
        shares.append(drawn / np.maximum(in_setting, 1.0)[setting] / settings)
        agreements.append(np.sign(measures[:, first] - measures[:, second]) * gap[first, second])
    hparams = sum((share.sum(axis=0) > 0.5).astype(float) for share in shares)
    total = sum((a @ share for a, share in zip(agreements, shares)), np.zeros((len(measures), 1)))
    return _ratio(total, np.broadcast_to(hparams, (len(measures), weights.shape[1])))


def _ratio(above: Floats, below: Floats) -> Floats:
    none = np.full(np.broadcast_shapes(above.shape, below.shape), np.nan)
    return np.divide(above, below, out=none, where=below > 0)
