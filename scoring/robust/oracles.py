"""Robust RMSE of linear and affine oracles of a measure (Dziugaite et al. 2020, eq. 9, App. B).

    inf over a >= 0, b   of   sup over environments e   of   E_e (a C + b - G)^2

for three families of environments: each setting of all hyperparameters (B.1; runs differ in their
seed); all settings in which one hyperparameter varies and the others are fixed; and all in which
one is fixed and the others vary (B.2). The linear oracle has b = 0; the baseline has a = 0 and
ignores the measure. The expectation is the mean over an environment's runs.

This is a convex problem in two numbers, and is solved as one, to rounding:

- for a given a the mean square in e is (b - u_e)^2 + s_e, where u_e and s_e are the mean and the
  variance of G - a C in e. The largest of these parabolas in b has its minimum at a vertex or where
  two of them meet, which is found in a few steps;
- what is left is a convex function of a (the partial minimum of a jointly convex one), minimized
  over [0, a_max]. Beyond a_max even the mean over environments exceeds the baseline's maximum.

The authors' figures came from 500 subgradient steps. Here there is one fit for each of the three
families; `oracle_rows` fits again for each row of Figures 6 and 7, as their script does.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize_scalar

from scoring.errors import ScoringError
from scoring.robust.environments import Floats, Ints, group_numbers

FAMILIES = ("each setting", "one varies", "one fixed")


@dataclass(frozen=True, eq=False)
class Fit:
    """The oracle slope * C + intercept that is best in the worst environment."""

    slope: float
    intercept: float
    rmse: Floats  # [environments]

    @property
    def robust(self) -> float:
        """The robust RMSE: that of the worst environment."""
        return float(self.rmse.max())


@dataclass(frozen=True, eq=False)
class Moments:
    """Means, variances and covariance of measure and gap in each environment [environments]."""

    measure: Floats
    gap: Floats
    measure_variance: Floats
    gap_variance: Floats
    covariance: Floats

    def centre(self, slope: float) -> tuple[Floats, Floats]:
        """Mean and variance of G - slope * C in each environment."""
        centre = self.gap - slope * self.measure
        spread = self.gap_variance - 2 * slope * self.covariance + slope**2 * self.measure_variance
        return centre, np.maximum(spread, 0.0)


def family_members(codes: npt.ArrayLike, family: str) -> tuple[Ints, ...]:
    """For each partition that makes up the family, every model's environment in it [models].

    It is -1 for a model that is in none of them. A hyperparameter with one value makes none.
    """
    codes = np.asarray(codes, dtype=np.intp)
    if family == "each setting":
        return (group_numbers(codes),)
    varying = [k for k, column in enumerate(codes.T) if np.ptp(column) > 0]
    if not varying:
        raise ScoringError(
            f"there is no environment: all {len(codes)} models have the same hyperparameters"
        )
    if family == "one varies":
        return tuple(_where_it_varies(codes, k) for k in varying)
    if family == "one fixed":
        return tuple(group_numbers(codes[:, [k]]) for k in varying)
    raise ScoringError(f"no family {family!r}; there are {FAMILIES}")


def _where_it_varies(codes: Ints, hparam: int) -> Ints:
    """Environments that agree in all but one hyperparameter, which has two values or more."""
    group = group_numbers(np.delete(codes, hparam, axis=1))
    pairs = np.unique(np.column_stack([group, codes[:, hparam]]), axis=0)
    varies = np.bincount(pairs[:, 0]) > 1
    return np.where(varies, np.cumsum(varies) - 1, -1)[group]


def affine_oracle(members: tuple[Ints, ...], gap: npt.ArrayLike, measure: npt.ArrayLike) -> Fit:
    """The best a C + b with a >= 0; `members` are those of `family_members`."""
    gap, measure = np.asarray(gap, np.float64), np.asarray(measure, np.float64)
    scale = np.ptp(measure)
    if scale == 0:
        return baseline(members, gap)
    middle = measure.mean()
    unit = (measure - middle) / scale
    moments = _moments(members, gap, unit)
    # The mean square is at least the variance over all environments alike of G - a C, and its
    # root at least a sd(C) - sd(G).
    largest = (np.sqrt(_worst(moments, 0.0)) + _deviation(moments.gap, moments.gap_variance)) / (
        _deviation(moments.measure, moments.measure_variance)
    )
    found = minimize_scalar(
        lambda slope: _worst(moments, slope),
        bounds=(0.0, largest),
        method="bounded",
        options={"xatol": 1e-12 * largest},
    )
    slope = min((0.0, float(found.x)), key=lambda slope: _worst(moments, slope))
    intercept = _intercept(*moments.centre(slope)) - slope * middle / scale
    return _fit(members, gap, measure, slope / scale, intercept)


def linear_oracle(members: tuple[Ints, ...], gap: npt.ArrayLike, measure: npt.ArrayLike) -> Fit:
    """The best a C with a >= 0."""
    gap, measure = np.asarray(gap, np.float64), np.asarray(measure, np.float64)
    moments = _moments(members, gap, measure)
    square = moments.measure_variance + moments.measure**2
    product = moments.covariance + moments.measure * moments.gap
    rest = moments.gap_variance + moments.gap**2

    def slope_of_worst(a: float) -> float:
        worst = np.argmax(square * a**2 - 2 * product * a + rest)
        return square[worst] * a - product[worst]

    lowest = np.divide(product, square, out=np.zeros_like(product), where=square > 0)
    return _fit(members, gap, measure, _bisect(slope_of_worst, 0.0, max(0.0, lowest.max())), 0.0)


def baseline(members: tuple[Ints, ...], gap: npt.ArrayLike) -> Fit:
    """The best constant."""
    gap = np.asarray(gap, np.float64)
    nothing = np.zeros_like(gap)
    intercept = _intercept(*_moments(members, gap, nothing).centre(0.0))
    return _fit(members, gap, nothing, 0.0, intercept)


def _worst(moments: Moments, slope: float) -> float:
    """The largest mean square with the best intercept."""
    centre, spread = moments.centre(slope)
    return float(np.max((_intercept(centre, spread) - centre) ** 2 + spread))


def _intercept(centre: Floats, spread: Floats) -> float:
    """Where the largest of the parabolas (b - centre)^2 + spread is smallest.

    Of two parabolas that is where they meet, or a vertex. From the two outermost on, whichever
    parabola is above both there replaces the one on its own side, until none is.
    """
    left, right = int(centre.argmin()), int(centre.argmax())
    while True:
        low, high = centre[left], centre[right]
        if low == high:
            return float(low)
        meet = 0.5 * (low + high) + 0.5 * (spread[right] - spread[left]) / (high - low)
        best = min(max(meet, low), high)
        heights = (best - centre) ** 2 + spread
        worst = int(heights.argmax())
        if heights[worst] <= max(heights[left], heights[right]) or centre[worst] == best:
            return float(best)
        left, right = (left, worst) if centre[worst] > best else (worst, right)


def _bisect(slope: Callable[[float], float], low: float, high: float) -> float:
    """The minimum of a convex function on [low, high] from the sign of its slope."""
    if slope(low) >= 0:
        return low
    while low < (middle := 0.5 * (low + high)) < high:
        low, high = (middle, high) if slope(middle) < 0 else (low, middle)
    return high


def _deviation(means: Floats, variances: Floats) -> float:
    """The standard deviation over all environments, each with the same weight."""
    return float(np.sqrt(variances.mean() + means.var()))


def _moments(members: tuple[Ints, ...], gap: Floats, measure: Floats) -> Moments:
    parts = []
    for member in members:
        inside = member >= 0
        member, own_measure, own_gap = member[inside], measure[inside], gap[inside]
        runs = np.bincount(member)
        c, g = (np.bincount(member, x) / runs for x in (own_measure, own_gap))
        dc, dg = own_measure - c[member], own_gap - g[member]
        seconds = (np.bincount(member, x) / runs for x in (dc * dc, dg * dg, dc * dg))
        parts.append((c, g, *seconds))
    return Moments(*(np.concatenate(column) for column in zip(*parts)))


def _fit(
    members: tuple[Ints, ...], gap: Floats, measure: Floats, slope: float, intercept: float
) -> Fit:
    squares = (slope * measure + intercept - gap) ** 2
    rmse = []
    for member in members:
        inside = member >= 0
        runs = np.bincount(member[inside])
        rmse.append(np.sqrt(np.bincount(member[inside], squares[inside]) / runs))
    return Fit(slope, intercept, np.concatenate(rmse))
