"""`pgdl score`: published scores, leaderboards, exit codes, and no TensorFlow."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path

import pytest
from scoring_files import write_predictions, write_reference
from shared_data import PGDL
from verbs import run_verb

from scoring.errors import ScoringError
from starting_kit_adapter.cli import score

ROOT = Path(__file__).resolve().parents[2]


def run(*arguments: object) -> int:
    return run_verb(score, *arguments)


def test_leaderboard_of_the_real_measures_has_the_published_scores(tmp_path, capsys):
    published = json.loads((PGDL / "published_scores.json").read_text())
    predictions = PGDL / "predictions"
    assert run("--reference", PGDL, "--predictions", predictions, "-o", tmp_path) == 0
    for measure, expected in published.items():
        written = (tmp_path / measure / "scores.txt").read_text().splitlines()
        assert written[:3] == [
            f"task_task1_v4_score: {expected['task1_v4']:.12f}",
            f"task_task2_v1_score: {expected['task2_v1']:.12f}",
            f"task_average_score: {expected['task_average_score']:.12f}",
        ]
    order = [line.split()[0] for line in capsys.readouterr().out.splitlines()[3:7]]
    assert order == sorted(published, key=lambda name: -published[name]["task_average_score"])


def test_both_real_tasks_are_scored_in_under_a_second(capsys):
    start = time.process_time()
    assert run("--reference", PGDL, "--predictions", PGDL / "predictions" / "VR") == 0
    assert time.process_time() - start < 1.0
    out = capsys.readouterr().out
    assert "average score 14.448875 (100 times the mean score of 2 of 2 tasks)" in out
    assert "h3, h4" in out


def test_without_output_nothing_is_written(tmp_path):
    write_reference(tmp_path / "ref" / "task1")
    write_predictions(tmp_path / "pred", "task1")
    before = sorted(tmp_path.rglob("*"))
    assert run("--reference", tmp_path / "ref", "--predictions", tmp_path / "pred") == 0
    assert sorted(tmp_path.rglob("*")) == before


def test_a_task_without_a_score_is_named_and_exits_1(tmp_path, capsys):
    for task in ("task1", "task2"):
        write_reference(tmp_path / "ref" / task)
    write_predictions(tmp_path / "pred", "task1")
    assert run("--reference", tmp_path / "ref", "--predictions", tmp_path / "pred") == 1
    out = capsys.readouterr().out
    assert "no score for task2" in out
    assert "1 of 2 tasks" in out


def test_a_measure_with_a_failed_task_is_named_in_the_leaderboard(tmp_path, capsys):
    write_reference(tmp_path / "ref" / "task1")
    write_predictions(tmp_path / "pred" / "good", "task1")
    write_predictions(tmp_path / "pred" / "bad", "task1", {"model_0": 1.0})
    assert run("--reference", tmp_path / "ref", "--predictions", tmp_path / "pred") == 1
    out = capsys.readouterr().out
    assert "0 of 1" in out
    assert "task1: no score for bad: no prediction for model_1" in out
    assert "95 % interval" not in out


def test_a_folder_without_predictions_is_refused(tmp_path):
    write_reference(tmp_path / "ref" / "task1")
    (tmp_path / "pred").mkdir()
    with pytest.raises(ScoringError, match=r"has no predictions: expected .*<task>\.predict"):
        run("--reference", tmp_path / "ref", "--predictions", tmp_path / "pred")


def test_scoring_never_imports_tensorflow(tmp_path):
    write_reference(tmp_path / "ref" / "task1")
    write_predictions(tmp_path / "pred", "task1")
    program = f"""
import argparse, sys
import scoring.bootstrap, scoring.rank
from starting_kit_adapter import score as kit
from starting_kit_adapter.cli import score
parser = argparse.ArgumentParser()
score.add_arguments(parser)
folders = [{str(tmp_path / "ref")!r}, {str(tmp_path / "pred")!r}]
options = ["--reference", folders[0], "--predictions", folders[1]]
assert score.run(parser.parse_args(options)) == 0
assert kit.main([*folders, {str(tmp_path / "out")!r}]) == 0
assert not {{"tensorflow", "keras"}} & set(sys.modules)
"""
    command = [sys.executable, "-c", program]
    ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
