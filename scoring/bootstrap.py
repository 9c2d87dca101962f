"""Bootstrap intervals for any score of a measure: how much it would change with other models.

The independent draws behind a score are the models (pairs of models share them), so models are
resampled with replacement, whole rows of cell, gap and measure at a time.

Why the percentiles are centred. Mutual information estimated from counts is biased upwards, the
more so the fewer distinct models there are. A resample holds about 63 % of the models, and its
copies of one model are pairs that are tied in both orders; it has that bias on top of the observed
score's own. Plain percentiles are therefore too high: for a measure that is independent of the gap
they never reached down to its true score. The *spread* of the replicates is about right, though. So
the percentiles are taken of the replicates shifted to have the observed score as their mean, and
cut to the statistic's bounds.

Found by simulation (two grids, of tasks 1 and 2; measures that share 0, 0.6 and 0.9 of the
gap's noise; 80 zoos each; how often a nominal 95 % interval held the score of a 15 times larger
zoo): centred 85-100 %, plain percentiles 0-98 %. The 85 % is 54 models and a measure without any
information. Half-samples without replacement, centred alike, held it in 95-99 %, but are up to 24 %
wider than these, whose spread is nearer to that of the scores themselves. Leaving out the copies'
pairs changes the spread by 5 % at most, which is not worth a second definition of the score.

    interval(lambda codes, gap, mu: cmi(codes, gap, mu).score, codes, gap, mu, bounds=(0, 1))
    interval(kendall, gap, mu, bounds=(-1, 1))
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from scoring.errors import ScoringError


@dataclass(frozen=True)
class Interval:
    """A value and its interval, of the nominal coverage `level`."""

    value: float
    low: float
    high: float
    level: float
    replicates: int  # that the interval rests on
    undefined: int  # resamples for which the statistic is undefined, which are left out


def interval(
    statistic: Callable[..., float],
    *arrays: npt.ArrayLike,
    bounds: tuple[float, float],
    replicates: int = 1000,
    level: float = 0.95,
    seed: int = 0,
) -> Interval:
    """The bootstrap interval of `statistic(*arrays)`, where each array is [models, ...].

    The same seed gives the same interval. Raises `ScoringError` if the statistic is undefined for
    the models themselves or for most of their resamples.
    """
    columns = [np.asarray(array) for array in arrays]
    value = statistic(*columns)
    found = []
    for drawn in draw(len(columns[0]), replicates, seed):
        try:
            found.append(statistic(*(column[drawn] for column in columns)))
        except ScoringError:
            continue
    check_enough(len(found), replicates, len(columns[0]))
    return centred(value, np.array(found), replicates, level, bounds)


def draw(models: int, replicates: int, seed: int) -> npt.NDArray[np.intp]:
    """The models of each resample [replicates, models]; a seed always draws the same."""
    return np.random.default_rng(seed).integers(models, size=(replicates, models))


def draw_weights(models: int, replicates: int, seed: int) -> npt.NDArray[np.float64]:
    """How often each model is in each resample of `draw` [models, replicates]."""
    weights = np.zeros((models, replicates))
    np.add.at(weights, (draw(models, replicates, seed), np.arange(replicates)[:, None]), 1.0)
    return weights


def check_enough(defined: int, replicates: int, models: int) -> None:
    """Raises `ScoringError` where most resamples have no value."""
    if defined <= replicates // 2:
        raise ScoringError(
            f"no interval: of {replicates} resamples of {models} models only {defined} have "
            "a defined value"
        )


def centred(
    value: float,
    found: npt.NDArray[np.float64],
    replicates: int,
    level: float,
    bounds: tuple[float, float],
) -> Interval:
    """The interval around `value` from the values `found` of the resamples that have one."""
    shifted = found - np.mean(found) + value
    tail = (1.0 - level) / 2.0
    low, high = np.clip(np.quantile(shifted, [tail, 1.0 - tail]), *bounds)
    return Interval(value, float(low), float(high), level, len(found), replicates - len(found))
