"""Rank statistics against SciPy and against their definition as a loop."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy import stats

from scoring.errors import ScoringError
from scoring.rank import granulated, kendall, pearson, spearman

GRID = np.array(list(itertools.product(range(3), range(2), range(4))))


def brute_psi(codes, gap, measure) -> float:
    """Jiang et al. 2020a: tau-a among models that differ in one hyperparameter, averaged twice."""
    psis = []
    for k in range(codes.shape[1]):
        settings: dict[tuple, list[int]] = {}
        for model, row in enumerate(codes.tolist()):
            settings.setdefault(tuple(row[:k] + row[k + 1 :]), []).append(model)
        taus = []
        for models in settings.values():
            pairs = [(i, j) for i in models for j in models if codes[i, k] != codes[j, k]]
            if pairs:
                agree = [
                    np.sign(gap[i] - gap[j]) * np.sign(measure[i] - measure[j]) for i, j in pairs
                ]
                taus.append(np.mean(agree))
        if taus:
            psis.append(np.mean(taus))
    return float(np.mean(psis))


@pytest.mark.parametrize("seed", range(10))
def test_psi_equals_its_definition_with_ties_gaps_and_repeats(seed):
    rng = np.random.default_rng(seed)
    codes = np.repeat(GRID, 2, axis=0)[rng.permutation(2 * len(GRID))[:30]]
    gap, measure = rng.integers(0, 6, size=(2, len(codes))).astype(float)
    expected = brute_psi(codes, gap, measure)
    assert granulated(codes, gap, measure).psi == pytest.approx(expected)


def test_psi_of_a_setting_is_scipys_tau_where_there_are_no_ties():
    gap, measure = np.random.default_rng(0).normal(size=(2, 5))
    psi = granulated(np.arange(5)[:, None], gap, measure).psi
    assert psi == pytest.approx(stats.kendalltau(gap, measure)[0])


def test_psi_is_one_for_the_gap_and_minus_one_for_its_negation():
    gap = np.random.default_rng(1).normal(size=len(GRID))
    names = ("a", "b", "c")
    perfect = granulated(GRID, gap, gap, hparams=names)
    assert (perfect.psi, perfect.by_hparam) == (1.0, dict.fromkeys(names, 1.0))
    assert granulated(GRID, gap, -gap).psi == -1.0


def test_psi_weighs_hyperparameters_equally():
    gap = GRID @ [100.0, 10.0, 1.0]
    result = granulated(GRID, gap, GRID @ [100.0, -10.0, 1.0])
    assert result.by_hparam == {"h0": 1.0, "h1": -1.0, "h2": 1.0}
    assert result.psi == pytest.approx(1 / 3)


@pytest.mark.parametrize(
    ("ours", "scipys"),
    [(kendall, stats.kendalltau), (spearman, stats.spearmanr), (pearson, stats.pearsonr)],
)
def test_correlations_are_scipys(ours, scipys):
    gap, measure = np.random.default_rng(2).integers(0, 9, size=(2, 40))
    assert ours(gap, measure) == pytest.approx(scipys(gap, measure)[0])


@pytest.mark.parametrize("statistic", [kendall, spearman, pearson])
@pytest.mark.parametrize(
    ("gap", "measure", "message"),
    [
        ([1, 2, 3], [5, 5, 5], "undefined: the measure of all 3 models is the same"),
        ([1, 1, 1], [1, 2, 3], "undefined: the gap"),
        ([1, 2, 3], [1, np.nan, 3], "measure of model number 1 is nan"),
        ([1, 2, 3], [1, 2], "vectors of one length"),
    ],
)
def test_undefined_correlations_are_errors_not_nan(statistic, gap, measure, message):
    with pytest.raises(ScoringError, match=message):
        statistic(gap, measure)


def test_psi_needs_models_that_differ_in_one_hyperparameter():
    with pytest.raises(ScoringError, match="no two models differ in exactly one"):
        granulated([[0, 0], [1, 1]], [0.1, 0.2], [1, 2])
