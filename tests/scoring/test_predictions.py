"""One finite number per model of the reference, or an error that names the models."""

from __future__ import annotations

import pytest
from scoring_files import write_predictions, write_reference

from scoring.errors import ExceededError, ScoringError
from scoring.predictions import find_predictions, read_predictions
from scoring.reference import read_reference

GOOD = {f"model_{number}": float(number) for number in range(8)}


@pytest.fixture
def reference(tmp_path):
    return read_reference(write_reference(tmp_path / "ref" / "task1"))


def test_predictions_come_in_the_order_of_the_reference(tmp_path, reference):
    path = write_predictions(tmp_path, "task1", dict(reversed(GOOD.items())))
    assert read_predictions(path, reference).tolist() == list(range(8))


def test_ids_may_lack_model_and_numbers_may_be_whole(tmp_path, reference):
    path = write_predictions(tmp_path, "task1", {str(number): number for number in range(8)})
    assert read_predictions(path, reference).tolist() == list(range(8))


@pytest.mark.parametrize(
    "value", ["NaN", "Infinity", "-Infinity", "1e999", '"0.5"', "true", "null"]
)
def test_what_is_not_a_finite_number_is_refused(tmp_path, reference, value):
    entries = [f'"model_{number}": {value if number == 3 else number}' for number in range(8)]
    path = write_predictions(tmp_path, "task1", "{" + ", ".join(entries) + "}")
    with pytest.raises(ScoringError, match=f"{path}: not a finite number: model_3 "):
        read_predictions(path, reference)


def test_ids_missing_on_either_side_are_named_together(tmp_path, reference):
    content = {key: value for key, value in GOOD.items() if key != "model_5"}
    path = write_predictions(tmp_path, "task1", {**content, "model_x": 1.0})
    with pytest.raises(ScoringError, match=r"prediction for model_5; not in the ref.* model_x$"):
        read_predictions(path, reference)


def test_long_lists_are_cut_and_counted(tmp_path, reference):
    path = write_predictions(tmp_path, "task1", {"model_0": 1.0})
    with pytest.raises(ScoringError, match=r"model_1, .*model_5 and 2 more"):
        read_predictions(path, reference)


def test_a_model_predicted_twice_is_refused(tmp_path, reference):
    path = write_predictions(tmp_path, "task1", {**GOOD, "3": 1.0})
    with pytest.raises(ScoringError, match=r"twice .* 3"):
        read_predictions(path, reference)
    path = write_predictions(tmp_path, "task1", '{"model_0": 1, "model_0": 2}')
    with pytest.raises(ScoringError, match="'model_0' stands in it twice"):
        read_predictions(path, reference)


def test_exceeded_is_an_error_of_its_own(tmp_path, reference):
    content = {**GOOD, "model_6": "EXCEEDED", "model_7": "EXCEEDED"}
    with pytest.raises(ExceededError, match="model_6, model_7"):
        read_predictions(write_predictions(tmp_path, "task1", content), reference)


def test_files_are_found_by_task(tmp_path):
    write_predictions(tmp_path, "task2")
    write_predictions(tmp_path, "task1")
    write_predictions(tmp_path, "._task1", "junk")
    assert list(find_predictions(tmp_path)) == ["task1", "task2"]
    with pytest.raises(ScoringError, match="there is no folder"):
        find_predictions(tmp_path / "nowhere")
