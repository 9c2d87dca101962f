"""Sign-errors against the paper's equations written as loops over all pairs of runs."""

from __future__ import annotations

import itertools
import math
from collections import defaultdict

import numpy as np
import pytest
from robust_runs import random_runs

from scoring.errors import ScoringError
from scoring.rank import granulated
from scoring.robust import sign_errors as robust
from scoring.robust.environments import find_environments, find_settings
from scoring.robust.families import ALL, Family, hparam_families, pair_families, summarize
from scoring.robust.runs import Runs
from scoring.robust.sign_errors import SignErrors, hoeffding_weight, sign_errors

TEST_SIZE = 4000


def kappa(first: float, second: float, test_size: int | None) -> float:
    """Eq. 6, with the bound on a probability cut at 0."""
    if test_size is None:
        return 1.0
    epsilon = abs(first - second) / 2
    at_least = max(0.0, 1 - 2 * math.exp(-2 * test_size * epsilon**2))
    return max(0.0, at_least**2 - 0.5)


def looped(
    runs: Runs, measure: str, test_size: int | None, *, weaker: bool
) -> dict[tuple, tuple[float, float]]:
    """(hparam, low, high, other values) -> (sign-error, n_eff), one step per pair of runs."""
    gap, values = runs.gap.tolist(), runs.measures[measure].tolist()
    codes = list(map(tuple, runs.codes.tolist()))
    samples = defaultdict(list)
    for i, j in itertools.permutations(range(len(gap)), 2):
        differ = [k for k, (a, b) in enumerate(zip(codes[i], codes[j])) if a != b]
        if len(differ) == 1 and codes[i] < codes[j]:
            k = differ[0]
            others = () if weaker else codes[i][:k] + codes[i][k + 1 :]
            agree = np.sign(gap[j] - gap[i]) * np.sign(values[j] - values[i])
            sample = kappa(gap[i], gap[j], test_size), (1 - agree) / 2
            samples[k, codes[i][k], codes[j][k], others].append(sample)
    found = {}
    for key, pairs in samples.items():
        total = sum(weight for weight, _ in pairs)
        error = sum(weight * loss for weight, loss in pairs) / total if total else math.nan
        found[key] = error, total**2 / sum(weight**2 for weight, _ in pairs) if total else 0.0
    return found


def keys(found: SignErrors, runs: Runs, *, weaker: bool) -> list[tuple]:
    """The environments in the loop's words; the other values are numbered in sorted order."""
    others = [np.unique(np.delete(runs.codes, k, axis=1), axis=0) for k in range(3)]
    return [
        (k, low, high, () if weaker else tuple(others[k][n].tolist()))
        for k, (low, high), n in zip(found.hparam, found.values.tolist(), found.others)
    ]


@pytest.mark.parametrize("test_size", [TEST_SIZE, None])
@pytest.mark.parametrize("weaker", [False, True])
def test_they_are_those_of_the_loop(test_size: int | None, weaker: bool) -> None:
    runs = random_runs(repeats=4, lose=7)
    found = sign_errors(
        runs.codes, runs.gap, list(runs.measures.values()), test_size=test_size, min_effective=8
    )
    found = found.weaker if weaker else found
    names = keys(found, runs, weaker=weaker)
    assert weaker or 0 < found.kept.sum() < len(names)
    for row, measure in zip(found.errors, runs.measures):
        expected = looped(runs, measure, test_size, weaker=weaker)
        assert dict(zip(names, found.n_eff)) == pytest.approx(
            {key: n_eff for key, (_, n_eff) in expected.items()}
        )
        counted = {key: error for key, (error, n_eff) in expected.items() if n_eff >= 8}
        here = {key: error for key, error in zip(names, row) if not math.isnan(error)}
        assert here == pytest.approx(counted, abs=1e-12)
        for family in (ALL, Family(0), Family(0, (0, 2))):
            errors = [
                error
                for (k, *values, _), error in counted.items()
                if family.hparam in (None, k) and family.values in (None, tuple(values))
            ]
            summary = summarize(row[family.of(found)])
            assert summary.kept == len(errors) > 0
            assert (summary.maximum, summary.mean) == pytest.approx((max(errors), np.mean(errors)))


def test_psi_is_that_of_the_rank_statistics() -> None:
    runs = random_runs(repeats=3, lose=5)
    unfiltered = sign_errors(runs.codes, runs.gap, list(runs.measures.values()), test_size=None)
    for found, values in zip(unfiltered.granulated(runs.hparams), runs.measures.values()):
        expected = granulated(runs.codes, runs.gap, values, hparams=runs.hparams)
        assert found.psi == pytest.approx(expected.psi)
        assert found.by_hparam == pytest.approx(expected.by_hparam)


def test_a_measure_that_is_the_gap_never_errs_and_its_negative_always_does() -> None:
    runs = random_runs()
    found = sign_errors(
        runs.codes, runs.gap, [runs.gap, -runs.gap, np.ones_like(runs.gap)], test_size=TEST_SIZE
    )
    right, wrong, constant = found.errors[:, found.kept]
    assert right == pytest.approx(0) and wrong == pytest.approx(1)
    assert constant == pytest.approx(0.5)


