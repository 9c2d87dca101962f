"""Measures over the models of a corpus: values, a record of every model, kit-format predictions.

OUT/<measure>/<task>.predict   {"model_<id>": value}, the starting kit's format
OUT/records.jsonl              one line per model: values, seconds, errors, response curves
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import tensorflow as tf

from ingestion.corpus import Task
from ingestion.data import load_dataset
from ingestion.models import load_model
from pgdl_measures.base import Measure, Subject
from pgdl_measures.errors import PgdlError
from pgdl_measures.response import computed_curves


def run_task(
    task: Task, measures: Sequence[Measure], out: Path, *, step: Callable[[str], None]
) -> list[dict[str, Any]]:
    """Computes the measures of every model of a task; a model that fails costs itself alone."""
    dataset = load_dataset(task.shards())
    records = []
    for model_id in task.model_ids:
        tf.keras.backend.clear_session()
        record = measure_model(task, model_id, dataset, measures)
        records.append(record)
        with (out / "records.jsonl").open("a", encoding="utf-8") as file:
            file.write(json.dumps(record) + "\n")
        step(f"{task.name} {model_id}")
    for measure in measures:
        values = {
            r["model"]: r["values"][measure.name] for r in records if measure.name in r["values"]
        }
        write_predictions(out / measure.name / f"{task.name}.predict", values)
    return records


def measure_model(
    task: Task, model_id: str, dataset: tf.data.Dataset, measures: Sequence[Measure]
) -> dict[str, Any]:
    """The record of one model: values and seconds of the measures that could be computed."""
    values: dict[str, float] = {}
    seconds: dict[str, float] = {}
    errors: dict[str, str] = {}
    try:
        subject = Subject(load_model(task.model_folder(model_id)), dataset)
    except PgdlError as error:
        errors = {measure.name: str(error) for measure in measures}
        return _record(task, model_id, values, seconds, errors, [])
    for measure in measures:
        start, reused = time.perf_counter(), subject.reused_seconds
        try:
            values[measure.name] = measure.on(subject)
        except PgdlError as error:
            errors[measure.name] = str(error)
        # What it would have taken alone: work taken over from another measure counts.
        reused = subject.reused_seconds - reused
        seconds[measure.name] = round(time.perf_counter() - start + reused, 3)
    return _record(task, model_id, values, seconds, errors, _curves(subject))


def _curves(subject: Subject) -> list[dict[str, Any]]:
    return [
        {
            "pairing": settings["pairing"],
            "layer": settings["layer"],
            "magnitudes": curve.magnitudes.tolist(),
            "accuracy": [round(accuracy, 6) for accuracy in curve.accuracy.tolist()],
        }
        for settings, curve in computed_curves(subject)
    ]


def _record(
    task: Task,
    model_id: str,
    values: dict[str, float],
    seconds: dict[str, float],
    errors: dict[str, str],
    curves: list[dict[str, Any]],
) -> dict[str, Any]:
    return {
        "task": task.name,
        "model": model_id,
        "values": values,
        "seconds": seconds,
        "errors": errors,
        "curves": curves,
    }


def write_predictions(path: Path, values: dict[str, float]) -> None:
    """Writes a `.predict` file whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f".{path.name}.part")
    part.write_text(json.dumps(values, indent=1) + "\n", encoding="utf-8")
    os.replace(part, path)
