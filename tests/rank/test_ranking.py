"""The order of models: from values to ranks, with what is not known resampled. No networks here."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import rankdata

from pgdl_measures.errors import PgdlError
from pgdl_measures.ranking.concerns import chance_accuracy, near_chance
from pgdl_measures.ranking.consensus import consensus
from pgdl_measures.ranking.make import make_ranking
from pgdl_measures.ranking.predictions import MIDDLE, SLOPES, predictions
from pgdl_measures.ranking.recommended import EXAMPLES, RECOMMENDED, limited, variants
from pgdl_measures.ranking.result import Candidate, Ranking
from pgdl_measures.ranking.truth import agreement
from pgdl_measures.registry import complexity

RNG = np.random.default_rng(0)
MIXUP, GI, CONTRE = (complexity(name) for name in ("mixup", "gi_intra_l0", "contre_gap"))
PATH = complexity("path_norm")


def ranking(candidates: list[Candidate], *measures, by: str = "accuracy") -> Ranking:
    return make_ranking(candidates, measures, chance=0.1, examples=1000, by=by)


def models(training, **values) -> list[Candidate]:
    """Candidates a, b, …; values of a measure are rows of seeds for each model."""
    return [
        Candidate(name, 100 * i, accuracy, {m: np.atleast_1d(v[i]) for m, v in values.items()})
        for i, (name, accuracy) in enumerate(zip("abcdefgh", training))
    ]


def test_all_units_tell_the_same_accuracy_on_changed_examples():
    training, changed = np.array([0.9, 0.7, 1.0]), RNG.random((5, 3))
    values = {"mixup": -changed, "gi_intra_l0": 1 - changed, "contre_gap": training - changed}
    for one in predictions([MIXUP, GI, CONTRE], values, training, "accuracy"):
        np.testing.assert_allclose(one.shown, changed)
        np.testing.assert_allclose(one.scores(), changed.mean(axis=0))


def test_equal_training_accuracies_leave_every_measure_its_own_order():
    values = {"mixup": RNG.random((5, 7)), "path_norm": RNG.random((1, 7))}
    for by in ("accuracy", "gap"):
        for one in predictions([MIXUP, PATH], values, np.full(7, 0.99), by):
            np.testing.assert_array_equal(
                rankdata(-one.scores()), rankdata(values[one.measure.name].mean(axis=0))
            )


def test_a_measure_without_a_unit_borrows_the_sizes_of_gaps():
    training = np.array([1.0, 1.0, 0.5])
    values = {"mixup": np.array([[-0.6, -0.9, -0.48]]), "path_norm": np.array([[3e6, 2e6, 1e6]])}
    found = predictions([MIXUP, PATH], values, training, "accuracy")
    np.testing.assert_allclose(found[1].gaps, [[0.4, 0.1, 0.02]])


def test_ranking_by_test_accuracy_without_the_size_of_a_gap_is_refused():
    with pytest.raises(
        PgdlError,
        match=r"path_norm: only the order .* such as mixup, or rank by g",
    ):
        ranking(models([1, 0.5], path_norm=[1, 2]), PATH)
    assert ranking(models([1, 0.5], path_norm=[1, 2]), PATH, by="gap").pick == "a"


def test_a_model_that_is_better_in_every_way_is_first_and_alone():
    values = {m: [[-0.9] * 5, [-0.7] * 5, [-0.5] * 5] for m in ("mixup", "manifold_mixup")}
    found = ranking(models([1, 1, 1], **values), MIXUP, complexity("manifold_mixup"))
    assert found.pick == "a"
    assert not found.not_told_apart
    assert found.summary().startswith("pick: a\nit is ahead of every other model")
    assert [(row.rank, row.low, row.high) for row in found.rows] == [(i, i, i) for i in (1, 2, 3)]


def test_models_within_the_noise_of_the_batches_are_not_told_apart():
    noise = np.array([1, -1, 0, 2, -2]) / 100
    noisy = [-0.8 + noise, -0.801 - noise]
    found = ranking(models([1, 1, 1], mixup=[*noisy, [-0.5] * 5]), MIXUP)
    assert {found.pick, *found.not_told_apart} == {"a", "b"}
    assert found.rows[-1].model.name == "c"


def test_a_pair_that_depends_on_the_size_of_the_gaps_is_not_told_apart():
    """b loses less than a, from a smaller training accuracy: which is better, the slope decides."""
    low, high = SLOPES
    assert low < MIDDLE < high
    found = ranking(models([1.0, 0.8], mixup=[[-0.8] * 5, [-0.8 + 0.2 - 0.2 / MIDDLE] * 5]), MIXUP)
    assert len(found.not_told_apart) == 1
    assert any("training accuracies differ, from 80.0% to 100.0%" in c for c in found.concerns)


def test_measures_that_contradict_each_other_say_so():
    values = {"mixup": [[-0.9], [-0.8], [-0.7]], "gi_intra_l0": [[0.3], [0.2], [0.1]]}
    found = ranking(models([1, 1, 1], **values), MIXUP, GI)
    assert any("first is a by mixup; c by gi_intra_l0" in concern for concern in found.concerns)
    assert any("only 3 models" in concern for concern in found.concerns)
    assert {row.rank for row in found.rows} == {1} or found.not_told_apart


def test_measures_that_disagree_are_not_said_to_agree():
    """Two of three put b first by far; the third, and the mean rank's draws, do not undo that."""
    values = {
        "mixup": [[-0.5], [-0.9], [-0.7], [-0.6]],
        "manifold_mixup": [[-0.5], [-0.9], [-0.6], [-0.7]],
        "gi_intra_l0": [[0.3], [0.1], [0.35], [0.25]],
    }
    found = ranking(models([1, 1, 1, 1], **values), MIXUP, complexity("manifold_mixup"), GI)
    assert found.pick == "b"
    assert "agree" not in found.summary().replace("disagree", "")


