"""Partial rank correlation against its definition by residuals, and where it is undefined."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from scoring.errors import ScoringError
from scoring.partial import partial_spearman


@pytest.mark.parametrize("seed", range(8))
def test_it_is_the_correlation_of_what_the_third_quantity_leaves_of_the_ranks(seed):
    rng = np.random.default_rng(seed)
    x, y, z = np.round(rng.normal(size=(3, 3)) @ rng.normal(size=(3, 40)), 1)  # with ties
    rank_x, rank_y, rank_z = map(stats.rankdata, (x, y, z))
    padded = np.stack([np.ones(40), rank_z], axis=1)
    left = [r - padded @ np.linalg.lstsq(padded, r, rcond=None)[0] for r in (rank_x, rank_y)]
    assert partial_spearman(x, y, z) == pytest.approx(stats.pearsonr(*left)[0], abs=1e-9)


def test_it_tells_a_common_cause_from_a_connection():
    cause, one, other = np.random.default_rng(0).normal(size=(3, 2000))
    assert stats.spearmanr(cause + 0.3 * one, cause + 0.3 * other)[0] > 0.8
    assert abs(partial_spearman(cause + 0.3 * one, cause + 0.3 * other, cause)) < 0.06


def test_it_is_undefined_where_a_quantity_has_the_order_of_the_one_that_is_fixed():
    x, y = np.random.default_rng(0).normal(size=(2, 14))
    for measure in (np.exp(x), -x):
        with pytest.raises(ScoringError, match="undefined: the second quantity orders the models"):
            partial_spearman(y, measure, x)
        with pytest.raises(ScoringError, match="undefined: the first"):
            partial_spearman(measure, y, x)
    with pytest.raises(ScoringError, match="undefined"):
        partial_spearman(x, y, np.ones(14))
