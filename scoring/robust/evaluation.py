"""The robust evaluation of all measures on a table of runs (Dziugaite et al. 2020).

`evaluate` computes everything; `records` gives it as one flat list, a line per measure, quantity
and family of environments, from which tables and files are made.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from scoring.errors import ScoringError, if_defined
from scoring.rank import Granulated, kendall
from scoring.robust.families import (
    ALL,
    Family,
    Summary,
    hparam_families,
    pair_families,
    summarize,
)
from scoring.robust.oracles import (
    FAMILIES,
    Fit,
    affine_oracle,
    baseline,
    family_members,
    linear_oracle,
)
from scoring.robust.runs import Runs
from scoring.robust.sign_errors import MIN_EFFECTIVE, SignErrors, sign_errors

TEST_SIZE = 10_000  # Dziugaite et al. 2020, C.3: the test sets of CIFAR-10 and SVHN


@dataclass(frozen=True)
class Record:
    """One quantity of one measure over one family of environments."""

    measure: str
    quantity: str  # `sign-error`, `sign-error unfiltered`, … , `rmse affine`, …
    family: str
    low: Any  # the two values between which a hyperparameter varies, where there are two
    high: Any
    summary: Summary


@dataclass(frozen=True, eq=False)
class Evaluation:
    """All robust scores of the measures of one table of runs; measures are in its order."""

    runs: Runs
    test_size: int
    filtered: SignErrors
    unfiltered: SignErrors
    affine: dict[str, tuple[Fit, ...]]  # by family of App. B, one fit per measure
    linear: dict[str, tuple[Fit, ...]]
    baseline: dict[str, Fit]
    granulated: tuple[Granulated, ...]
    kendall: tuple[float | None, ...]

    @property
    def measures(self) -> tuple[str, ...]:
        """The names of the measures, in the order of all arrays."""
        return tuple(self.runs.measures)

    @cached_property
    def strongest(self) -> SignErrors:
        """The sign-errors to show: those of D.3 where no environment of Sec. 5 counts."""
        return self.filtered if self.filtered.kept.any() else self.filtered.weaker

    @property
    def is_weaker(self) -> bool:
        """True if what is shown is the weaker family of D.3."""
        return self.strongest is not self.filtered

    @cached_property
    def order(self) -> tuple[int, ...]:
        """The measures by their mean sign-error over all environments, as in Figure 1."""
        errors = self.strongest.errors[:, self.strongest.kept]
        means = errors.mean(axis=1) if errors.size else np.zeros(len(errors))
        return tuple(int(k) for k in np.argsort(means, kind="stable"))


def evaluate(
    runs: Runs, *, test_size: int = TEST_SIZE, min_effective: float = MIN_EFFECTIVE
) -> Evaluation:
    """The robust evaluation; `test_size` is the number of examples behind each gap."""
    if not runs.measures:
        raise ScoringError(f"{runs.name} has no measure to evaluate")
    values = np.array(list(runs.measures.values()))
    filtered, unfiltered = (
        sign_errors(runs.codes, runs.gap, values, test_size=size, min_effective=min_effective)
        for size in (test_size, None)
    )
    members = {family: family_members(runs.codes, family) for family in FAMILIES}
    return Evaluation(
        runs,
        test_size,
        filtered,
        unfiltered,
        affine={
            family: tuple(affine_oracle(of, runs.gap, c) for c in values)
            for family, of in members.items()
        },
        linear={
            family: tuple(linear_oracle(of, runs.gap, c) for c in values)
            for family, of in members.items()
        },
        baseline={family: baseline(of, runs.gap) for family, of in members.items()},
        granulated=unfiltered.granulated(runs.hparams),
        kendall=tuple(if_defined(kendall, runs.gap, values) for values in runs.measures.values()),
    )


def records(found: Evaluation) -> Iterator[Record]:
    """Everything, flat: best measure first, and for each the sign-errors before the RMSE."""
    tables = {
        "sign-error": found.filtered,
        "sign-error unfiltered": found.unfiltered,
        "weaker sign-error": found.filtered.weaker,
        "weaker sign-error unfiltered": found.unfiltered.weaker,
    }
    for k in found.order:
        measure = found.measures[k]
        for quantity, table in tables.items():
            for family in _families(table):
                summary = summarize(table.errors[k][family.of(table)])
                yield Record(measure, quantity, *_named(found.runs, family), summary)
        for name in FAMILIES:
            for quantity, fit in (
                ("rmse affine", found.affine[name][k]),
                ("rmse linear", found.linear[name][k]),
                ("rmse baseline", found.baseline[name]),
            ):
                yield Record(measure, quantity, name, None, None, summarize(fit.rmse, orders=1))


def _families(table: SignErrors) -> Iterator[Family]:
    yield ALL
    for family in hparam_families(table):
        yield family
        if family.hparam is not None:
            yield from pair_families(table, family.hparam)


def _named(runs: Runs, family: Family) -> tuple[str, Any, Any]:
    if family.hparam is None:
        return "all", None, None
    if family.values is None:
        return runs.hparams[family.hparam], None, None
    low, high = (runs.values[family.hparam][code] for code in family.values)
    return runs.hparams[family.hparam], low, high
