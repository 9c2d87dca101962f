"""The competition has the published structure, and its programs run as the worker runs them.

Structure: docs.codabench.org, "Yaml-Structure" and "Competition-Bundle-Structure". Worker:
`compute_worker.py` of codalab/codabench, whose replacements and folders are written down here.
"""

from __future__ import annotations

import argparse
import json
import shlex
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from pgdl_measures.errors import PgdlError
from starting_kit_adapter.cli import codabench_bundle
from starting_kit_adapter.codabench.competition import columns
from starting_kit_adapter.codabench.yaml_text import yaml_text

yaml = pytest.importorskip("yaml")

L2_NORM = """
import numpy as np

def complexity(model, dataset):
    return np.sqrt(sum(np.sum(np.square(weights)) for weights in model.get_weights()))
"""


def make(folder: Path, *arguments: object) -> Path:
    """The unpacked competition."""
    parser = argparse.ArgumentParser()
    codabench_bundle.add_arguments(parser)
    path = folder / "competition.zip"
    words = [str(argument) for argument in (*arguments, "-o", path)]
    assert codabench_bundle.run(parser.parse_args(words)) == 0
    with zipfile.ZipFile(path) as archive:
        archive.extractall(folder / "competition")
    return folder / "competition"


@pytest.fixture(scope="module")
def competition(corpus: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make(tmp_path_factory.mktemp("codabench"), corpus)


@pytest.fixture(scope="module")
def described(competition: Path) -> dict:
    return yaml.safe_load((competition / "competition.yaml").read_text())


def test_what_is_required_is_there(competition, described):
    assert described["version"] == 2
    assert {"title", "image", "terms", "pages", "phases", "tasks", "leaderboards"} <= set(described)
    assert (competition / described["image"]).read_bytes().startswith(b"\x89PNG")
    assert (competition / described["terms"]).read_text()
    for page in described["pages"]:
        assert page["title"] and (competition / page["file"]).read_text()
    (task,) = described["tasks"]
    for part in ("ingestion_program", "scoring_program", "input_data", "reference_data"):
        assert (competition / task[part]).is_dir()
    (phase,) = described["phases"]
    assert phase["tasks"] == [task["index"]]
    assert {"name", "start"} <= set(phase)
    assert phase["execution_time_limit"] >= 9 * 300
    (solution,) = described["solutions"]
    assert solution["tasks"] == [task["index"]]
    with zipfile.ZipFile(competition / solution["path"]) as archive:
        assert "complexity.py" in archive.namelist()


def test_the_leaderboard(described):
    (leaderboard,) = described["leaderboards"]
    assert {"title", "key"} <= set(leaderboard)
    found = {column["key"]: column for column in leaderboard["columns"]}
    assert list(found) == [
        "task_average_score",
        "task_task_a_score",
        "task_task_b_score",
        "Duration",
    ]
    assert [column["index"] for column in found.values()] == [0, 1, 2, 3]
    assert found["task_average_score"]["sorting"] == "desc"


def test_the_input_data_holds_no_answers(competition):
    names = {path.name for path in (competition / "input_data").rglob("*")}
    assert "config.json" in names and "train" in names
    assert not names & {"model_configs.json", "test"}


def command(program: Path, app: Path, kind: str) -> list[str]:
    """The worker's command line, with its `/app` at another place."""
    text = yaml.safe_load((program / "metadata").read_text())["command"]
    for variable, place in (
        ("$input", "/app/input_data" if kind == "ingestion" else "/app/input"),
        ("$output", "/app/output"),
        ("$program", "/app/program"),
        ("$ingestion_program", "/app/program"),
        ("$submission_program", "/app/ingested_program"),
    ):
        text = text.replace(variable, place)
    python, *arguments = shlex.split(text.replace("/app/", f"{app}/"))
    assert python == "python3"
    return [sys.executable, *arguments]


def run_as_worker(app: Path, kind: str, environment: dict[str, str]) -> None:
    subprocess.run(
        command(app / "program", app, kind),
        cwd=app / "program",
        env={**environment, "PYTHONUNBUFFERED": "1"},
        check=True,
        timeout=300,
    )
    assert not (app / "output" / "metadata").exists()  # or the worker fails


@pytest.mark.keras2
def test_a_third_partys_submission_runs_and_scores(competition, clean_environment, tmp_path):
    prediction = tmp_path / "prediction"
    (prediction / "ingested_program").mkdir(parents=True)
    (prediction / "output").mkdir()
    (prediction / "ingested_program" / "complexity.py").write_text(L2_NORM)
    (prediction / "ingested_program" / "metadata").write_text("description: L2 norm\n")
    (prediction / "program").symlink_to(competition / "ingestion_program")
    (prediction / "input_data").symlink_to(competition / "input_data")
    run_as_worker(prediction, "ingestion", clean_environment)

    scoring = tmp_path / "scoring"
    (scoring / "input").mkdir(parents=True)
    (scoring / "output").mkdir()
    (prediction / "output").rename(scoring / "input" / "res")
    (scoring / "input" / "res" / "metadata").write_text("elapsedTime: 12.5\nexitCode: null\n")
    (scoring / "input" / "ref").symlink_to(competition / "reference_data")
    (scoring / "program").symlink_to(competition / "scoring_program")
    run_as_worker(scoring, "scoring", clean_environment)

    scores = json.loads((scoring / "output" / "scores.json").read_text())
    assert set(scores) == {column["key"] for column in columns(["task_a", "task_b"])}
    assert scores["Duration"] == 12.5
    tasks = [scores["task_task_a_score"], scores["task_task_b_score"]]
    assert all(0 <= score <= 1 for score in tasks)
    assert scores["task_average_score"] == pytest.approx(50 * sum(tasks))
    assert "<html" in (scoring / "output" / "detailed_results.html").read_text()


KEY = "0f3a3c1e-6f0b-4b55-9d3c-3b1b7f9c2a10"


@pytest.mark.parametrize(
    ("where", "key", "read"), [(KEY, KEY, "$input"), ("/app/data/zoo", None, "/app/data/zoo")]
)
def test_data_that_is_elsewhere_is_left_out(where, key, read, corpus, tmp_path):
    found = make(tmp_path, corpus, "--input-data", where)
    described = yaml.safe_load((found / "competition.yaml").read_text())
    assert described["tasks"][0].get("input_data") == key
    assert not (found / "input_data").exists()
    assert f"ingestion.py {read} $output" in (found / "ingestion_program" / "metadata").read_text()


def test_much_data_is_not_zipped_by_accident(corpus, tmp_path, monkeypatch):
    monkeypatch.setattr(codabench_bundle, "_ZIP_LIMIT", 1000)
    with pytest.raises(PgdlError, match="--input-data zip"):
        make(tmp_path, corpus)
    assert (make(tmp_path, corpus, "--input-data", "zip") / "input_data").is_dir()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--input-data", "my_data"], "the input data is 'my_data'; expected the key"),
        (["--start", "tomorrow"], "the start is 'tomorrow'; expected for example"),
    ],
)
def test_wrong_settings_are_named(arguments, message, corpus, tmp_path):
    with pytest.raises(PgdlError, match=message):
        make(tmp_path, corpus, *arguments)


def test_a_task_whose_name_is_too_long_for_a_column():
    with pytest.raises(PgdlError, match="rename the task's folder"):
        columns(["t" * 40])


def test_yaml_reads_what_was_written():
    value = {"a": [{"b": "x: # 'y'", "c": [1, 2.5]}, "-", []], "d": {"e": None, "f": True}, "g": {}}
    assert yaml.safe_load(yaml_text(value)) == value
