"""A reference is read with all its irregularities, and every fault in it is named."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scoring_files import VALUES, configs, write_reference
from shared_data import PGDL

from scoring.errors import ScoringError
from scoring.kit.reference import find_references, read_reference


def test_reads_ids_values_and_gaps(tmp_path):
    reference = read_reference(write_reference(tmp_path / "task1"))
    assert reference.task == "task1"
    assert reference.ids == tuple(f"model_{number}" for number in range(8))
    assert reference.hparams == tuple(VALUES)
    assert reference.values == tuple(map(tuple, VALUES.values()))
    assert reference.codes.tolist() == [[n >> 2, n >> 1 & 1, n & 1] for n in range(8)]
    np.testing.assert_allclose(reference.gap, [0.1 + 0.01 * (3 * n % 8) for n in range(8)])
    assert reference.is_complete
    assert reference.missing_cells == reference.doubled_cells == ()


@pytest.mark.parametrize("written", ["128", 128.0, "128.0", 128])
def test_values_may_be_written_as_text_or_float(tmp_path, written):
    content = configs()
    content["4"]["hparams"]["width"]["current_value"] = written
    assert read_reference(write_reference(tmp_path, content)).codes[4, 0] == 1


def test_an_exact_match_wins_over_an_equal_number(tmp_path):
    content = configs()
    for config in content.values():
        config["hparams"]["width"] = {"possible_values": ["1", 1], "current_value": 1}
    assert read_reference(write_reference(tmp_path, content)).codes[0, 0] == 1


def test_order_of_hyperparameters_may_differ_between_models(tmp_path):
    content = configs()
    content["4"]["hparams"] = dict(reversed(content["4"]["hparams"].items()))
    assert read_reference(write_reference(tmp_path, content)).codes[4].tolist() == [1, 0, 0]


def test_missing_and_doubled_cells_are_told(tmp_path):
    content = configs()
    content["repeat"] = content["2"]
    del content["model_7"]
    reference = read_reference(write_reference(tmp_path, content))
    assert not reference.is_complete
    assert reference.missing_cells == ({"width": 128, "depth": 2, "dropout": 0.5},)
    cell = {"width": 64, "depth": 2, "dropout": 0.0}
    assert reference.doubled_cells == ((cell, ("model_2", "model_repeat")),)


def changed(path: str, value: object):
    """The configurations with one entry of model 4 replaced, or deleted if the value is None."""
    content = configs()
    *parents, last = path.split("/")
    place = content["4"]
    for parent in parents:
        place = place[parent]
    if value is None:
        del place[last]
    else:
        place[last] = value
    return content


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (changed("hparams/width/current_value", 96), "model_4: hyperparameter 'width'.*96.*not am"),
        (changed("hparams/width/current_value", None), "model_4.*no 'current_value'"),
        (changed("hparams", None), "model_4 has no 'hparams'"),
        (changed("hparams", {"width": {}}), "model_4 has the hyperparameters.*width"),
        (changed("metrics", None), "model_4 has no 'metrics'"),
        (changed("metrics/test_acc", None), "model_4 has no metric 'test_acc'"),
        (changed("metrics/test_acc", math.nan), "model_4: test_acc is nan"),
        (changed("metrics/train_acc", math.inf), "model_4: train_acc is inf"),
        (changed("metrics/train_acc", "0.9"), "model_4: train_acc is '0.9'"),
        (changed("metrics/train_acc", True), "model_4: train_acc is True"),
        ({**configs(), "model_4": configs()["4"]}, "model_4 occurs twice"),
        ({"0": {"hparams": {"width": {"possible_values": []}}}}, "model_0.*'possible_values'"),
        ({}, "names no model"),
        ([], "JSON list, not an object"),
        ('{"0": ', "not valid JSON"),
        ('{"0": {}, "0": {}}', "'0' occurs twice"),
        ("", "not valid JSON"),
    ],
)
def test_every_fault_is_named_with_its_file(tmp_path, content, message):
    path = write_reference(tmp_path, content)
    with pytest.raises(ScoringError, match=f"{path}.*{message}"):
        read_reference(path)


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(ScoringError, match=r"cannot read .*nowhere\.json"):
        read_reference(tmp_path / "nowhere.json")


@pytest.mark.parametrize("inside", ["", "reference_data", "input_data"])
def test_tasks_are_found_and_junk_is_not(tmp_path, inside):
    for task in ("task2", "task1", "__MACOSX"):
        write_reference(tmp_path / inside / task)
    (tmp_path / inside / ".DS_Store").write_text("junk")
    (tmp_path / inside / "notes").mkdir()
    found = find_references(tmp_path)
    assert list(found) == ["task1", "task2"]
    assert found["task1"] == tmp_path / inside / "task1" / "model_configs.json"


def test_a_folder_can_be_a_single_task(tmp_path):
    path = write_reference(tmp_path / "task9")
    assert find_references(tmp_path / "task9") == {"task9": path}


def test_a_folder_without_tasks_is_refused(tmp_path):
    with pytest.raises(ScoringError, match="has no task"):
        find_references(tmp_path)
    with pytest.raises(ScoringError, match="there is no folder"):
        find_references(tmp_path / "nowhere")


@pytest.mark.parametrize(("task", "models"), [("task1_v4", 96), ("task2_v1", 54)])
def test_the_real_grids_are_complete(task, models):
    reference = read_reference(find_references(PGDL)[task])
    assert (len(reference.ids), reference.is_complete) == (models, True)
    assert reference.doubled_cells == ()
