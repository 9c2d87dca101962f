"""`pgdl limits`: what it says of a small corpus, and its exit codes."""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys

import corpora
import numpy as np
import pytest
from verbs import run_verb

from ingestion.cost import building
from ingestion.datasets.array_forms import make_data
from ingestion.zoo.build import Plan
from ingestion.zoo.grid import parse_grid
from pgdl_measures import complexity
from pgdl_measures.errors import PgdlError, UnknownNameError
from starting_kit_adapter.cli import limits
from starting_kit_adapter.terminal.zoo_options import order_of

pytestmark = pytest.mark.keras2


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    root = tmp_path_factory.mktemp("limits")
    corpora.write_task(root / "task")
    return root


def run(corpus, *arguments):
    few = ["--set", "batches=4", "--set", "batch_size=32"]
    return run_verb(limits, corpus, "-m", "mixup", *few, *arguments)


def test_estimates_are_labelled_and_written_with_their_assumptions(corpus, tmp_path, capsys):
    assert (
        run(corpus, "--max-models", "2", "--details", "--json", str(tmp_path / "limits.json")) == 0
    )
    text = capsys.readouterr().out
    assert "all 2 stay within 300 s" in text
    assert "Estimates, not measurements" in text and "GK210" in text
    assert "model_0" in text and "model_1" in text
    found = json.loads((tmp_path / "limits.json").read_text())
    assert found["fits"] and found["kind"] == "estimate"
    assert [device["name"] for device in found["devices"]] == ["k80", "v100"]
    for cost in found["costs"]:
        assert cost["forward"]["flops"] > 0 and cost["forward"]["bytes"] > 0
        assert 0 < cost["checked"]["v100"] <= cost["checked"]["k80"]
        assert cost["forward"]["seconds"] <= cost["seconds"]


def test_a_model_that_does_not_fit_is_flagged_and_makes_the_exit_code_1(corpus, capsys):
    assert run(corpus, "--models", "1", "--device", "k80", "--time-limit", "1e-6") == 1
    text = capsys.readouterr().out
    assert "TOO LONG" in text and "1 of 1 take longer than 1e-06 s" in text
    assert "v100" not in text


def test_enforce_checks_the_real_time_and_estimates_nothing(corpus, tmp_path, capsys):
    arguments = ["--max-models", "1", "--enforce", "--json", str(tmp_path / "limits.json")]
    assert run(corpus, *arguments) == 0
    assert "stimate" not in capsys.readouterr().out
    found = json.loads((tmp_path / "limits.json").read_text())
    assert found["kind"] == "measured"
    assert all(cost["checked"] == {"here": cost["seconds"]} for cost in found["costs"])
    assert run(corpus, "--limit", "1", "--enforce", "--time-limit", "1e-6") == 1


def test_enforce_on_a_device_that_is_not_here_is_refused(corpus, monkeypatch):
    found = "ingestion.cost.calibration.gpu_name"
    for name, said in ((None, "no GPU"), ("Tesla V100-SXM2-16GB", "Tesla V100-SXM2-16GB")):
        monkeypatch.setattr(found, lambda name=name: name)
        with pytest.raises(PgdlError, match=f"half.* of a Tesla K80; TensorFlow finds {said}"):
            run(corpus, "--enforce", "--device", "k80")
    assert run(corpus, "--max-models", "1", "--enforce", "--device", "v100") == 0


def test_a_model_that_cannot_be_measured_is_named_and_counts_as_not_fitting(
    corpus, tmp_path, capsys
):
    shutil.copytree(corpus / "task", tmp_path / "task")
    (tmp_path / "task" / "model_0" / "weights.hdf5").unlink()
    assert run(tmp_path, "--limit", "2", "--enforce") == 1
    text = capsys.readouterr().out
    assert "problem: task model_0 mixup" in text and "weights.hdf5" in text
    assert "0 of 2 take longer than 300 s, 1 could not be measured" in text


