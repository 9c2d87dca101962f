"""Robust RMSE against generic optimizers on the epigraph, and against closed forms."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from robust_runs import random_runs
from scipy.optimize import minimize

from scoring.errors import ScoringError
from scoring.robust.oracles import (
    FAMILIES,
    affine_oracle,
    baseline,
    family_members,
    linear_oracle,
)


def squares(members: tuple, gap: np.ndarray, measure: np.ndarray) -> np.ndarray:
    """Q [environments, 3, 3]: the mean square of a C + b - G in each is (a, b, 1) Q (a, b, 1)'."""
    rows = np.stack([measure, np.ones_like(gap), -gap], axis=1)
    chosen = [rows[member == e] for member in members for e in range(member.max() + 1)]
    return np.array([runs.T @ runs / len(runs) for runs in chosen])


def generic(members: tuple, gap: np.ndarray, measure: np.ndarray, *, affine: bool) -> float:
    """min t subject to t >= the mean square of every environment, by SLSQP, as a root."""
    spread = gap.std()
    forms = squares(members, gap / spread, measure / np.abs(measure).max())

    def slack(x: np.ndarray) -> np.ndarray:
        point = np.array([x[0], x[1] * affine, 1.0])
        return x[2] - point @ forms @ point

    found = []
    for start in ((0.0, 0.0), (1.0, 0.0), (3.0, 1.0)):
        level = -slack(np.array([*start, 0.0])).min()
        result = minimize(
            lambda x: x[2],
            [*start, level],
            bounds=[(0, None), (None, None), (0, None)],
            constraints={"type": "ineq", "fun": slack},
            options={"maxiter": 500, "ftol": 1e-14},
        )
        found.append(-slack(np.array([result.x[0], result.x[1], 0.0])).min())
    return float(np.sqrt(min(found)) * spread)


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("seed", range(3))
def test_it_is_the_optimum_of_a_generic_solver(family: str, seed: int) -> None:
    runs = random_runs(repeats=3, seed=seed, lose=6)
    members = family_members(runs.codes, family)
    for values in (*runs.measures.values(), 50 + 1e4 * runs.measures["good"], -runs.gap):
        for oracle, affine in ((affine_oracle, True), (linear_oracle, False)):
            fit = oracle(members, runs.gap, values)
            expected = generic(members, runs.gap, values, affine=affine)
            assert fit.slope >= 0
            assert fit.robust == pytest.approx(expected, rel=1e-6)
            point = np.array([fit.slope, fit.intercept, 1.0])
            at_fit = point @ squares(members, runs.gap, values) @ point
            assert fit.rmse == pytest.approx(np.sqrt(at_fit), rel=1e-5)


def test_the_families_are_those_of_the_paper() -> None:
    cells = np.array(list(itertools.product(*map(range, (5, 5, 5, 2, 4)))))
    sizes = [sum(m.max() + 1 for m in family_members(cells, family)) for family in FAMILIES]
    assert sizes == [1000, 1350, 21]
    with pytest.raises(ScoringError, match="no family 'none'"):
        family_members(cells, "none")


def test_a_constant_hyperparameter_makes_no_environments() -> None:
    runs = random_runs(repeats=3, lose=6)
    constant = np.zeros((len(runs.codes), 1), dtype=int)
    for family in FAMILIES:
        without = family_members(runs.codes, family)
        found = family_members(np.hstack([runs.codes, constant]), family)
        assert [m.tolist() for m in found] == [m.tolist() for m in without]
    with pytest.raises(ScoringError, match="all 2 models have the same hyperparameters"):
        family_members([[0, 1], [0, 1]], "one varies")


def test_one_varies_only_where_it_has_two_values() -> None:
    codes = np.array([[0, 0], [1, 0], [1, 0], [1, 1]])
    first, second = family_members(codes, "one varies")
    assert first.tolist() == [0, 0, 0, -1]  # the last one is alone in its row of the grid
    assert second.tolist() == [-1, 0, 0, 0]
    gap = np.array([0.1, 0.2, 0.3, 0.5])
    fit = baseline((first, second), gap)
    expected = [
        np.sqrt(np.mean((gap[some] - fit.intercept) ** 2)) for some in ([0, 1, 2], [1, 2, 3])
    ]
    assert fit.rmse == pytest.approx(expected)


def test_a_measure_that_is_affine_in_the_gap_is_perfect() -> None:
    runs = random_runs()
    members = family_members(runs.codes, "each setting")
    fit = affine_oracle(members, runs.gap, 4 * runs.gap - 3)
    assert (fit.slope, fit.intercept) == pytest.approx((0.25, 0.75))
    assert fit.robust == pytest.approx(0, abs=1e-7)
    assert linear_oracle(members, runs.gap, 4 * runs.gap).slope == pytest.approx(0.25)


def test_the_baseline_of_one_run_per_setting_is_the_middle_of_the_gaps() -> None:
    codes = np.arange(4)[:, None]
    gap = np.array([0.1, 0.12, 0.15, 0.3])
    fit = baseline(family_members(codes, "each setting"), gap)
    assert fit.intercept == pytest.approx(0.2) and fit.robust == pytest.approx(0.1)


@pytest.mark.parametrize("useless", [np.zeros(48), np.full(48, 7.0)])
def test_a_constant_measure_is_the_baseline(useless: np.ndarray) -> None:
    runs = random_runs()
    members = family_members(runs.codes, "one varies")
    expected = baseline(members, runs.gap).robust
    assert affine_oracle(members, runs.gap, useless).robust == pytest.approx(expected)
    assert linear_oracle(members, runs.gap, useless).robust >= expected


def test_a_backwards_measure_gets_no_negative_slope() -> None:
    runs = random_runs()
    members = family_members(runs.codes, "one fixed")
    fit = affine_oracle(members, runs.gap, -runs.gap)
    assert fit.slope == 0
    assert fit.robust == pytest.approx(baseline(members, runs.gap).robust)
    assert linear_oracle(members, runs.gap, -runs.gap).slope == 0


def test_equal_gaps_are_fitted_by_themselves() -> None:
    runs = random_runs()
    members = family_members(runs.codes, "each setting")
    fit = affine_oracle(members, np.full_like(runs.gap, 0.2), runs.measures["blind"])
    assert fit.robust == pytest.approx(0, abs=1e-9)
