"""Oracles fitted again for each row of Figures 6 and 7 of Dziugaite et al. 2020.

The authors' script fits one oracle to all environments of a family, which is the top row, and one
to the environments of each hyperparameter alone, which are the other rows.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from scoring.robust.oracles import Fit, affine_oracle, baseline, family_members
from scoring.robust.runs import Runs


@dataclass(frozen=True, eq=False)
class OracleRow:
    """The affine oracles of all measures, and the constant, on the environments of one row."""

    name: str  # `all`, or the hyperparameter
    fits: tuple[Fit, ...]  # one per measure
    baseline: Fit


def oracle_rows(runs: Runs, family: str) -> tuple[OracleRow, ...]:
    """The rows of a family of `oracles.FAMILIES`; a single one where each setting is alone."""
    members = family_members(runs.codes, family)
    rows = {"all": members}
    if family != "each setting":
        varying = [name for name, column in zip(runs.hparams, runs.codes.T) if np.ptp(column) > 0]
        rows |= {name: (of_hparam,) for name, of_hparam in zip(varying, members)}
    return tuple(
        OracleRow(
            name,
            tuple(affine_oracle(of, runs.gap, values) for values in runs.measures.values()),
            baseline(of, runs.gap),
        )
        for name, of in rows.items()
    )
