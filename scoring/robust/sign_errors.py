"""Robust sign-error of measures over environments (Dziugaite et al. 2020, eq. 3-8, App. A and D.3).

For an environment with the pairs of runs (w, w'), gaps G and a measure C,

    SE = 1/2 sum of k(w, w') [1 - sgn(G' - G) sgn(C' - C)] / sum of k(w, w')               (8)
    k  = max(0, chi(|G' - G| / 2, m) - 0.5),   chi(eps, m) = (1 - 2 exp(-2 m eps^2))^2     (6)

where m is the size of the test set on which the gaps were measured. k is 0 where the order of two
gaps is not known with probability 1/2 (Hoeffding). An environment counts if its effective sample
size n_eff = (sum k)^2 / sum k^2 (7) is at least 12. Without noise filtering (App. A.3) k = 1.

The robust sign-error of a measure over a family of environments is the largest. Beside it stand the
90th percentile and the mean; the mean is the analogue of (1 - Psi) / 2 (footnote 5).

Where the text leaves room:

- chi as printed grows again below eps = sqrt(log(2) / 2m), up to 1 for equal gaps, because there
  the bound 1 - 2 exp(...) on a probability is negative. A negative bound says nothing: it is cut
  at 0, so that such pairs get no weight.
- (8) as printed gives an environment with n_eff < 12 the sign-error 0. App. A.1 says that it is
  discarded, which is what happens here: its sign-error is NaN.
- A tie of C is half an error. A tie of G, which only counts without filtering, too.
- The 90th percentile is linear between environments, as in the authors' program, which counts each
  environment in both orders.
- The weaker family of D.3 has an environment for each pair of values of a hyperparameter, whose
  samples are those of all its environments here: (8) and (7) are taken over that union.

With r runs per setting an environment has r^2 pairs, so that n_eff >= 12 takes four runs or more.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from scoring.errors import ScoringError
from scoring.rank import Granulated
from scoring.robust.environments import (
    Environments,
    Floats,
    Ints,
    Settings,
    find_environments,
    find_settings,
    group_numbers,
)

MIN_EFFECTIVE = 12.0  # App. A.1

CHUNK = 1 << 20  # pairs of runs at a time


@dataclass(frozen=True, eq=False)
class SignErrors:
    """The sums over pairs of runs from which all sign-errors follow, for each environment."""

    hparam: Ints  # [environments]: the hyperparameter that differs
    values: Ints  # [environments, 2]: between which two of its values
    others: Ints  # [environments]: at which values of the others; all 0 in the weaker family
    weight: Floats  # [environments]: sum of k
    squares: Floats  # [environments]: sum of k^2
    loss: Floats  # [measures, environments]: sum of k times the sign-error of a pair
    min_effective: float = MIN_EFFECTIVE

    @cached_property
    def n_eff(self) -> Floats:
        """The effective sample size of each environment, eq. 7."""
        none = np.zeros_like(self.weight)
        return np.divide(self.weight**2, self.squares, out=none, where=self.squares > 0)

    @cached_property
    def kept(self) -> npt.NDArray[np.bool_]:
        """The environments that count."""
        return has_effective(self.n_eff, self.min_effective) & (self.weight > 0)

    @cached_property
    def errors(self) -> Floats:
        """The sign-error [measures, environments], eq. 8; NaN where an environment is discarded."""
        none = np.full_like(self.loss, np.nan)
        return np.divide(self.loss, self.weight, out=none, where=self.kept)

    @cached_property
    def weaker(self) -> SignErrors:
        """The family of App. D.3: an environment for each pair of values of a hyperparameter."""
        merged = self._merged(np.column_stack([self.hparam, self.values]))
        return replace(merged, others=np.zeros_like(merged.others))

    def granulated(self, hparams: Sequence[str]) -> tuple[Granulated, ...]:
        """Psi of each measure, where all weights are 1: that of `scoring.rank`, at any size."""
        groups = self._merged(np.column_stack([self.hparam, self.others]))
        found = []
        for tau in 1.0 - 2.0 * groups.loss / groups.weight:
            by_hparam = {
                hparams[k]: float(np.mean(tau[groups.hparam == k]))
                for k in np.unique(groups.hparam)
            }
            found.append(Granulated(float(np.mean(list(by_hparam.values()))), by_hparam))
        return tuple(found)

    def _merged(self, labels: Ints) -> SignErrors:
        """Environments with equal rows of labels become one; the first gives its description."""
        number = group_numbers(labels)
        first = np.unique(number, return_index=True)[1]
        return SignErrors(
            self.hparam[first],
            self.values[first],
            self.others[first],
            np.asarray(np.bincount(number, self.weight), np.float64),
            np.asarray(np.bincount(number, self.squares), np.float64),
            np.array([np.bincount(number, loss) for loss in self.loss]),
            self.min_effective,
        )


def sign_errors(
    codes: npt.ArrayLike,
    gap: npt.ArrayLike,
    measures: npt.ArrayLike,
    *,
    test_size: int | None,
    min_effective: float = MIN_EFFECTIVE,
) -> SignErrors:
    """Sign-errors of `measures` [measures, models] on the grid `codes` [models, hparams].

    `test_size` is the number of examples behind each gap; None is without noise filtering.
    """
    gap, measures = np.asarray(gap, np.float64), np.asarray(measures, np.float64)
    _check(np.shape(codes), gap, measures)
    if test_size is not None and test_size < 1:
        raise ScoringError(f"the test set has {test_size} examples; expected 1 or more")
    settings = find_settings(codes)
    environments = find_environments(settings)
    weight, squares = np.zeros((2, len(environments)))
    loss = np.zeros((len(measures), len(environments)))
    for chunk, first, second in _chunks(settings, environments):
        change = sign_changes(gap, first, second)  # [environments, repeats, repeats]
        kappa = np.ones_like(change) if test_size is None else hoeffding_weight(change, test_size)
        weight[chunk] = kappa.sum(axis=(1, 2))
        squares[chunk] = np.square(kappa).sum(axis=(1, 2))
        signed = kappa * np.sign(change)
        for row, values in zip(loss, measures):
            agreement = signed * np.sign(sign_changes(values, first, second))
            row[chunk] = 0.5 * (kappa - agreement).sum(axis=(1, 2))
    return SignErrors(*_description(environments), weight, squares, loss, min_effective)


def hoeffding_weight(change: npt.ArrayLike, test_size: int) -> Floats:
    """k of two gaps with a difference of `change`, eq. 6."""
    epsilon = np.abs(np.asarray(change, np.float64)) / 2.0
    chi = np.maximum(0.0, 1.0 - 2.0 * np.exp(-2.0 * test_size * epsilon**2)) ** 2
    return np.maximum(0.0, chi - 0.5)


def has_effective(n_eff: Floats, least: float) -> npt.NDArray[np.bool_]:
    """Whether effective sample sizes are `least` or more, with the tolerance of the authors'
    program: twelve pairs whose weights differ in the fifth digit count as twelve."""
    return (n_eff > least) | np.isclose(n_eff, least)


def sign_changes(values: Floats, first: Ints, second: Ints) -> Floats:
    return values[second][:, None, :] - values[first][:, :, None]


def _chunks(settings: Settings, environments: Environments) -> Iterator[tuple[Ints, Ints, Ints]]:
    """Environments of the same two numbers of repeats, with the runs [n, repeats] of both sides."""
    sizes, size_of = np.unique(settings.repeats[environments.settings], axis=0, return_inverse=True)
    for number, (low, high) in enumerate(sizes.tolist()):
        alike = np.flatnonzero(size_of.reshape(-1) == number)
        step = max(1, CHUNK // (low * high))
        for start in range(0, len(alike), step):
            chunk = alike[start : start + step]
            first, second = environments.settings[chunk].T
            yield chunk, settings.runs(first, low), settings.runs(second, high)


def _description(environments: Environments) -> tuple[Ints, Ints, Ints]:
    return environments.hparam, environments.values, environments.others


def _check(shape: tuple[int, ...], gap: Floats, measures: Floats) -> None:
    if gap.shape != shape[:1] or measures.ndim != 2 or measures.shape[1:] != shape[:1]:
        raise ScoringError(
            f"codes {shape}, gap {gap.shape} and measures {measures.shape} do not fit: expected "
            "[models, hparams], [models] and [measures, models]"
        )
    if not (np.isfinite(gap).all() and np.isfinite(measures).all()):
        raise ScoringError("a gap or a value of a measure is not a finite number")
