"""Corpora of empty files and measures of no code: enough to plan with."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ingestion.corpus import find_corpus
from ingestion.run import fingerprint
from ingestion.run.budget import TimeLimit
from ingestion.run.executors.outcome import Files, Finished, Measured, Outcome, Step, Tally
from ingestion.run.fingerprint import model_files, stamp
from ingestion.run.plan import Job, Request
from pgdl_measures.base import Measure
from scoring.record import Line


def write_corpus(root: Path, **tasks: int) -> Path:
    """Tasks of so many models; every second one has another architecture."""
    for name, models in tasks.items():
        shards = root / name / "dataset_1" / "train"
        shards.mkdir(parents=True)
        (shards / "shard_0.tfrecord").write_bytes(b"data")
        for number in range(models):
            folder = root / name / f"model_{number}"
            folder.mkdir()
            layers = [{"layer_name": "Dense", "units": 1 + number % 2}]
            (folder / "config.json").write_text(
                f'{{"model_config": {layers}, "input_shape": [3]}}'.replace("'", '"')
            )
            (folder / "weights.hdf5").write_bytes(b"weights %d" % number)
    return root


def measure(name: str, **options: object) -> Measure:
    return Measure(name, "nothing", "pgdl_measures.nowhere:nothing", {}, options)


def request(root: Path, *measures: Measure, **settings: object) -> Request:
    limits = settings.pop("limits", TimeLimit())
    return Request(find_corpus(root).tasks, measures, limits, **settings)  # type: ignore[arg-type]


def job(task: str = "t", model: int = 0, architecture: str = "a", names: str = "gi") -> Job:
    measures = tuple(measure(name) for name in names.split(","))
    return Job(task, f"model_{model}", Path(), (), measures, architecture, 300.0)


def record(root: Path, task: str, model: str, measures: list[Measure], **more: Any) -> Line:
    """What a run would have written of a model."""
    content = {
        "values": {m.name: 1.0 for m in measures},
        "seconds": {m.name: 2.0 for m in measures},
        "options": {m.name: dict(m.options) for m in measures},
        "fingerprints": {m.name: fingerprint.settings(m) for m in measures},
        "model_files": stamp(model_files(root / task / model)),
        "data_files": stamp(find_corpus(root).task(task).shards()),
        **more,
    }
    return Line(task, model, **content)


def value(job: Job, name: str) -> float:
    """The made-up value of a model."""
    return int(job.model.split("_")[1]) + len(name) / 10


def done(job: Job, seconds: float = 1.0) -> Outcome:
    """What becomes of a job that a worker does without trouble."""
    tally = Tally(job)
    tally.add(Files(stamp(model_files(job.folder)), stamp(job.shards)))
    for each in job.measures:
        tally.add(Step(each.name))
        tally.add(Measured(each.name, seconds, value(job, each.name)))
    outcome = tally.add(Finished([], 0))
    assert outcome is not None
    return outcome
