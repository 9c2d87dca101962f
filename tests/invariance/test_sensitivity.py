"""`pgdl study sensitivity`: how many batches are enough."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from corpora import write_task
from verbs import run_verb

from ingestion.corpus import find_corpus
from ingestion.run.executors.measuring import Measuring
from ingestion.run.executors.outcome import WARMING_UP, Measured, Step
from ingestion.run.plan import Job, Request
from pgdl_measures import complexity
from pgdl_measures.errors import PgdlError
from starting_kit_adapter.studies import sensitivity
from starting_kit_adapter.studies.sensitivity.findings import Point, Sensitivity, to_text
from starting_kit_adapter.terminal.numbers import seed


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Six models of one hyperparameter, so that there is something to predict within its values."""
    folder = write_task(tmp_path_factory.mktemp("corpus") / "images", count=60)
    keep_hparams(folder, "architecture")
    return folder


def keep_hparams(folder: Path, *names: str) -> None:
    reference = json.loads((folder / "model_configs.json").read_text())
    for entry in reference.values():
        entry["hparams"] = {name: entry["hparams"][name] for name in names}
    (folder / "model_configs.json").write_text(json.dumps(reference))


def test_the_smallest_number_within_a_deviation_of_the_largest_is_recommended():
    def found(*scores: float) -> int:
        points = tuple(Point(2**i, score, 0.1, 1.0, 0.0) for i, score in enumerate(scores))
        return Sensitivity("gi", 9, 5, points).recommended

    assert found(0.1, 0.3, 0.45, 0.5) == 4
    assert found(0.7, 0.5) == 2  # better than the largest is not near to it
    assert found(0.5) == 1


def test_one_run_recommends_nothing():
    points = (Point(1, 0.1, None, 1.0, None), Point(2, 0.5, None, 2.0, None))
    found = Sensitivity("gi", 9, 1, points)
    assert found.recommended is None
    assert "no recommendation: one run has no standard deviation" in to_text(found)


def test_every_number_of_batches_has_a_time_and_a_score(corpus, tmp_path, capsys):
    out = tmp_path / "out"
    arguments = (corpus, "-m", "gi_intra_l0", "-o", out, "--batches", "2,1", "--runs", 2)
    assert run_verb(sensitivity, *arguments, "--workers", 1) == 0
    shown = capsys.readouterr().out
    assert "6 models, 2 runs" in shown and "recommended:" in shown
    (found,) = json.loads((out / "sensitivity" / "images.json").read_text())
    assert [point["batches"] for point in found["points"]] == [1, 2]
    assert all(point["seconds"] > 0 and 0 <= point["cmi"] <= 1 for point in found["points"])
    assert (out / "sensitivity" / "images.svg").is_file()


def test_a_measure_without_batches_is_refused(corpus, tmp_path):
    with pytest.raises(PgdlError, match="params draws no batches"):
        run_verb(sensitivity, corpus, "-m", "params", "-o", tmp_path)


def test_numbers_of_batches_that_the_task_does_not_have_are_left_out(corpus, tmp_path, capsys):
    """60 examples are one batch of a perturbation's curve; mixup shuffles them again."""
    arguments = (corpus, "-m", "gi_rotation,gi_intra_l0", "-o", tmp_path, "--runs", 1)
    assert run_verb(sensitivity, *arguments, "--batches", "1,2", "--workers", 1) == 0
    shown = capsys.readouterr().out
    assert shown.count("skipped: 2 batches - the training data has fewer") == 1
    rotation, mixup = json.loads((tmp_path / "sensitivity" / "images.json").read_text())
    assert [point["batches"] for point in rotation["points"]] == [1]
    assert [point["batches"] for point in mixup["points"]] == [1, 2]
    assert not list(tmp_path.glob("gi_rotation_b2*"))


def test_failures_are_told_and_a_task_without_a_score_keeps_its_times(corpus, tmp_path, capsys):
    folder = Path(shutil.copytree(corpus.parent, tmp_path / "zoo"))
    undefined = write_task(folder / "undefined", count=60)  # one model per cell: no pair to predict
    (undefined / "model_5" / "weights.hdf5").unlink()
    out = tmp_path / "out"
    arguments = (folder, "-m", "gi_intra_l0", "-o", out, "--batches", 1, "--runs", 2)
    assert run_verb(sensitivity, *arguments, "--workers", 1) == 1
    shown = capsys.readouterr().out
    reason = shown.index("failed: undefined model_5 gi_intra_l0_b1_s0 and 1 other measure: ")
    assert reason < shown.index("gi_intra_l0: 5 models, 2 runs")
    assert "the CMI is undefined" in shown
    (found,) = json.loads((out / "sensitivity" / "undefined.json").read_text())
    assert found["points"][0]["cmi"] is None and found["points"][0]["seconds"] > 0
    assert (out / "sensitivity" / "images.json").is_file()


def test_a_study_can_retry_recompute_and_take_longer(corpus, tmp_path, monkeypatch):
    asked: list[Request] = []

    def run(request, *unused):
        asked.append(request)
        raise KeyboardInterrupt

    monkeypatch.setattr("ingestion.run.evaluate.run", run)  # the entry point of `pgdl run`, too
    arguments = (corpus, "-m", "gi_intra_l0", "-o", tmp_path)
    assert run_verb(sensitivity, *arguments) == 130
    again = ("--retry-failed", "--recompute", "--time-limit", 900)
    assert run_verb(sensitivity, *arguments, *again) == 130
    plain, more = asked
    assert (plain.retry_failed, plain.recompute, plain.limits.seconds) == (False, False, 300)
    assert (more.retry_failed, more.recompute, more.limits.seconds) == (True, True, 900)
    assert [measure.name for measure in more.warm_up] == ["gi_intra_l0"]


def test_a_model_is_warmed_up_before_the_clock_runs(corpus):
    (task,) = find_corpus(corpus).tasks
    measure, warm_up = complexity("gi_noise", batches=1), complexity("gi_noise", batches=1, seed=9)
    files = task.model_folder("model_0"), tuple(task.shards())
    job = Job("images", "model_0", *files, (measure,), "", 9.0, warm_up=(warm_up,))
    messages = list(Measuring().run(job))
    assert messages.index(Step(WARMING_UP)) < messages.index(Step("gi_noise"))
    assert [message.name for message in messages if isinstance(message, Measured)] == ["gi_noise"]


@pytest.mark.parametrize("text", ["-1", "1.5", str(2**31), "one"])
def test_a_seed_is_a_number_that_every_generator_takes(text):
    assert seed(str(2**31 - 1)) == 2**31 - 1
    with pytest.raises(Exception, match="expected an integer from 0"):
        seed(text)
