"""The competition has the published structure, and its programs run as the worker runs them.

Structure: docs.codabench.org, "Yaml-Structure" and "Competition-Bundle-Structure". The worker's
folders and commands are in `codabench_worker.py`.
"""

from __future__ import annotations

import json
import os
import shutil
import zipfile
from pathlib import Path

import pytest
from codabench_worker import Worker
from verbs import run_verb

from pgdl_measures.errors import PgdlError
from starting_kit_adapter.cli import codabench_bundle
from starting_kit_adapter.codabench.competition import columns
from starting_kit_adapter.codabench.yaml_text import yaml_text
from starting_kit_adapter.score import main as score_main
from starting_kit_adapter.submission.errors import SubmissionError
from starting_kit_adapter.submission.metadata import check_metadata

yaml = pytest.importorskip("yaml")

L2_NORM = """
import numpy as np

def complexity(model, dataset):
    return np.sqrt(sum(np.sum(np.square(weights)) for weights in model.get_weights()))
"""
CONSTANT = "def complexity(model, dataset):\n    return 1.0\n"
FAILS_AT_ONCE = "def complexity(model, dataset):\n    raise ValueError('no')\n"
FAILS_AT_THE_SEVENTH_MODEL = """
calls = []

def complexity(model, dataset):
    calls.append(model)
    return len(calls) if len(calls) < 7 else 1 / 0
"""
# In the order of the gaps that `corpora.write_task` gives its models.
PERFECT = {
    "a": json.dumps({f"model_{i}": i for i in range(6)}),
    "b": json.dumps({f"model_{i}": i for i in range(3)}),
}


def make(folder: Path, *arguments: object) -> Path:
    """The unpacked competition."""
    path = folder / "competition.zip"
    assert run_verb(codabench_bundle, *arguments, "-o", path) == 0
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


@pytest.mark.keras2
def test_a_third_partys_submission_runs_and_scores(competition, clean_environment, tmp_path):
    worker = Worker(competition, tmp_path, clean_environment)
    predicted = worker.predict({"complexity.py": L2_NORM, "metadata": "description: L2 norm\n"})
    assert predicted["ingestionExitCode"] == 0
    assert worker.score() == 0
    scores = worker.scores
    assert set(scores) == {column["key"] for column in columns(["task_a", "task_b"])}
    assert scores["Duration"] == pytest.approx(predicted["elapsedTime"], abs=1e-3)
    tasks = [scores["task_task_a_score"], scores["task_task_b_score"]]
    assert all(0 <= score <= 1 for score in tasks)
    assert scores["task_average_score"] == pytest.approx(50 * sum(tasks))
    assert "<html" in (worker.root / "scoring" / "output" / "detailed_results.html").read_text()


PREDICTIONS = {f"task_{t}.predict": PERFECT[t] for t in "ab"}
DESCRIPTION = {"metadata": "description: d\n"}
COMMAND = {"metadata": "description: d\ncommand: python3 write_predictions.py\n"}


@pytest.mark.parametrize(
    ("files", "message"),
    [
        # Fails on the second of the two tasks: the first must not rank it.
        ({"complexity.py": FAILS_AT_THE_SEVENTH_MODEL, **DESCRIPTION}, "failed at task_b model_0"),
        # Has no metadata, so the worker copies its files, predictions included, to the output.
        ({"complexity.py": FAILS_AT_ONCE, **PREDICTIONS}, "failed at task_a model_0"),
        ({"readme.md": "no program", **PREDICTIONS}, "has no complexity.py"),
        # Would be run by the worker itself, beside the ingestion program.
        ({"complexity.py": L2_NORM, **COMMAND, **PREDICTIONS}, "has a command"),
    ],
)
def test_a_submission_that_fails_anywhere_gets_no_score(
    files, message, competition, clean_environment, tmp_path
):
    worker = Worker(competition, tmp_path, clean_environment)
    assert worker.predict(files)["ingestionExitCode"] == 1
    assert message in worker.log
    assert worker.score() == 1
    assert worker.scores is None
    assert "the ingestion program's exit code is 1" in worker.log


def test_predictions_that_a_submission_brings_are_not_scored(
    competition, clean_environment, tmp_path
):
    worker = Worker(competition, tmp_path, clean_environment)
    assert worker.predict({"complexity.py": CONSTANT, **PREDICTIONS})["ingestionExitCode"] == 0
    assert worker.score() == 0
    assert worker.scores["task_average_score"] == 0  # of constant predictions, not of those brought


@pytest.fixture(scope="module")
def predicted(competition, clean_environment, tmp_path_factory) -> Path:
    """The folders of a worker after a submission was run."""
    worker = Worker(competition, tmp_path_factory.mktemp("predicted"), clean_environment)
    worker.predict({"complexity.py": CONSTANT, **DESCRIPTION})
    return worker.root


@pytest.mark.parametrize("spoil", [Path.unlink, lambda path: path.write_text("{}")])
def test_a_task_without_predictions_fails_the_submission(
    spoil, predicted, competition, clean_environment, tmp_path
):
    shutil.copytree(predicted, tmp_path / "worker", symlinks=True)
    worker = Worker(competition, tmp_path / "worker", clean_environment)
    spoil(worker.root / "prediction" / "output" / "task_a.predict")
    assert worker.score() == 1
    assert worker.scores is None
    assert "no score for task_a" in worker.log


