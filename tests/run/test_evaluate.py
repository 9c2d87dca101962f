"""`ingestion.evaluate`: `pgdl run` as a function."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from run_plans import done, measure, write_corpus

from ingestion import evaluate
from ingestion.run.executors.outcome import Outcome
from ingestion.run.executors.queue import Queue
from ingestion.run.loop import Listener
from pgdl_measures.errors import PgdlError, UnknownNameError

GI = measure("gi")


class InThisProcess:
    """Makes up the values of all jobs."""

    threads = 1

    def run(self, jobs: Queue) -> Iterator[Outcome]:
        while (job := jobs.take(0)) is not None:
            yield done(job)


@pytest.fixture()
def corpus(tmp_path: Path) -> Path:
    return write_corpus(tmp_path / "corpus", t=3, u=2)


def test_the_report_has_the_values_and_the_output_folder_the_record(corpus, tmp_path) -> None:
    told: list[object] = []
    listener = Listener(
        lambda plan: told.append(len(plan.jobs)), lambda job, good: told.append((job.model, good))
    )
    report = evaluate(
        str(corpus),
        [GI],
        str(tmp_path / "out"),
        tasks=["t"],
        executor=InThisProcess(),
        listener=listener,
        settings={"by": "a script"},
    )
    assert report.values("t", "gi") == {"model_0": 0.2, "model_1": 1.2, "model_2": 2.2}
    assert report.values("u", "gi") == {} and (report.asked, report.computed) == (3, 3)
    assert told[0] == 3 and {("model_0", True), ("model_1", True)} < set(told[1:])
    about = json.loads((tmp_path / "out" / "run.json").read_text())
    assert about["corpus"] == str(corpus) and about["settings"] == {"by": "a script"}


def test_models_are_named_with_or_without_their_prefix(corpus, tmp_path) -> None:
    report = evaluate(
        corpus, [GI], tmp_path, models=["1", "model_2"], max_models=1, executor=InThisProcess()
    )
    assert report.results.keys() == {("t", "model_1", "gi"), ("u", "model_1", "gi")}
    with pytest.raises(UnknownNameError, match="unknown model '7'"):
        evaluate(corpus, [GI], tmp_path, models=["7"])


def test_what_cannot_be_computed_is_refused_before_anything_is_written(corpus, tmp_path) -> None:
    for wrong, message in [
        ({"measures": []}, "no measure is named"),
        ({"measures": [GI, GI]}, "two measures are named 'gi'"),
        ({"measures": ["mixup", measure("mixup")]}, "two measures are named 'mixup'"),
        ({"measures": [GI], "tasks": []}, "no task is selected"),
        ({"measures": [GI], "tasks": ["v"]}, "unknown task 'v'"),
        ({"measures": ["mixupp"]}, "did you mean mixup"),
    ]:
        with pytest.raises(PgdlError, match=message):
            evaluate(corpus, out=tmp_path / "out", **wrong)
    assert not (tmp_path / "out").exists()


def test_importing_the_entry_point_does_not_import_tensorflow() -> None:
    code = "import sys, ingestion; ingestion.evaluate; sys.exit('tensorflow' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
