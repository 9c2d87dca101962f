"""What the competition's score is, and that arrays compute what the definition says."""

from __future__ import annotations

import itertools
import math
from collections import Counter

import numpy as np
import pytest

import scoring.cmi
from scoring.cmi import cmi
from scoring.errors import ScoringError


def grid(*sizes: int) -> np.ndarray:
    return np.array(list(itertools.product(*map(range, sizes)))).reshape(-1, len(sizes))


def brute_force(values, gap, measure, *, self_pairs=True) -> float:
    """The definition read aloud: a loop over pairs of models, groups keyed by their values."""
    hparams = range(len(values[0]))
    scores = []
    for chosen in itertools.combinations(hparams, min(2, len(hparams))):
        groups: dict[tuple, Counter] = {}
        for i, j in itertools.product(range(len(gap)), repeat=2):
            if i == j and not self_pairs:
                continue
            key = tuple((values[i][k], values[j][k]) for k in chosen)
            groups.setdefault(key, Counter())[gap[i] > gap[j], measure[i] > measure[j]] += 1
        information, entropy = 0.0, 0.0
        for pairs in groups.values():
            n = sum(pairs.values())
            for a in (False, True):
                p_a = (pairs[a, False] + pairs[a, True]) / n
                entropy -= p_a * math.log2(p_a + 1e-12) / len(groups)
                for b in (False, True):
                    p_b = (pairs[False, b] + pairs[True, b]) / n
                    if pairs[a, b] > 0:
                        p_ab = pairs[a, b] / n
                        information += p_ab * math.log2(p_ab / (p_a * p_b)) / len(groups)
        if abs(entropy) > 1e-9:
            scores.append(information / entropy)
    return min(scores)


def random_case(seed: int):
    """A grid that may be incomplete and may have repeats; gaps and measures with ties."""
    rng = np.random.default_rng(seed)
    codes = grid(*rng.integers(1, 4, size=rng.integers(1, 5)))
    codes = np.repeat(codes, 2, axis=0)
    codes = codes[rng.permutation(len(codes))[: max(4, int(0.7 * len(codes)))]]
    gap = rng.integers(0, 8, size=len(codes)) / 8
    gap[0] = 2.0  # not all equal
    measure = gap + rng.integers(-3, 4, size=len(codes)) / 4
    return codes, gap, measure


@pytest.mark.parametrize("seed", range(40))
def test_equals_the_definition_on_random_grids(seed):
    codes, gap, measure = random_case(seed)
    try:
        ours = cmi(codes, gap, measure).score
    except ScoringError:
        with pytest.raises(ValueError):  # the minimum of no scores
            brute_force(codes.tolist(), gap.tolist(), measure.tolist())
        return
    expected = brute_force(codes.tolist(), gap.tolist(), measure.tolist())
    assert ours == pytest.approx(expected, abs=1e-12)


def test_values_whose_text_runs_together_are_different_groups():
    codes = grid(3, 3, 3)
    values = np.array([1, 11, 112])[codes]
    gap, measure = np.random.default_rng(0).normal(size=(2, len(codes)))
    expected = brute_force(values.tolist(), gap.tolist(), measure.tolist())
    assert cmi(codes, gap, measure).score == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("sizes", [(2, 2, 2, 3, 2, 2), (3, 3, 3, 2), (4, 2, 2)])
class TestOnCompleteGrids:
    def gap(self, sizes):
        return np.random.default_rng(1).normal(size=len(grid(*sizes)))

    def test_perfect_measure_scores_one(self, sizes):
        gap = self.gap(sizes)
        assert cmi(grid(*sizes), gap, gap).score == pytest.approx(1.0, abs=1e-9)

    def test_negation_of_the_perfect_measure_loses_only_by_self_pairs(self, sizes):
        # V_mu = 1 - V_g for two different models; a self-pair is 0 in both, which the organizers
        # count. Without self-pairs the score of the negation is 1, with them it is a little less.
        codes, gap, negated = grid(*sizes).tolist(), self.gap(sizes).tolist(), -self.gap(sizes)
        alone = brute_force(codes, gap, negated.tolist(), self_pairs=False)
        assert alone == pytest.approx(1.0, abs=1e-9)
        score = cmi(codes, gap, negated).score
        assert score == pytest.approx(brute_force(codes, gap, negated.tolist()), abs=1e-12)
        assert 0.8 < score < 1.0

    def test_constant_scores_exactly_zero(self, sizes):
        assert cmi(grid(*sizes), self.gap(sizes), np.full(len(grid(*sizes)), 3.0)).score == 0.0

    def test_only_the_order_of_the_measure_matters(self, sizes):
        gap, measure = self.gap(sizes), np.random.default_rng(2).normal(size=len(grid(*sizes)))
        score = cmi(grid(*sizes), gap, measure)
        assert cmi(grid(*sizes), gap, np.exp(measure)) == score
        assert cmi(grid(*sizes), np.arctan(gap), 5 * measure**3 - 7) == score

    def test_names_of_values_do_not_matter(self, sizes):
        codes = grid(*sizes)
        gap, measure = np.random.default_rng(3).normal(size=(2, len(codes)))
        rng = np.random.default_rng(4)
        renamed = np.stack([rng.permutation(n)[codes[:, k]] for k, n in enumerate(sizes)], axis=1)
        expected = cmi(codes, gap, measure).score
        assert cmi(renamed, gap, measure).score == pytest.approx(expected, abs=1e-13)

    def test_order_of_models_does_not_matter(self, sizes):
        codes = grid(*sizes)
        gap, measure = np.random.default_rng(5).normal(size=(2, len(codes)))
        order = np.random.default_rng(6).permutation(len(codes))
        expected = cmi(codes, gap, measure).score
        assert cmi(codes[order], gap[order], measure[order]).score == pytest.approx(expected)


