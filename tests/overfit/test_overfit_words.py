"""What is said of a report: one verdict for each thing that the numbers can mean."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from pgdl_measures.adversarial.examination import Examination, ShiftErrors
from pgdl_measures.adversarial.generators import GENERATORS
from pgdl_measures.adversarial.independence import Outcome
from starting_kit_adapter.diagnose.overfit.report import Report
from starting_kit_adapter.diagnose.overfit.verdict import verdict as verdict_of_sets
from starting_kit_adapter.diagnose.overfit.words import describe as describe_sets
from starting_kit_adapter.diagnose.overfit.words import describe_selection, p_by_error

EXAMPLES = 1000


def _outcome(wrong: float, turned: float, density: float) -> Outcome:
    """Of 1000 examples, shares that are misclassified from the start and that are turned."""
    place = np.arange(EXAMPLES) / EXAMPLES
    loss = place < wrong
    return Outcome(loss, place < wrong + turned, np.full(EXAMPLES, density))


NOTHING = _outcome(0.1, 0.1, 0.5)  # T = 0: R_S = 0.1 = 0.2 / 2
ABOVE = _outcome(0.0, 0.5, 0.5)  # T = 0.25
BELOW = _outcome(0.5, 0.0, 0.5)  # T = -0.25


def _growth(share: float) -> np.ndarray:
    """Images of which a share is misclassified as soon as they are shifted."""
    return (np.arange(EXAMPLES) / EXAMPLES < share).astype(float)


def _report(
    strongest: Outcome,
    random: Outcome = NOTHING,
    given: float = 0.1,
    models: int = 1,
    growth: float = 0.25,
):
    outcomes = dict.fromkeys(GENERATORS, random) | {"strongest": strongest}
    names = [f"model_{i}" for i in range(models)]
    shifted = ShiftErrors({0: 0.1, 2: 0.125, 4: 0.15, 6: 0.25}, _growth(growth))
    return Report(
        EXAMPLES,
        dict.fromkeys(names, Examination(outcomes, 1)),
        dict.fromkeys(names, given),
        dict.fromkeys(names, shifted),
    )


def verdict(report: Report, split: str) -> str:
    return verdict_of_sets({split: report}, split)


def describe(report: Report, split: str) -> str:
    return describe_sets({split: report}, split)


def test_nothing_found_is_no_proof():
    said = verdict(_report(NOTHING), "test")
    assert said.startswith("No overfitting of this model to the test set is detected (p = 1.0000)")
    assert "does not prove" in said


def test_an_estimate_below_the_error_is_not_overfitting_and_nothing_more():
    said = verdict(_report(BELOW, given=0.5), "test")
    assert said.endswith("this is not overfitting.") and "centred" not in said


def test_a_rejection_alone_is_undecided():
    said = verdict(_report(ABOVE, given=0.0), "test")
    assert said.startswith("Independence of this model and the test set is rejected (p < 0.0001).")
    assert "Undecided: either the model depends on the set" in said
    assert "or shifted images are not as likely as the images" in said
    assert "a second --data" in said
    assert "--split both" in verdict(_report(ABOVE, given=0.0), "train")


def test_random_shifts_that_reject_too_say_nothing_of_the_assumption():
    """They do under strong overfitting."""
    said = verdict(_report(ABOVE, random=ABOVE, given=0.0), "test")
    assert said == verdict(_report(ABOVE, given=0.0), "test") and "random" not in said


def _train_verdict(growth_on_test: float, growth_on_train: float = 0.25) -> str:
    reports = {
        "test": _report(NOTHING, growth=growth_on_test),
        "train": _report(ABOVE, given=0.0, growth=growth_on_train),
    }
    return verdict_of_sets(reports, "train")


def test_an_error_that_does_not_grow_on_images_not_trained_on_means_overfitting():
    said = _train_verdict(growth_on_test=0.01)
    # 10 of 1000: a standard error of sqrt(0.01 * 0.99 / 1000) = 0.00315, times 1.96
    assert "changes by +0.0100 on the test set, which it was not trained on" in said
    assert "(95 % interval +0.0038 to +0.0162), and by +0.2500 on the train set" in said
    assert "this is overfitting to the train set" in said


def test_an_error_that_grows_on_images_not_trained_on_voids_the_test():
    said = _train_verdict(growth_on_test=0.2)
    assert "says nothing about overfitting here" in said
    assert "this is overfitting" not in said


def test_too_few_images_to_tell_leave_it_undecided():
    said = _train_verdict(growth_on_test=0.002, growth_on_train=0.005)
    assert "Undecided: there are too few images in the test set" in said


def test_the_test_set_is_judged_by_new_images_and_not_by_the_training_set():
    rejected, flat = _report(ABOVE, given=0.0), _report(NOTHING, growth=0.0)
    undecided = verdict_of_sets({"test": rejected, "train": flat}, "test")
    assert "Undecided" in undecided
    decided = verdict_of_sets({"test": rejected, "train": flat, "cifar10_1": flat}, "test")
    assert "on the cifar10_1 set, which it has not seen" in decided
    assert "this is overfitting to the test set" in decided


def test_p_and_error_over_training_runs_are_correlated_by_pearson():
    def of(place: int) -> Examination:
        outcome = _outcome(0.02 * place, 0.1, 0.3 + 0.05 * place)
        return Examination(dict.fromkeys(GENERATORS, outcome), 1)

    runs = {f"model_{i}": of(i) for i in range(5)}
    shifted = ShiftErrors({0: 0.1}, _growth(0.0))
    reports = {"test": Report(EXAMPLES, runs, {}, dict.fromkeys(runs, shifted))}
    p = [found.test("strongest").p for found in runs.values()]
    errors = [0.02 * i for i in range(5)]
    ((tested, split, value),) = p_by_error(reports)
    assert (tested, split) == ("test", "test")
    assert value == pytest.approx(stats.pearsonr(p, errors)[0])
    assert f"{value:.4f}" in describe_selection(reports)
    assert describe_selection({"test": _report(NOTHING)}) == ""


def test_unseen_images_that_reject_leave_one_explanation():
    said = verdict(_report(ABOVE, given=0.0), "unseen")
    assert "No model depends on images that it has not seen" in said and "means nothing" in said
    assert "Undecided" not in said


def test_there_is_no_verdict_on_a_model_that_does_not_know_upsampled_images():
    for outcome in (NOTHING, ABOVE, BELOW):
        tested = float(outcome.loss.mean())
        said = verdict(_report(outcome, given=tested - 0.2), "test")
        assert said.startswith("The test does not apply to this model")
        assert f"{tested - 0.2:.4f} on the images as given" in said and "--padding circular" in said
        assert "p " not in said and "overfitting" not in said


def test_several_runs_are_spoken_of_as_an_architecture():
    said = describe(_report(ABOVE, given=0.0, models=4), "train")
    assert "this architecture (4 training runs)" in said and "p of 4 models" in said


def test_the_error_by_shift_is_shown():
    lines = [line.split() for line in describe(_report(NOTHING), "test").splitlines()]
    assert ["shift,", "pixels", "error"] in lines
    assert [line for line in lines if line[:1] in (["0"], ["2"], ["4"], ["6"])] == [
        ["0", "0.1000"],
        ["2", "0.1250"],
        ["4", "0.1500"],
        ["6", "0.2500"],
    ]
