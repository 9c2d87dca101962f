"""One finite number per model of the reference, or an error that names the models."""

from __future__ import annotations

import pytest
from scoring_files import write_predictions, write_reference

from scoring.errors import ExceededError, ScoringError
from scoring.kit.predictions import (
    choose_measures,
    find_predictions,
    in_order,
    read_predictions,
)
from scoring.kit.reference import read_reference

GOOD = {f"model_{number}": float(number) for number in range(8)}


@pytest.fixture
def reference(tmp_path):
    return read_reference(write_reference(tmp_path / "ref" / "task1"))


def test_predictions_come_in_the_order_of_the_reference(tmp_path, reference):
    path = write_predictions(tmp_path, "task1", dict(reversed(GOOD.items())))
    assert in_order(read_predictions(path), reference, path).tolist() == list(range(8))


def test_ids_may_lack_model_and_numbers_may_be_whole(tmp_path, reference):
    path = write_predictions(tmp_path, "task1", {str(number): number for number in range(8)})
    assert in_order(read_predictions(path), reference, path).tolist() == list(range(8))


@pytest.mark.parametrize(
    "value", ["NaN", "Infinity", "-Infinity", "1e999", '"0.5"', "true", "null"]
)
def test_what_is_not_a_finite_number_is_refused(tmp_path, value):
    entries = [f'"model_{number}": {value if number == 3 else number}' for number in range(8)]
    path = write_predictions(tmp_path, "task1", "{" + ", ".join(entries) + "}")
    with pytest.raises(ScoringError, match=f"{path}: not a finite number: model_3 "):
        read_predictions(path)


def test_ids_missing_on_either_side_are_named_together(tmp_path, reference):
    content = {key: value for key, value in GOOD.items() if key != "model_5"}
    path = write_predictions(tmp_path, "task1", {**content, "model_x": 1.0})
    with pytest.raises(ScoringError, match=r"prediction for model_5; not in the ref.* model_x$"):
        in_order(read_predictions(path), reference, path)


def test_long_lists_are_cut_and_counted(tmp_path, reference):
    path = write_predictions(tmp_path, "task1", {"model_0": 1.0})
    with pytest.raises(ScoringError, match=r"model_1, .*model_5 and 2 more"):
        in_order(read_predictions(path), reference, path)


def test_a_model_predicted_twice_is_refused(tmp_path):
    path = write_predictions(tmp_path, "task1", {**GOOD, "3": 1.0})
    with pytest.raises(ScoringError, match=r"twice .* 3"):
        read_predictions(path)
    path = write_predictions(tmp_path, "task1", '{"model_0": 1, "model_0": 2}')
    with pytest.raises(ScoringError, match="'model_0' occurs twice"):
        read_predictions(path)


def test_exceeded_is_an_error_of_its_own(tmp_path):
    content = {**GOOD, "model_6": "EXCEEDED", "model_7": "EXCEEDED"}
    with pytest.raises(ExceededError, match="model_6, model_7"):
        read_predictions(write_predictions(tmp_path, "task1", content))


def test_files_are_found_by_task(tmp_path):
    write_predictions(tmp_path, "task2")
    write_predictions(tmp_path, "task1")
    write_predictions(tmp_path, "._task1", "junk")
    assert list(find_predictions(tmp_path)) == ["task1", "task2"]
    with pytest.raises(ScoringError, match="there is no folder"):
        find_predictions(tmp_path / "nowhere")


def test_a_name_with_a_minus_is_the_negated_measure(tmp_path):
    write_predictions(tmp_path / "gi", "task1", GOOD)
    write_predictions(tmp_path / "-mixup", "task1", GOOD)
    chosen = choose_measures(tmp_path, ["gi", "-gi", "-mixup"])
    assert chosen["gi"].read("task1") == chosen["-mixup"].read("task1") == GOOD
    assert chosen["-gi"].read("task1") == {model: -value for model, value in GOOD.items()}
    with pytest.raises(ScoringError, match="no predictions of 'mixups': did you mean -mixup"):
        choose_measures(tmp_path, ["mixups"])