def test_table_has_every_pair_and_marks_the_smallest():
    codes = grid(2, 3, 2)
    gap, measure = np.random.default_rng(7).normal(size=(2, len(codes)))
    result = cmi(codes, gap, measure, hparams=("width", "depth", "seed"))
    labels = [pair.label for pair in result.pairs]
    assert labels == ["width, depth", "width, seed", "depth, seed"]
    assert [pair.groups for pair in result.pairs] == [36, 16, 36]
    assert result.score == result.minimum.score == min(pair.score for pair in result.pairs)
    assert result.empty_groups == 0


def test_empty_groups_are_counted_and_left_out_of_the_means():
    codes = grid(2, 2, 2, 2)
    gap, measure = np.random.default_rng(8).normal(size=(2, len(codes)))
    kept = ~(
        (codes[:, 0] == 1) & (codes[:, 1] == 1)
    )  # one of four cells of the first pair is empty
    result = cmi(codes[kept], gap[kept], measure[kept])
    assert [pair.empty_groups for pair in result.pairs] == [7, 0, 0, 0, 0, 0]  # 16 - 3^2
    expected = brute_force(codes[kept].tolist(), gap[kept], measure[kept])
    assert result.score == pytest.approx(expected, abs=1e-12)


def test_a_possible_value_without_models_makes_empty_groups_but_no_other_score():
    codes = grid(2, 2, 2)
    gap, measure = np.random.default_rng(9).normal(size=(2, len(codes)))
    wider = cmi(codes, gap, measure, sizes=(3, 2, 2))
    assert wider.empty_groups > 0
    assert wider.score == pytest.approx(cmi(codes, gap, measure).score, abs=1e-13)


def test_the_number_of_values_costs_nothing():
    codes = np.repeat(grid(2, 2, 2), 2, axis=0)
    gap, measure = np.random.default_rng(14).normal(size=(2, len(codes)))
    result = cmi(1000 * codes, gap, measure, sizes=(10_000,) * 3)
    assert result.score == cmi(codes, gap, measure).score
    assert [pair.empty_groups for pair in result.pairs] == [10**16 - 16] * 3


@pytest.mark.parametrize("cell", [1, 4096])  # models: sums in float64, or in float32
def test_neither_blocks_nor_precision_decide_a_digit(cell, monkeypatch):
    codes, gap, measure = random_case(1)
    expected = cmi(codes, gap, measure)
    monkeypatch.setattr(scoring.cmi, "LARGE_PRODUCT", 1)
    monkeypatch.setattr(scoring.cmi, "EXACT_IN_FLOAT32", cell)
    assert cmi(codes, gap, measure) == expected


def test_hyperparameters_that_differ_in_all_models_leave_nothing_to_predict():
    codes = np.random.default_rng(15).permuted(np.tile(np.arange(300), (3, 1)), axis=1).T
    with pytest.raises(ScoringError, match="undefined"):
        cmi(codes, np.arange(300), np.arange(300))


def test_one_hyperparameter_is_the_condition_by_itself():
    codes = np.repeat(grid(3), 6, axis=0)
    gap, measure = np.random.default_rng(10).normal(size=(2, len(codes)))
    result = cmi(codes, gap, measure)
    assert [pair.hparams for pair in result.pairs] == [("h0",)]
    assert result.score == pytest.approx(brute_force(codes.tolist(), gap, measure), abs=1e-12)


def test_without_hyperparameters_all_pairs_form_one_group():
    gap, measure = np.random.default_rng(11).normal(size=(2, 12))
    result = cmi(np.zeros((12, 0)), gap, measure)
    assert [(pair.hparams, pair.groups) for pair in result.pairs] == [((), 1)]
    expected = brute_force([[]] * 12, gap, measure)
    assert result.score == pytest.approx(expected, abs=1e-12)


def test_a_pair_that_leaves_nothing_to_predict_takes_no_part_in_the_minimum():
    codes = np.repeat(grid(2, 2, 2), 1, axis=0)
    gap = codes @ [4.0, 2.0, 0.0]  # fixed by the first two hyperparameters
    result = cmi(codes, gap, np.random.default_rng(12).normal(size=8))
    assert math.isnan(result.pairs[0].score)
    assert not math.isnan(result.score)


@pytest.mark.parametrize(
    ("codes", "gap"),
    [
        (grid(2, 2), [0.1, 0.2, 0.3, 0.4]),  # both hyperparameters fixed: one model per group
        (grid(2, 2, 2), [0.5] * 8),
        (np.zeros((1, 3)), [0.5]),
    ],
)
def test_score_is_refused_where_nothing_is_left_to_predict(codes, gap):
    with pytest.raises(ScoringError, match="undefined"):
        cmi(codes, gap, np.arange(len(gap)))


@pytest.mark.parametrize(
    ("codes", "gap", "measure", "message"),
    [
        (grid(2, 2), [0, 1, 2, math.nan], [0, 1, 2, 3], "gap of model number 3 is nan"),
        (grid(2, 2), [0, 1, 2, 3], [0, math.inf, 2, 3], "measure of model number 1 is inf"),
        (grid(2, 2), [0, 1, 2], [0, 1, 2, 3], r"gap has the shape \(3,\), but there are 4 models"),
        ([0, 1], [0, 1], [0, 1], "codes must be"),
        (np.zeros((0, 2)), [], [], "no models"),
    ],
)
def test_bad_arrays_are_refused(codes, gap, measure, message):
    with pytest.raises(ScoringError, match=message):
        cmi(codes, gap, measure)
