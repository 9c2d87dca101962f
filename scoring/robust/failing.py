"""The environments in which a measure fails (Dziugaite et al. 2020, Section 6: "dig deeper").

A sign-error above one half says that a measure is worse than chance there. The list names both
settings, so that one can look at the runs behind a robust sign-error of 1.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from scoring.errors import ScoringError
from scoring.robust.evaluation import Evaluation

COIN = 0.5  # the sign-error of guessing


@dataclass(frozen=True)
class Failure:
    """An environment with a measure's sign-error in it."""

    measure: str
    sign_error: float
    n_eff: float
    hparam: str
    low: Any  # between which two of its values
    high: Any
    others: Mapping[str, Any]  # at which values of the others; empty in the weaker family


def failing_environments(
    found: Evaluation, measure: str, *, above: float = COIN
) -> tuple[Failure, ...]:
    """The environments with a sign-error above a limit, the worst first."""
    if measure not in found.measures:
        raise ScoringError(f"no measure {measure!r}; there are {', '.join(found.measures)}")
    table, runs = found.strongest, found.runs
    errors = table.errors[found.measures.index(measure)]
    failing = np.flatnonzero(np.nan_to_num(errors) > above)
    worst_first = failing[np.lexsort((-table.n_eff[failing], -errors[failing]))]
    failures = []
    for e in worst_first:
        k = int(table.hparam[e])
        low, high = (runs.values[k][code] for code in table.values[e])
        others: dict[str, Any] = {}
        if not found.is_weaker:
            # `others` numbers the distinct values of the other hyperparameters in sorted order.
            rest = np.delete(runs.codes, k, axis=1)
            cell = np.unique(rest, axis=0)[table.others[e]] if rest.shape[1] else ()
            names = [n for j, n in enumerate(runs.hparams) if j != k]
            values = [v for j, v in enumerate(runs.values) if j != k]
            others = {name: v[code] for name, v, code in zip(names, values, cell)}
        failures.append(
            Failure(
                measure,
                float(errors[e]),
                float(table.n_eff[e]),
                runs.hparams[k],
                low,
                high,
                others,
            )
        )
    return tuple(failures)