def test_a_model_that_one_measure_in_five_puts_first_is_told_before_the_pick():
    """Measures err alike: four that agree do not show that the fifth is wrong."""
    names = ("mixup", "manifold_mixup", "gi_intra_l0", "gi_inter_l0", "gi_inter_l1")
    values = {name: [[0.1], [0.2], [0.3], [0.4]] for name in names[2:]}
    values |= {"mixup": [[-0.9], [-0.8], [-0.7], [-0.6]]}
    values |= {"manifold_mixup": [[-0.8], [-0.9], [-0.7], [-0.6]]}
    found = ranking(models([1, 1, 1, 1], **values), *map(complexity, names))
    assert found.pick == "a" and found.not_told_apart == ("b",)
    assert [(row.low, row.high) for row in found.rows] == [(1, 2), (1, 2), (3, 3), (4, 4)]
    assert found.summary().startswith("no clear winner: 1 of the 3 other models may be as good")


def test_the_interval_of_a_rank_has_the_rank_in_it():
    """The second by every measure is first of all here, and never first in a draw."""
    accuracies = {"mixup": [0.8, 0.9, 0.7], "contre_gap": [0.8, 0.7, 0.9], "gi": [0.8, 0.7, 0.9]}
    accuracies["augmented"] = [0.8, 0.9, 0.6]
    found = predictions(
        [replace(MIXUP, name=name) for name in accuracies],
        {name: -np.array([values]) for name, values in accuracies.items()},
        np.full(3, 0.95),
        "accuracy",
    )
    agreed = consensus(found)
    assert (agreed.low <= agreed.rank).all() and (agreed.rank <= agreed.high).all()


def test_a_measure_that_is_the_same_for_all_models_is_no_vote():
    values = {"mixup": [[-0.9], [-0.8], [-0.7]], "gi_intra_l0": [[0.1], [0.2], [0.3]]}
    same = {**values, "manifold_mixup": [[-0.5]] * 3}
    found = ranking(models([1, 1, 1], **same), MIXUP, GI, complexity("manifold_mixup"))
    assert "equal for all models, so without effect: manifold_mixup" in found.concerns
    assert not any("disagree" in concern for concern in found.concerns)