@pytest.mark.parametrize("code", ["1", "137", "null"])
def test_an_ingestion_that_failed_is_not_scored(code, competition, tmp_path, capsys):
    for task in "ab":
        (tmp_path / "res").mkdir(exist_ok=True)
        (tmp_path / "res" / f"task_{task}.predict").write_text(PERFECT[task])
    (tmp_path / "ref").symlink_to(competition / "reference_data")
    metadata = tmp_path / "res" / "metadata"
    metadata.write_text(f"exitCode: null\nelapsedTime: 3.0\ningestionExitCode: {code}\n")
    assert score_main([str(tmp_path), str(tmp_path / "out")]) == 1
    assert f"exit code is {code}" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()
    metadata.write_text("exitCode: null\nelapsedTime: 3.0\ningestionExitCode: 0\n")
    assert score_main([str(tmp_path), str(tmp_path / "out")]) == 0


@pytest.mark.parametrize(
    "text",
    [
        "command: run",
        "description: d\ncommand : run",
        "{description: d, command: run}",
        '"command": run',
        "? command\n: run",
        "  command: run",
        "description: d\n---\ncommand: run",
        "description: d\u2028command: run",
    ],
)
@pytest.mark.parametrize("name", ["metadata", "metadata.yaml"])
def test_no_command_is_overlooked(text, name, tmp_path):
    (tmp_path / name).write_text(text, encoding="utf-8")
    with pytest.raises(SubmissionError, match="command"):
        check_metadata(tmp_path)


def test_a_pipe_in_place_of_the_description_is_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "metadata")
    with pytest.raises(SubmissionError, match="not a regular file"):
        check_metadata(tmp_path)


def test_descriptions_are_accepted(tmp_path):
    (tmp_path / "metadata").write_text("# ours\ndescription: the command\n  of: it\nauthor: me\n")
    check_metadata(tmp_path)


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
    monkeypatch.setattr(codabench_bundle, "ZIP_LIMIT", 1000)
    with pytest.raises(PgdlError, match="--input-data zip"):
        make(tmp_path, corpus)
    assert (make(tmp_path, corpus, "--input-data", "zip") / "input_data").is_dir()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--input-data", "my_data"], "the input data is 'my_data'; expected the key"),
        (["--start", "tomorrow"], "the start is 'tomorrow'; expected for example"),
        (["--queue", "mine"], "the queue is 'mine'; expected the vhost of a queue"),
        (["--title", "t" * 257], "the title has 257 characters and Codabench takes 1 to 256"),
        (["--title", " "], "the title has 0 characters"),
        (["--docker-image", "i" * 129], "the docker image has 129 characters .* 1 to 128"),
    ],
)
def test_wrong_settings_are_named(arguments, message, corpus, tmp_path):
    with pytest.raises(PgdlError, match=message):
        make(tmp_path, corpus, *arguments)
    assert not list(tmp_path.iterdir())


def test_the_longest_title_and_image_are_accepted(corpus, tmp_path):
    found = make(tmp_path, corpus, "--title", "t" * 256, "--docker-image", "i" * 128)
    described = yaml.safe_load((found / "competition.yaml").read_text())
    assert len(described["title"]) == 256 and len(described["docker_image"]) == 128


def test_the_default_queue_and_its_cap_are_told(corpus, tmp_path, capsys):
    found = make(tmp_path, corpus)
    described = yaml.safe_load((found / "competition.yaml").read_text())
    assert "queue" not in described and described["registration_auto_approve"] is False
    assert "after 600 seconds in all" in (found / "pages" / "submission.md").read_text()
    printed = capsys.readouterr()
    assert "may take 3300 seconds" in printed.err and "--queue" in printed.err
    assert "publish the competition" in printed.out


def test_a_queue_of_ones_own_and_open_registration(corpus, tmp_path, capsys):
    found = make(tmp_path, corpus, "--queue", KEY, "--auto-approve")
    described = yaml.safe_load((found / "competition.yaml").read_text())
    assert described["queue"] == KEY and described["registration_auto_approve"] is True
    assert "600 seconds in all" not in (found / "pages" / "submission.md").read_text()
    assert not capsys.readouterr().err


def test_a_task_that_nobody_could_be_scored_on_is_refused(corpus, tmp_path):
    shutil.copytree(corpus, tmp_path / "corpus")
    path = tmp_path / "corpus" / "input_data" / "task_b" / "model_configs.json"
    configs = json.loads(path.read_text())
    for config in configs.values():
        config["metrics"]["test_acc"] = 0.5  # the same gap for all
    path.write_text(json.dumps(configs))
    (tmp_path / "out").mkdir()
    with pytest.raises(PgdlError, match="no submission could be scored on task_b"):
        make(tmp_path / "out", tmp_path / "corpus")
    assert not list((tmp_path / "out").iterdir())


def test_a_task_whose_name_is_too_long_for_a_column():
    with pytest.raises(PgdlError, match="rename the task's folder"):
        columns(["t" * 40])


def test_a_task_named_average_would_be_taken_for_the_average():
    with pytest.raises(PgdlError, match=r"a task named 'average'.* rename the task's folder"):
        columns(["task_a", "average"])


def test_yaml_reads_what_was_written():
    value = {"a": [{"b": "x: # 'y'", "c": [1, 2.5]}, "-", []], "d": {"e": None, "f": True}, "g": {}}
    assert yaml.safe_load(yaml_text(value)) == value
    odd = "Größe 😀 \\ud83d \"'\t\n\x7f\x85\u2028 # - :"
    assert yaml.safe_load(yaml_text({"a": odd, "b": [odd]})) == {"a": odd, "b": [odd]}
