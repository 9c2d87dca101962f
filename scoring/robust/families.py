"""Families of environments, and summaries of the errors in one (Dziugaite et al. 2020, Sec. 6).

A family is all environments, those that vary one hyperparameter (the rows of Figure 1), or those
that vary it between two of its values (the cells of Figure 2).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from scoring.robust.sign_errors import SignErrors

PERCENTILE = 0.9


@dataclass(frozen=True)
class Family:
    """All environments; of one hyperparameter, by its number; of two of its values, by theirs."""

    hparam: int | None = None
    values: tuple[int, int] | None = None

    def of(self, found: SignErrors) -> npt.NDArray[np.bool_]:
        """Which environments belong to it [environments]."""
        chosen = np.ones(len(found.hparam), dtype=bool)
        if self.hparam is not None:
            chosen &= found.hparam == self.hparam
        if self.values is not None:
            chosen &= (found.values == self.values).all(axis=1)
        return chosen


ALL = Family()


@dataclass(frozen=True)
class Summary:
    """Errors over a family of environments; None where none of them counts."""

    environments: int
    kept: int  # of them, those that count
    maximum: float | None = None
    percentile_90: float | None = None
    mean: float | None = None


def hparam_families(found: SignErrors) -> Iterator[Family]:
    """One for each hyperparameter that varies."""
    return (Family(int(k)) for k in np.unique(found.hparam))


def pair_families(found: SignErrors, hparam: int) -> Iterator[Family]:
    """One for each pair of a hyperparameter's values."""
    pairs = np.unique(found.values[found.hparam == hparam], axis=0)
    return (Family(hparam, (int(low), int(high))) for low, high in pairs)


def summarize(errors: npt.ArrayLike, *, orders: int = 2) -> Summary:
    """The summary of errors [environments]; NaN stands for a discarded environment.

    The percentile is linear between environments, each of which counts once for each of its
    `orders`: sign-errors stand for (H, H') and (H', H), as in the authors' program, RMSE for one.
    """
    errors = np.asarray(errors, np.float64)
    defined = errors[~np.isnan(errors)]
    if not defined.size:
        return Summary(errors.size, 0)
    quantile = np.quantile(np.repeat(defined, orders), PERCENTILE)
    return Summary(
        errors.size, defined.size, float(defined.max()), float(quantile), float(defined.mean())
    )
