"""All measures' rank intervals at once are those of a loop with SciPy over the resamples."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy import stats

from scoring.bootstrap import interval
from scoring.rank import granulated
from scoring.rank_intervals import rank_intervals

LEVEL = 0.95


def slow(statistic, replicates: int, seed: int, *arrays) -> tuple[float, float]:
    rng = np.random.default_rng(seed)
    found = []
    for _ in range(replicates):
        drawn = rng.integers(len(arrays[0]), size=len(arrays[0]))
        found.append(statistic(*(array[drawn] for array in arrays)))
    found = np.array(found)[~np.isnan(found)]
    shifted = found - found.mean() + statistic(*arrays)
    low, high = np.quantile(shifted, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return max(low, -1.0), min(high, 1.0)


@pytest.mark.filterwarnings("ignore")  # SciPy on constant resamples
@pytest.mark.parametrize("digits", [9, 1])
def test_intervals_are_those_of_a_loop(digits):
    rng = np.random.default_rng(0)
    codes = np.array(list(itertools.product(range(3), range(2), range(2), range(2))))
    gap = np.round(rng.normal(size=len(codes)), digits)
    measures = np.array([gap, -gap, np.round(gap + rng.normal(size=len(gap)), digits)])
    found = rank_intervals(codes, gap, measures, replicates=50, seed=3)
    for measure, one in zip(measures, found):
        for name, statistic in (("kendall", stats.kendalltau), ("spearman", stats.spearmanr)):
            ends = slow(lambda g, m, s=statistic: s(g, m)[0], 50, 3, gap, measure)
            assert (one[name].low, one[name].high) == pytest.approx(ends, abs=1e-12)
        psi = interval(
            lambda c, g, m: granulated(c, g, m).psi,
            *(codes, gap, measure),
            bounds=(-1, 1),
            replicates=50,
            seed=3,
        )
        assert one["psi"].value == psi.value
        assert (one["psi"].low, one["psi"].high) == pytest.approx((psi.low, psi.high), abs=1e-12)


def test_a_constant_measure_has_only_a_psi():
    codes = np.array(list(itertools.product(range(3), range(3))))
    gap = np.arange(9.0)
    (found,) = rank_intervals(codes, gap, [np.ones(9)], replicates=20)
    assert set(found) == {"psi"}
    assert (found["psi"].low, found["psi"].high) == (0.0, 0.0)


def test_models_without_hyperparameters_have_no_psi():
    gap = np.random.default_rng(0).normal(size=12)
    (found,) = rank_intervals(np.zeros((12, 0), int), gap, [gap], replicates=20)
    assert set(found) == {"kendall", "spearman"}