def test_the_grid_of_the_paper_has_its_number_of_environments() -> None:
    cells = list(itertools.product(*map(range, (5, 5, 5, 2, 4))))
    found = find_environments(find_settings(cells))
    assert 2 * len(found) == 16_000  # in both orders
    assert 2 * np.sum(found.hparam == 2) == 4_000  # "of the 4,000 available width environments"


def test_equal_gaps_have_no_weight_though_chi_as_printed_is_1() -> None:
    assert hoeffding_weight([0.0, 1e-4], 10_000).tolist() == [0.0, 0.0]
    assert hoeffding_weight(1.0, 10_000) == pytest.approx(0.5)
    # chi > 1/2 needs 2 exp(-2 m eps^2) < 1 - sqrt(1/2)
    edge = 2 * math.sqrt(math.log(2 / (1 - math.sqrt(0.5))) / 20_000)
    assert hoeffding_weight(0.999 * edge, 10_000) == 0 < hoeffding_weight(1.001 * edge, 10_000)


@pytest.mark.parametrize(("repeats", "kept"), [(3, False), (4, True)])
def test_twelve_pairs_take_four_runs(repeats: int, kept: bool) -> None:
    runs = random_runs(repeats=repeats)
    found = sign_errors(runs.codes, runs.gap, [runs.gap], test_size=None)
    assert found.n_eff == pytest.approx(repeats**2)
    assert found.kept.all() == kept
    assert found.weaker.kept.all()


def test_a_constant_number_of_pairs_at_the_cut_off_is_kept_in_spite_of_rounding() -> None:
    codes = np.repeat([[0], [1]], [3, 4], axis=0)
    gap = np.array([0.0] * 3 + [0.0333] * 4)  # twelve pairs, all of one weight
    found = sign_errors(codes, gap, [gap], test_size=TEST_SIZE)
    assert 0 < found.weight[0] < 6
    assert found.kept.all()


def test_twelve_certain_pairs_whose_weights_differ_a_little_are_kept() -> None:
    """As the authors' program does: it compares n_eff with 12 by `numpy.isclose`."""
    codes = np.repeat([[0], [1]], [3, 4], axis=0)
    gap = np.array([0.0, 0.001, 0.002, 0.046, 0.047, 0.048, 0.049])
    found = sign_errors(codes, gap, [gap], test_size=10_000)
    assert 12 - 1e-4 < found.n_eff[0] < 12 - 1e-8
    assert found.kept.all()


def test_families_partition_the_environments() -> None:
    runs = random_runs(lose=9)
    found = sign_errors(runs.codes, runs.gap, [runs.gap], test_size=None)
    by_hparam = [family.of(found) for family in hparam_families(found)]
    assert np.sum(by_hparam, axis=0).tolist() == [1] * len(found.hparam)
    pairs = [family.of(found) for family in pair_families(found, 0)]
    assert np.sum(pairs, axis=0).tolist() == (found.hparam == 0).astype(int).tolist()


def test_the_percentile_is_linear_over_environments_in_both_orders() -> None:
    """As the authors' program takes it: np.percentile of a list that has each environment twice."""
    errors = np.random.default_rng(0).uniform(size=23)
    both = np.concatenate([errors, errors])
    assert summarize(errors).percentile_90 == np.percentile(both, q=90)
    assert summarize(errors, orders=1).percentile_90 == np.percentile(errors, q=90)


def test_memory_is_bounded_by_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    runs = random_runs(lose=5)
    whole = sign_errors(runs.codes, runs.gap, [runs.measures["good"]], test_size=TEST_SIZE)
    monkeypatch.setattr("scoring.robust.sign_errors.CHUNK", 40)
    parts = sign_errors(runs.codes, runs.gap, [runs.measures["good"]], test_size=TEST_SIZE)
    assert np.array_equal(whole.loss, parts.loss)


def test_one_setting_with_many_runs_makes_no_work_for_the_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Exactly the pairs of runs that there are get looked at."""
    codes = np.repeat([[0, 0], [0, 1], [1, 0], [1, 1]], [50, 2, 3, 4], axis=0)
    gap, values = np.random.default_rng(0).normal(size=(2, len(codes)))
    looked_at = []

    def counted(*arguments: np.ndarray) -> np.ndarray:
        looked_at.append(found := changes(*arguments))
        return found

    changes = robust.sign_changes
    monkeypatch.setattr(robust, "sign_changes", counted)
    found = sign_errors(codes, gap, [values], test_size=None)
    pairs = 50 * 2 + 50 * 3 + 2 * 4 + 3 * 4
    assert found.weight.sum() == pairs
    assert sum(change.size for change in looked_at) == 2 * pairs  # of the gap and of the measure


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([[0, 0], [1, 1]], [0.1, 0.2], [[1, 2]]), "no two models differ in exactly one"),
        (([[0], [1]], [0.1, 0.2, 0.3], [[1, 2]]), "do not fit"),
        (([[0], [1]], [0.1, 0.2], [[1, math.inf]]), "not a finite number"),
    ],
)
def test_what_cannot_be_evaluated_says_so(arguments: tuple, message: str) -> None:
    with pytest.raises(ScoringError, match=message):
        sign_errors(*arguments, test_size=None)
