"""What is said of a report: one verdict for each thing that the numbers can mean."""

from __future__ import annotations

import numpy as np

from pgdl_measures.adversarial.examination import Examination
from pgdl_measures.adversarial.generators import GENERATORS
from pgdl_measures.adversarial.independence import Outcome
from starting_kit_adapter.diagnose.overfit.report import Report
from starting_kit_adapter.diagnose.overfit.words import describe, verdict

EXAMPLES = 1000


def _outcome(wrong: float, turned: float, density: float) -> Outcome:
    """Of 1000 examples, shares that are misclassified from the start and that are turned."""
    place = np.arange(EXAMPLES) / EXAMPLES
    loss = place < wrong
    return Outcome(loss, place < wrong + turned, np.full(EXAMPLES, density))


NOTHING = _outcome(0.1, 0.1, 0.5)  # T = 0: R_S = 0.1 = 0.2 / 2
ABOVE = _outcome(0.0, 0.5, 0.5)  # T = 0.25
BELOW = _outcome(0.5, 0.0, 0.5)  # T = -0.25


def _report(strongest: Outcome, random: Outcome = NOTHING, given: float = 0.1, models: int = 1):
    outcomes = dict.fromkeys(GENERATORS, random) | {"strongest": strongest}
    names = [f"model_{i}" for i in range(models)]
    shifts = {0: 0.1, 2: 0.125, 4: 0.15, 6: 0.25}
    return Report(
        EXAMPLES,
        dict.fromkeys(names, Examination(outcomes, 1)),
        dict.fromkeys(names, given),
        dict.fromkeys(names, shifts),
    )


def test_nothing_found_is_no_proof():
    said = verdict(_report(NOTHING), "test")
    assert said.startswith("No overfitting of this model to the test set is detected (p = 1.0000)")
    assert "no proof" in said


def test_an_estimate_below_the_error_is_not_overfitting_and_nothing_more():
    said = verdict(_report(BELOW, given=0.5), "test")
    assert said.endswith("this is not overfitting.") and "centred" not in said


def test_an_estimate_above_the_error_has_two_explanations():
    said = verdict(_report(ABOVE, given=0.0), "test")
    assert said.startswith("Independence of this model and the test set is rejected (p < 0.0001).")
    assert "Either this model depends on the set" in said and "or images that are shifted" in said
    assert "as where these were centred" in said
    assert "An error that grows with the shift" in said


def test_random_shifts_that_reject_too_point_to_the_assumption():
    said = verdict(_report(ABOVE, random=ABOVE, given=0.0), "test")
    assert "rejects with random and random2 too" in said
    assert "points to the assumption about shifted images, and not to overfitting" in said


def test_unseen_images_that_reject_leave_one_explanation():
    said = verdict(_report(ABOVE, given=0.0), "unseen")
    assert "No model depends on images that it has not seen" in said and "void" in said


def test_there_is_no_verdict_on_a_model_that_does_not_know_upsampled_images():
    for outcome in (NOTHING, ABOVE, BELOW):
        tested = float(outcome.loss.mean())
        said = verdict(_report(outcome, given=tested - 0.2), "test")
        assert said.startswith("The test does not apply to this model")
        assert f"{tested - 0.2:.4f} on the images as given" in said and "circular" not in said
        assert "p " not in said and "overfitting" not in said


def test_several_runs_are_spoken_of_as_an_architecture():
    said = describe(_report(ABOVE, given=0.0, models=4), "train")
    assert "this architecture (4 training runs)" in said and "p of 4 models" in said


def test_the_error_by_shift_is_shown():
    lines = [line.split() for line in describe(_report(NOTHING), "test").splitlines()]
    assert ["shift", "error"] in lines
    assert [line for line in lines if line[:1] in (["0"], ["2"], ["4"], ["6"])] == [
        ["0", "0.1000"],
        ["2", "0.1250"],
        ["4", "0.1500"],
        ["6", "0.2500"],
    ]
