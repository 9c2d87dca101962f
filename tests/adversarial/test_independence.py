"""The tests of independence: eq. 5-8 and Appendix A against their definitions."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.optimize import brentq

from pgdl_measures.adversarial.independence import (
    Independence,
    Outcome,
    basic_test,
    bernstein,
    estimate,
    n_model_test,
    pairwise_test,
)

pytestmark = pytest.mark.keras2


def _bernstein(m: int, variance: float, log_delta: float, value_range: float) -> float:
    """Eq. 7 as it is printed, for a delta that a float cannot hold."""
    log = math.log(3) - log_delta
    return math.sqrt(2 * variance * log / m) + 3 * value_range * log / m


def test_the_bound_is_equation_7():
    assert bernstein(100, 0.3, 0.01, 2.0) == pytest.approx(_bernstein(100, 0.3, math.log(0.01), 2))


@pytest.mark.parametrize("m", [20, 1000, 50_000])
@pytest.mark.parametrize("value_range", [1.5, 2.0])
def test_equation_8_solves_equations_6_and_7(m, value_range):
    rng = np.random.default_rng(m)
    for scale in (0.05, 0.3, 1.0):
        differences = scale * rng.uniform(-1, value_range - 1, m) + 0.05
        found = pairwise_test(differences, value_range)
        statistic, variance = abs(differences.mean()), differences.var()

        def excess(log_delta, statistic=statistic, variance=variance):
            return statistic - _bernstein(m, variance, log_delta, value_range)

        solution = brentq(excess, -1e5, math.log(3) - 1e-12, xtol=1e-12, rtol=1e-12)
        assert math.log(3) - found.evidence == pytest.approx(solution, rel=1e-9, abs=1e-9)
        printed = (
            m
            / (9 * value_range**2)
            * (
                variance
                + 3 * value_range * statistic
                - math.sqrt(variance * (variance + 6 * value_range * statistic))
            )
        )
        assert found.evidence == pytest.approx(printed, rel=1e-6)


def test_p_is_capped_at_1_and_its_uncapped_value_orders_what_is_capped():
    tests = [pairwise_test(np.array([t, -t / 2] * 50), 2.0) for t in (0.0, 0.1, 0.4)]
    assert [test.p for test in tests] == [1.0, 1.0, 1.0]
    assert tests[0].uncapped == 3.0
    assert tests[0].uncapped > tests[1].uncapped > tests[2].uncapped > 1


def test_no_digits_are_lost_where_the_statistic_is_small():
    differences = np.r_[np.ones(5000), -np.ones(5000)] + 1e-9
    expected = len(differences) * 1e-18 / 2  # m T^2 / (2 sigma^2), to first order
    assert pairwise_test(differences, 2.0).evidence == pytest.approx(expected, rel=1e-4)


def test_n_models_are_tested_by_the_mean_of_their_differences():
    differences = np.random.default_rng(0).uniform(-1, 0.5, (7, 300))
    by_hand = pairwise_test(differences.sum(axis=0) / 7, 1.5)
    assert n_model_test(differences, 1.5) == by_hand
    assert n_model_test(differences[:1], 1.5) == pairwise_test(differences[0], 1.5)


def test_the_basic_test_rejects_where_the_two_intervals_part():
    rng = np.random.default_rng(1)
    loss = rng.random(20_000) < 0.05
    adversarial_loss = loss | (rng.random(20_000) < 0.1)
    outcome = Outcome(loss, adversarial_loss, rng.uniform(0.3, 0.5, 20_000))
    test = basic_test(outcome)
    confidence = 1 - test.p / 2
    low, high = estimate(outcome.loss, confidence), estimate(outcome.weighted_loss, confidence)
    assert low.high == pytest.approx(high.low, rel=1e-9)
    assert pairwise_test(outcome.differences, 2.0).p < test.p < 1


def test_intervals_stay_within_0_and_1_and_hold_the_estimate():
    found = estimate(np.zeros(50))
    assert (found.value, found.low) == (0.0, 0.0) and 0 < found.high <= 1
    found = estimate(np.arange(400) % 2)
    assert found.low < found.value == 0.5 < found.high
    assert found.high - 0.5 == pytest.approx(bernstein(400, 0.25, 0.025, 1.0))


def test_differences_are_those_of_equation_5():
    outcome = Outcome(
        np.array([True, False, False]),
        np.array([True, True, False]),
        np.array([0.25, 0.5, 1.0]),
    )
    assert outcome.differences.tolist() == [-0.75, 0.5, 0.0]
    assert outcome.estimates["adversarial_error"].value == pytest.approx(2 / 3)
    assert outcome.estimates["adversarial_risk"].value == pytest.approx(0.25)


def test_independence_is_a_pair_of_numbers():
    assert Independence(0.1, math.log(30)).p == pytest.approx(0.1)
