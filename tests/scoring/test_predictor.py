"""The predictor of gaps against SciPy's bounded least squares, exact fits and its own promises."""

from __future__ import annotations

import json

import numpy as np
import pytest
from scipy.optimize import lsq_linear

from scoring.errors import ScoringError
from scoring.predictor import from_json, read_predictor
from scoring.predictor_fit import Form, KnownTask, learn, leave_one_task_out

MEASURES = ("mixup", "gi", "noise")
FORM = Form(MEASURES)


def tasks(count=6, models=40, error=0.02, seed=0):
    """Tasks whose gaps are 0.1 + 0.5 mixup + 0.2 gi, up to an error; `noise` says nothing."""
    rng = np.random.default_rng(seed)
    found = []
    for number in range(count):
        values = rng.uniform(0, 0.2, (3, models)) + rng.uniform(0, 0.6, (3, 1))
        values[2] = rng.normal(size=models)
        gap = 0.1 + 0.5 * values[0] + 0.2 * values[1] + rng.normal(0, error, models)
        found.append(KnownTask(f"task{number}", gap, dict(zip(MEASURES, values))))
    return found


def test_gaps_that_are_a_sum_of_the_measures_are_predicted_exactly():
    found = learn(tasks(error=0.0), FORM)
    assert found.intercept == pytest.approx(0.1, abs=2e-3)
    assert found.weights == pytest.approx((0.5, 0.2, 0.0), abs=2e-3)
    prediction = found.predict({"mixup": 0.4, "gi": 0.3, "noise": 0.0})
    assert prediction.gap == pytest.approx(0.1 + 0.2 + 0.06, abs=2e-3)
    assert not prediction.outside


def test_the_fit_is_that_of_bounded_least_squares_with_every_task_counting_alike():
    known = [*tasks(4, 30), *tasks(1, 7, seed=1)]
    found = learn(known, FORM)
    rows = np.concatenate([task.matrix(MEASURES) for task in known])
    gap = np.concatenate([task.gap for task in known])
    share = np.concatenate([np.full(len(t.gap), 1 / len(t.gap) / len(known)) for t in known])
    scale = np.sqrt(share @ (rows - share @ rows) ** 2)
    penalty = np.sqrt(found.ridge) * np.column_stack([np.diag(scale), np.zeros(3)])
    equations = np.sqrt(share)[:, None] * np.column_stack([rows, np.ones(len(rows))])
    expected = lsq_linear(
        np.concatenate([equations, penalty]),
        np.concatenate([np.sqrt(share) * gap, np.zeros(3)]),
        bounds=([0, 0, 0, -np.inf], np.inf),
        tol=1e-14,
    ).x
    assert [*found.weights, found.intercept] == pytest.approx(expected, abs=1e-6)


def test_a_measure_that_points_the_wrong_way_gets_no_weight():
    known = [KnownTask(t.name, t.gap, {**t.values, "wrong": -t.values["mixup"]}) for t in tasks(5)]
    found = learn(known, Form((*MEASURES, "wrong")))
    assert found.weights[3] == 0.0
    assert learn(known, Form(("wrong",))).weights == (0.0,)


def test_intervals_hold_the_gaps_of_tasks_that_were_left_out():
    covered = [
        left.covered
        for seed in range(10)
        for left in leave_one_task_out(tasks(10, 30, seed=seed), FORM)
    ]
    assert 0.85 < np.mean(covered) < 0.95


def test_intervals_hold_where_whole_tasks_err_alike():
    """A share of 90 % of the errors of seven tasks hold 82 % of those of an eighth."""
    rng = np.random.default_rng(0)
    covered = []
    for seed in range(12):
        known = [
            KnownTask(t.name, t.gap + rng.normal(0, 0.1), t.values) for t in tasks(8, 20, seed=seed)
        ]
        covered += [left.covered for left in leave_one_task_out(known, FORM)]
    assert 0.84 < np.mean(covered) < 0.96


def test_what_is_left_out_teaches_nothing_about_itself():
    known = tasks(4)
    strange = KnownTask("strange", known[0].gap + 0.5, known[0].values)
    (*_, left) = leave_one_task_out([*known, strange], FORM)
    alone = learn(known, FORM)
    assert left.predictor == alone
    assert left.error == pytest.approx(np.abs(left.gaps - strange.gap).mean())
    assert left.error_of_mean == pytest.approx(
        np.abs(np.mean([task.gap.mean() for task in known]) - strange.gap).mean()
    )


def test_a_model_unlike_those_learned_from_is_named_by_its_measure():
    found = learn(tasks(), FORM)
    assert found.predict({"mixup": 3.0, "gi": 0.3, "noise": 0.0}).outside == ("mixup",)
    with pytest.raises(ScoringError, match="needs gi, noise, which the model lacks"):
        found.predict({"mixup": 0.1})


def test_a_predictor_is_the_same_after_json():
    found = learn(tasks(), FORM)
    assert from_json(json.loads(json.dumps(found.to_json())), "predictor.json") == found
    with pytest.raises(ScoringError, match=r"predictor\.json: is not a predictor"):
        from_json({}, "predictor.json")
    damaged = {**found.to_json(), "weights": [1.0]}
    with pytest.raises(ScoringError, match="is a damaged predictor"):
        from_json(damaged, "predictor.json")


def test_the_packaged_predictor_is_of_registered_measures_and_predicts():
    from pgdl_measures import measures

    found = read_predictor("mini")
    assert {*found.measures} <= {measure.name for measure in measures()}
    assert len(found.tasks) == 8
    middle = [(low + high) / 2 for low, high in zip(found.smallest, found.largest)]
    prediction = found.predict(dict(zip(found.measures, middle)))
    assert 0 < prediction.low < prediction.gap < prediction.high < 1
    assert not prediction.outside


def test_two_tasks_are_too_few_to_learn_from():
    with pytest.raises(ScoringError, match=r"needs 3 tasks or more to learn from; found 2"):
        learn(tasks(2), FORM)
    with pytest.raises(ScoringError, match="task task0 has no values of pal"):
        learn(tasks(3), Form(("pal",)))


def test_on_the_logit_scale_odds_that_are_a_power_of_the_errors_are_predicted_exactly():
    """gap / (1 - gap) = 2 e / (1 - e), e the error on changed examples; mixup is e - 1."""
    rng = np.random.default_rng(1)
    found = []
    for number in range(4):
        error = rng.uniform(0.1, 0.4, 20) + 0.1 * number
        gap = 2 * error / (1 + error)
        found.append(KnownTask(f"task{number}", gap, {"mixup": error - 1}))
    predictor = learn(found, Form(("mixup",), ("accuracy",), within=10.0))
    assert predictor.weights == pytest.approx((1.0,), abs=1e-2)
    assert predictor.error == pytest.approx(0.0, abs=1e-2)
    assert predictor.kendall == pytest.approx(1.0)
    assert predictor.predict({"mixup": -0.5}).gap == pytest.approx(2 / 3, abs=1e-2)
    assert from_json(json.loads(json.dumps(predictor.to_json())), "x") == predictor
