"""`pgdl zoo suite`: several tasks into one corpus, as a data file says."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from ingestion.errors import ZooError
from ingestion.zoo.suite import SUITES, plans, read_suite
from pgdl_measures.errors import UnknownNameError

ROOT = Path(__file__).resolve().parents[2]
GRID = {
    "architecture": "vgg",
    "hparams": {"width": [4, 6], "dropout": [0.0, 0.1]},
    "fixed": {"blocks": 1, "dense_units": 8},
    "max_epochs": 1,
    "train_examples": 60,
    "test_examples": 50,
}


def pgdl(*arguments: object) -> subprocess.CompletedProcess:
    command = [sys.executable, "-m", "starting_kit_adapter.cli.main", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=False)


def test_mini_has_eight_tasks_of_24_networks_or_more_over_three_hyperparameters() -> None:
    suite = read_suite("mini")
    assert len(suite) == 8
    for task in suite:
        assert task.models >= 24
        assert sum(len(values) > 1 for values in task.grid.hparams.values()) >= 3
        assert task.grid.target["accuracy"] >= 0.99
    families = {task.grid.architecture for task in suite}
    assert families == {"vgg", "nin", "conv", "resnet"}
    assert {task.data for task in suite} == {"cifar10", "fashion_mnist", "oxford_pets", "digits"}


def test_every_suite_can_be_read() -> None:
    assert "mini" in SUITES
    for name in SUITES:
        assert read_suite(name)


def test_without_a_folder_the_data_is_of_tfds(tmp_path: Path) -> None:
    task = read_suite("mini")[0]
    assert task.source(None) == "cifar10=tfds:cifar10"
    with pytest.raises(ZooError, match=r"cifar10_16k.npz: no such file"):
        task.source(tmp_path)


def test_a_file_is_missed_before_the_first_network_is_trained(tmp_path: Path) -> None:
    with pytest.raises(ZooError, match="no such file"):
        next(plans(read_suite("mini"), tmp_path / "corpus", tmp_path, 0, 1))


def test_what_is_no_suite_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UnknownNameError, match="mini"):
        read_suite("minni")
    path = tmp_path / "suite.json"
    path.write_text(json.dumps({"data": {}, "tasks": {"a": {"data": "digits", "grid": GRID}}}))
    with pytest.raises(UnknownNameError, match="digits"):
        read_suite(str(path))
    path.write_text("[]")
    with pytest.raises(ZooError, match="`data` and `tasks`"):
        read_suite(str(path))


def test_the_command_builds_all_tasks_shows_the_state_and_resumes(tmp_path: Path) -> None:
    tasks = {name: {"data": "digits", "grid": GRID} for name in ("one", "two")}
    suite, corpus = tmp_path / "suite.json", tmp_path / "corpus"
    suite.write_text(json.dumps({"data": {"digits": {}}, "tasks": tasks}))
    first = pgdl("zoo", "suite", suite, "-o", corpus, "--tasks", "one")
    assert first.returncode == 0, first.stderr
    state = pgdl("zoo", "suite", suite, "-o", corpus, "--state").stdout
    assert "4 of 4" in state and "0 of 4" in state
    weights = corpus / "input_data" / "one" / "model_0" / "weights.hdf5"
    written = weights.stat().st_mtime_ns
    second = pgdl("zoo", "suite", suite, "-o", corpus)
    assert second.returncode == 0, second.stderr
    assert second.stdout.count("4 of 4") == 2
    assert weights.stat().st_mtime_ns == written