def test_a_single_model_is_ahead_of_nobody():
    assert "ahead" not in ranking(models([1], mixup=[[-0.9]]), MIXUP).summary()


def test_the_resampled_mean_over_seeds_has_the_variance_of_a_mean():
    """Drawing four of five seeds: s^2 / 5, as for a sample mean; drawing five would give less."""
    values = RNG.standard_normal((5, 1))
    one = predictions([MIXUP], {"mixup": values}, np.zeros(1), "gap")[0]
    rng = np.random.default_rng(1)
    means = one.drawn(20000, rng)
    assert np.var(means) == pytest.approx(values.var(ddof=1) / 5, rel=0.05)


def test_the_standard_error_is_that_of_the_mean_over_seeds():
    values = RNG.random((2, 5))
    found = ranking(models([1, 1], mixup=values), MIXUP)
    errors = {row.model.name: row.estimates["mixup"].standard_error for row in found.rows}
    np.testing.assert_allclose([errors["a"], errors["b"]], values.std(axis=1, ddof=1) / np.sqrt(5))


def test_a_measure_without_a_value_for_one_model_is_left_out_for_all():
    candidates = models([1, 1, 1], mixup=[[-0.9], [-0.8], [-0.7]], path_norm=[1, 2, 3])
    candidates[1] = replace(
        candidates[1], values={"mixup": [-0.8]}, refusals={"path_norm": "it has branches"}
    )
    candidates.append(Candidate("d", 1, 1.0, {}, {"mixup": "too slow", "path_norm": "too slow"}))
    found = ranking(candidates, MIXUP, PATH)
    assert found.left_out == {
        "d": "too slow",
        "path_norm": "no value for b: it has branches; rank without it to use this measure",
    }
    assert [row.model.name for row in found.rows] == ["a", "b", "c"]


def test_the_truth_is_shown_and_takes_no_part():
    values = {"mixup": [[-0.9] * 5, [-0.7] * 5, [-0.5] * 5]}
    blind = ranking(models([1, 1, 1], **values), MIXUP)
    known = [
        replace(m, test_accuracy=t) for m, t in zip(models([1, 1, 1], **values), (0.5, 0.6, 0.7))
    ]
    found = ranking(known, MIXUP)
    assert [r.model.name for r in found.rows] == [r.model.name for r in blind.rows]
    assert found.agreements[0].tau == -1
    assert found.agreements[0].regret == pytest.approx(0.2)
    assert "the best model is 20.0 points better than the pick" in found.summary()
    assert "true test acc" in found.table() and "true" not in blind.table()


def test_the_regret_of_a_tie_is_the_mean_of_those_who_share_it():
    found = agreement("x", np.array([1.0, 1.0, 0.0]), np.array([0.5, 0.7, 0.9]))
    assert found.regret == pytest.approx(0.3)


def test_chance_is_what_guessing_reaches():
    assert near_chance(0.1, 0.1, 1000) and near_chance(0.12, 0.1, 1000)
    assert not near_chance(0.14, 0.1, 1000)
    one_class_in_ten_is_nine_tenths = np.array([0] * 900 + list(range(1, 10)) * 11 + [1])
    assert chance_accuracy(one_class_in_ten_is_nine_tenths, 10) == 0.9


def test_the_consensus_is_the_same_every_time():
    values = {"mixup": RNG.random((5, 4))}
    found = predictions([MIXUP], values, np.ones(4), "accuracy")
    np.testing.assert_array_equal(consensus(found).mean_rank, consensus(found).mean_rank)


def test_the_recommended_measures_are_in_accuracy_units_and_bounded():
    chosen = [complexity(name) for name in RECOMMENDED]
    assert all(measure.unit for measure in chosen)
    asked = variants([*chosen, PATH], seeds=3)
    assert len(asked) == 3 * len(chosen) + 1
    for variant in asked[:-1]:
        options = {**variant.measure.defaults(), **variant.measure.options}
        drawn = options.get("examples") or options["batches"] * options.get("batch_size", 128)
        assert drawn <= EXAMPLES
    assert limited(MIXUP.with_options(batches=7), 128).options["batches"] == 7