def test_all_leaves_out_in_one_line_what_the_corpus_has_nothing_for(
    corpus, tmp_path, monkeypatch, capsys
):
    zoo = shutil.copytree(corpus, tmp_path / "zoo")
    (zoo / "task" / "model_3" / "weights_init.hdf5").unlink()
    few = [complexity(name) for name in ("mixup", "fro_dist", "params")]
    monkeypatch.setattr("ingestion.run.chosen.measures", lambda: few)
    assert run(zoo, "-m", "all", "--max-models", "1") == 0
    text = capsys.readouterr().out
    assert "left out of `all`, because not every model here has what they need: 1 that" in text
    assert "all 2 stay within" in text and "problem" not in text


def test_wrong_names_are_errors(corpus):
    with pytest.raises(UnknownNameError, match="unknown device"):
        run(corpus, "--device", "k8")
    with pytest.raises(PgdlError, match="no model is named 99"):
        run(corpus, "--models", "99")


def test_the_verb_imports_tensorflow_only_when_it_runs():
    code = (
        "import argparse, sys\n"
        "from starting_kit_adapter.cli import limits\n"
        "limits.add_arguments(argparse.ArgumentParser())\n"
        "sys.exit('tensorflow' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


def test_the_time_of_a_build_is_estimated_before_it_starts(tmp_path, capsys):
    pytest.importorskip("sklearn")
    grid = {
        "architecture": "vgg",
        "hparams": {"width": [2, 4], "batch_size": [8, 16]},
        "fixed": {"blocks": 1, "dense_units": 8},
        "max_epochs": 10,
        "train_examples": 40,
    }
    (tmp_path / "tiny.json").write_text(json.dumps(grid))
    given = ["--grid", str(tmp_path / "tiny.json"), "--data", "digits", "--workers", "2"]
    assert run_verb(limits, *given) == 0
    shown = capsys.readouterr().out
    assert "4 models of 40 training examples, at most 10 epochs each" in shown
    assert shown.count("vgg blocks=1 dense_units=8") == 2  # one row for each width
    with pytest.raises(PgdlError, match="give a corpus and its measures"):
        run_verb(limits)


@pytest.mark.parametrize("option", ["--size", "--scale"])
def test_a_small_preset_is_asked_for_by_either_word(option):
    parser = argparse.ArgumentParser()
    limits.add_arguments(parser)
    order = order_of(parser.parse_args(["--grid", "wu-subset", option, "small"]))
    assert (order.size, order.scale) == ("small", "unit")


@pytest.fixture
def build_of_two():
    """A plan of two small networks, each trained for three epochs on eight images."""
    data = make_data(*([np.zeros((8, 8, 8, 3), np.float32), np.arange(8) % 2] * 2))
    entry = {
        "architecture": "vgg",
        "hparams": {"augmentation": ["none", "crop_flip"]},
        "fixed": {"blocks": 1, "width": 2, "dense_units": 2},
        "max_epochs": 3,
    }
    return Plan("t", {"a": "a"}, {"a": data}, parse_grid(entry, "grid"))


def test_the_start_of_a_training_is_counted_once_and_not_for_every_epoch(build_of_two, monkeypatch):
    now = [0.0]

    class Clocked(building.Trainer):
        def train(self, recipe):
            now[0] += 5 + 2 * recipe.max_epochs  # seconds: five to start, two for each epoch

    monkeypatch.setattr(building, "Trainer", Clocked)
    monkeypatch.setattr(building, "perf_counter", lambda: now[0])
    (jobs,) = building.alike(build_of_two)
    cost = building.cost_of(build_of_two, jobs)
    assert cost.example_seconds == 2 / 8
    compilations = 2  # one for each augmentation
    assert cost.seconds == compilations * cost.compile_seconds + 2 * (5 + 3 * 2)


def test_a_build_is_timed_with_its_augmentation(build_of_two, monkeypatch):
    plan = build_of_two
    (jobs,) = building.alike(plan)
    seen = []
    theirs = building.augmentation_of
    monkeypatch.setattr(
        building, "augmentation_of", lambda job, x: seen.append(job) or theirs(job, x)
    )
    assert building.cost_of(plan, jobs).models == 2
    assert [job.training["augmentation"] for job in seen] == ["crop_flip"]
