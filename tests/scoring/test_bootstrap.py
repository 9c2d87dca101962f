"""Bootstrap intervals: reproducible, around the value, and of roughly the right width."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from scoring.bootstrap import interval
from scoring.cmi import cmi
from scoring.errors import ScoringError
from scoring.rank import kendall, pearson

GRID = np.array(list(itertools.product(range(2), range(2), range(2), range(3), range(2))))


def score(codes, gap, measure) -> float:
    return cmi(codes, gap, measure).score


def draw(codes, strength: float, seed: int):
    """Gaps and a measure that share `strength` of their noise."""
    own, shared = np.random.default_rng(seed).normal(size=(2, len(codes)))
    return shared, strength * shared + np.sqrt(1 - strength**2) * own


def test_same_seed_same_interval():
    gap, measure = draw(GRID, 0.5, 0)
    first, again, other = (
        interval(score, GRID, gap, measure, bounds=(0, 1), replicates=50, seed=seed)
        for seed in (1, 1, 2)
    )
    assert first == again
    assert (first.low, first.high) != (other.low, other.high)


def test_interval_holds_the_value_and_stays_in_bounds():
    gap, measure = draw(GRID, 0.0, 3)
    found = interval(score, GRID, gap, measure, bounds=(0, 1), replicates=200)
    assert found.value == score(GRID, gap, measure)
    assert 0 <= found.low <= found.value <= found.high <= 1
    assert (found.replicates, found.undefined) == (200, 0)


def test_a_measure_that_knows_nothing_is_not_told_to_know_something():
    # The plain percentiles of this interval start above the score of a large zoo, which is 0.
    lows = [
        interval(score, GRID, *draw(GRID, 0.0, seed), bounds=(0, 1), replicates=100).low
        for seed in range(10)
    ]
    assert np.mean(np.array(lows) < 0.002) >= 0.8


def test_intervals_cover_the_score_of_a_large_zoo():
    large = np.repeat(GRID, 20, axis=0)
    truth = score(large, *draw(large, 0.8, 0))
    found = [
        interval(score, GRID, *draw(GRID, 0.8, seed), bounds=(0, 1), replicates=100)
        for seed in range(1, 31)
    ]
    assert sum(one.low <= truth <= one.high for one in found) >= 25  # 95 % of 30 is 28.5


def test_width_agrees_with_the_textbook_for_pearson():
    rng = np.random.default_rng(4)
    gap = rng.normal(size=400)
    measure = 0.6 * gap + 0.8 * rng.normal(size=400)
    found = interval(pearson, gap, measure, bounds=(-1, 1), replicates=500)
    fisher = np.tanh(np.arctanh(found.value) + np.array([-1.96, 1.96]) / np.sqrt(397))
    np.testing.assert_allclose([found.low, found.high], fisher, atol=0.025)


def test_resamples_without_a_value_are_counted_or_refused():
    found = interval(kendall, [1, 2, 3], [1, 3, 2], bounds=(-1, 1), replicates=200)
    assert found.undefined > 0
    assert found.replicates + found.undefined == 200
    with pytest.raises(ScoringError, match="undefined"):
        interval(kendall, [1, 1], [1, 2], bounds=(-1, 1))


def test_no_interval_rests_on_a_minority_of_resamples():
    def needs_three(models) -> float:
        if len(set(models.tolist())) < 3:
            raise ScoringError("too few")
        return 1.0

    with pytest.raises(ScoringError, match="no interval: of 200 resamples of 3 models only"):
        interval(needs_three, [1, 2, 3], bounds=(0, 1), replicates=200)
