"""All measures' intervals at once are those of a loop over measures and resamples."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from scoring.cmi import cmi, conditioning_sets
from scoring.cmi_intervals import cmi_intervals
from scoring.errors import ScoringError

LEVEL = 0.95


def grid(*sizes: int) -> np.ndarray:
    return np.array(list(itertools.product(*map(range, sizes)))).reshape(-1, len(sizes))


def slow_interval(codes, gap, measure, replicates: int, seed: int) -> tuple[float, float, int]:
    """Low, high and the number of undefined resamples, drawn and scored one by one."""
    rng = np.random.default_rng(seed)
    found = []
    for _ in range(replicates):
        drawn = rng.integers(len(gap), size=len(gap))
        try:
            found.append(cmi(codes[drawn], gap[drawn], measure[drawn]).score)
        except ScoringError:
            continue
    centred = np.array(found) - np.mean(found) + cmi(codes, gap, measure).score
    low, high = np.clip(np.quantile(centred, [(1 - LEVEL) / 2, (1 + LEVEL) / 2]), 0.0, 1.0)
    return low, high, replicates - len(found)


def measures_of(gap: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """The gap itself, its negation, a constant, noise, and values with ties."""
    noise = rng.normal(size=(2, len(gap)))
    return np.array([gap, -gap, np.ones_like(gap), noise[0], np.round(gap + noise[1], 1)])


@pytest.mark.parametrize(
    ("codes", "digits"),
    [
        (grid(2, 2, 2, 3, 2, 2), 9),
        (grid(3, 3, 3, 2), 1),  # with ties of the gap
        (np.repeat(grid(3, 2), 5, axis=0), 9),
        (np.repeat(grid(4), 6, axis=0), 9),
        (np.zeros((20, 0), int), 9),
        (grid(4, 3, 3, 2)[::2] * 10, 9),  # incomplete, and with values that never occur
        (grid(2, 2, 2), 9),  # some resamples have nothing to predict
    ],
)
def test_intervals_are_those_of_a_loop(codes, digits):
    rng = np.random.default_rng(0)
    gap = np.round(rng.normal(size=len(codes)), digits)
    measures = measures_of(gap, rng)
    scores = [cmi(codes, gap, measure).score for measure in measures]
    found = cmi_intervals(codes, gap, measures, scores, replicates=60, seed=3)
    for measure, score, one in zip(measures, scores, found):
        low, high, undefined = slow_interval(codes, gap, measure, 60, seed=3)
        assert one.value == score
        assert (one.low, one.high) == pytest.approx((low, high), abs=1e-12)
        assert (one.replicates, one.undefined) == (60 - undefined, undefined)


def test_more_resamples_than_are_computed_at_a_time():
    rng = np.random.default_rng(1)
    codes, gap = grid(3, 2, 2), rng.normal(size=12)
    measure = gap + rng.normal(size=12)
    score = cmi(codes, gap, measure).score
    (found,) = cmi_intervals(codes, gap, [measure], [score], replicates=600)
    low, high, undefined = slow_interval(codes, gap, measure, 600, seed=0)
    assert (found.low, found.high) == pytest.approx((low, high), abs=1e-12)
    assert found.undefined == undefined


def test_every_conditioning_set_is_told():
    rng = np.random.default_rng(2)
    codes, gap = grid(2, 2, 2, 2), rng.normal(size=16)
    told = []
    cmi_intervals(codes, gap, [gap], [1.0], replicates=10, step=lambda: told.append(1))
    assert len(told) == len(conditioning_sets(4)) == 6


def test_too_few_models_have_no_interval():
    codes, gap = np.array([[0], [0]]), np.array([0.1, 0.2])
    with pytest.raises(ScoringError, match="no interval: of 100 resamples of 2 models only"):
        cmi_intervals(codes, gap, [gap], [1.0], replicates=100, seed=3)
