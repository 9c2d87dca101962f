"""The kit's rules, its files, and the published scores through the kit-compatible program."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from scoring_files import configs, write_predictions, write_reference
from shared_data import PGDL

from scoring.kit.program import score_folders
from scoring.kit.results import write_results
from starting_kit_adapter.score import main

ROOT = Path(__file__).resolve().parents[2]
FILES = {"scores.txt", "scores.json", "scores.html", "detailed_results.html"}


def program(*arguments: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "starting_kit_adapter.score", *map(str, arguments)]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


def read_scores(folder: Path) -> dict[str, str]:
    return dict(line.split(": ") for line in (folder / "scores.txt").read_text().splitlines())


@pytest.fixture
def folders(tmp_path):
    """Two tasks with references and good predictions."""
    for task in ("task1", "task2"):
        write_reference(tmp_path / "ref" / task)
        write_predictions(tmp_path / "res", task)
    return tmp_path / "ref", tmp_path / "res", tmp_path / "out"


@pytest.mark.parametrize("measure", ["VPM_1", "VPM_80", "VR", "WCV"])
@pytest.mark.parametrize("form", ["three arguments", "two arguments"])
def test_scores_equal_the_published_ones_to_12_digits(tmp_path, measure, form):
    published = json.loads((PGDL / "published_scores.json").read_text())[measure]
    reference, predictions = PGDL / "reference_data", PGDL / "predictions" / measure
    if form == "three arguments":
        ran = program(reference, predictions, tmp_path / "out")
    else:
        (tmp_path / "input").mkdir()
        (tmp_path / "input" / "ref").symlink_to(reference)
        (tmp_path / "input" / "res").symlink_to(predictions)
        ran = program(tmp_path / "input", tmp_path / "out")
    assert ran.returncode == 0, ran.stderr
    assert read_scores(tmp_path / "out") == {
        "task_task1_v4_score": f"{published['task1_v4']:.12f}",
        "task_task2_v1_score": f"{published['task2_v1']:.12f}",
        "task_average_score": f"{published['task_average_score']:.12f}",
        "Duration": "0",
    }


def test_writes_its_files_whole_and_no_metadata(folders):
    assert main([str(folder) for folder in folders]) == 0
    assert {path.name for path in folders[2].iterdir()} == FILES


def test_json_has_the_keys_and_numbers_of_the_text(folders):
    write_results(score_folders(*folders[:2]), folders[2])
    text = read_scores(folders[2])
    numbers = json.loads((folders[2] / "scores.json").read_text())
    assert numbers == {key: float(value) for key, value in text.items()}
    assert list(numbers) == [
        "task_task1_score",
        "task_task2_score",
        "task_average_score",
        "Duration",
    ]


def test_duration_is_the_platforms(folders):
    (folders[1] / "metadata").write_text("exitCode: 0\nelapsedTime: 12.5\n")
    write_results(score_folders(*folders[:2]), folders[2])
    assert read_scores(folders[2])["Duration"] == "12.500000"


def test_a_task_that_cannot_be_scored_leaves_the_average(folders, capsys):
    (folders[1] / "task2.predict").unlink()
    assert main([str(folder) for folder in folders]) == 0
    scores = read_scores(folders[2])
    assert scores["task_task2_score"] == "-0.999999000000"
    average = 100 * float(scores["task_task1_score"])
    assert float(scores["task_average_score"]) == pytest.approx(average, abs=1e-9)
    assert "no score for task2: cannot read" in capsys.readouterr().out


def test_exceeded_makes_the_average_zero_and_has_no_line(folders, capsys):
    write_predictions(folders[1], "task1", {"model_0": 1.0, "model_1": "EXCEEDED"})
    assert main([str(folder) for folder in folders]) == 0
    scores = read_scores(folders[2])
    assert "task_task1_score" not in scores
    assert float(scores["task_task2_score"]) > 0
    assert scores["task_average_score"] == "0.000000000000"
    assert "no score for task1" in capsys.readouterr().out


def test_nothing_scored_is_a_failure_that_still_writes(folders, capsys):
    for task in ("task1", "task2"):
        write_predictions(folders[1], task, '{"model_0": NaN}')
    assert main([str(folder) for folder in folders]) == 1
    assert read_scores(folders[2]) == {
        "task_task1_score": "-0.999999000000",
        "task_task2_score": "-0.999999000000",
        "task_average_score": "0.000000000000",
        "Duration": "0",
    }
    printed = capsys.readouterr()
    assert "no task could be scored" in printed.err
    assert "model_0 (nan)" in printed.out


def test_a_broken_reference_spoils_its_own_task_only(folders):
    write_reference(folders[0] / "task2", "{")
    scores = score_folders(*folders[:2])
    assert [task.task for task in scores.failed] == ["task2"]
    assert len(scores.scored) == 1


def test_predictions_without_a_reference_are_told(folders, capsys):
    write_predictions(folders[1], "task7")
    assert main([str(folder) for folder in folders]) == 0
    assert "no reference for task7.predict" in capsys.readouterr().out


def test_an_incomplete_grid_is_scored_with_a_warning(folders):
    content = {key: value for key, value in configs().items() if key not in ("6", "model_7")}
    write_reference(folders[0] / "task1", content)
    write_predictions(folders[1], "task1", {f"model_{number}": number for number in range(6)})
    task = score_folders(*folders[:2]).tasks[0]
    assert task.cmi is not None
    assert task.warnings[0].startswith("6 models are too few to compare measures")
    assert task.warnings[1] == "the grid is incomplete: 2 cells have no model"
    assert "groups are empty" in task.warnings[2]


def test_page_escapes_names_and_marks_the_minimum(tmp_path):
    content = configs()
    for config in content.values():
        config["hparams"]["<b>"] = config["hparams"].pop("width")
    write_reference(tmp_path / "ref" / "a<script>", content)
    write_predictions(tmp_path / "res", "a<script>")
    write_predictions(tmp_path / "res", "<i>")
    write_results(score_folders(tmp_path / "ref", tmp_path / "res"), tmp_path / "out")
    page = (tmp_path / "out" / "scores.html").read_text()
    assert "<script>" not in page and "<b>" not in page and "<i>" not in page
    assert "a&lt;script&gt;" in page
    assert page.count('class="marked"') == 1
    assert "http" not in page  # self-contained


@pytest.mark.parametrize("arguments", [[], ["one"], ["1", "2", "3", "4"]])
def test_wrong_number_of_arguments_shows_usage(arguments, capsys):
    assert main(arguments) == 2
    assert "usage" in capsys.readouterr().err


def test_missing_folders_are_one_line(tmp_path, capsys):
    assert main([str(tmp_path / "ref"), str(tmp_path), str(tmp_path / "out")]) == 1
    assert capsys.readouterr().err.startswith("error: there is no folder")


def test_a_save_that_fails_is_told(folders, capsys):
    folders[2].write_text("a file where the folder should be")
    assert main([str(folder) for folder in folders]) == 1
    assert "cannot write" in capsys.readouterr().err
