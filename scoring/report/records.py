"""Reads what `pgdl run` left beside its predictions: seconds, errors and response curves.

`OUT/records.jsonl` has one line per model and attempt: `task`, `model` and, by measure, `values`,
`seconds` and `errors`, with the `curves` that were computed. A model that was run again has several
lines; for each measure the last one counts. `OUT/run.json` may name the `corpus`. Both files are
optional: a folder of predictions alone can be scored too.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from scoring.errors import ScoringError
from scoring.files import model_name, read_json_object

RECORDS = "records.jsonl"
RUN = "run.json"


@dataclass(frozen=True)
class CurveRecord:
    """A response curve of one model: accuracies [magnitudes]."""

    label: str
    magnitudes: tuple[float, ...]
    accuracy: tuple[float, ...]


@dataclass(frozen=True)
class ModelRecord:
    """What is known of one model of a task, by measure; its curves by their label."""

    seconds: dict[str, float] = field(default_factory=dict)
    errors: dict[str, str] = field(default_factory=dict)
    curves: dict[str, CurveRecord] = field(default_factory=dict)


@dataclass(frozen=True)
class Run:
    """All records of an output folder, by task and model."""

    corpus: Path | None
    models: dict[str, dict[str, ModelRecord]]

    def of_task(self, task: str) -> dict[str, ModelRecord]:
        """The records of a task's models, by `model_<id>`."""
        return self.models.get(task, {})

    def seconds_per_model(self, task: str, measure: str) -> float | None:
        """The mean seconds that a measure took per model, if recorded."""
        found = [
            record.seconds[measure]
            for record in self.of_task(task).values()
            if measure in record.seconds and measure not in record.errors
        ]
        return sum(found) / len(found) if found else None


def read_run(out: str | Path) -> Run:
    """The records in an output folder; none where there is no such file."""
    out = Path(out)
    models: dict[str, dict[str, ModelRecord]] = {}
    if (out / RECORDS).is_file():
        for line in _lines(out / RECORDS):
            records = models.setdefault(str(line["task"]), {})
            _update(records.setdefault(model_name(str(line["model"])), ModelRecord()), line)
    settings = read_json_object(out / RUN) if (out / RUN).is_file() else {}
    corpus = settings.get("corpus")
    return Run(Path(corpus) if corpus else None, models)


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    """The lines that speak of a model. A last line cut off by a killed run is left out."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise ScoringError(f"cannot read {path}: {error}") from error
    for number, text in enumerate(lines, 1):
        try:
            line = json.loads(text)
        except ValueError as error:
            if number == len(lines):
                return
            raise ScoringError(f"{path}, line {number}, is not valid JSON: {error}") from error
        if isinstance(line, dict) and "task" in line and "model" in line:
            yield line


def _update(record: ModelRecord, line: dict[str, Any]) -> None:
    for measure in line.get("values") or {}:
        record.errors.pop(measure, None)
    record.errors.update(line.get("errors") or {})
    record.seconds.update(line.get("seconds") or {})
    for curve in line.get("curves") or []:
        label = _label(curve)
        points = dict(zip(curve["magnitudes"], curve["accuracy"]))
        known = record.curves.get(label)
        if known is not None:  # measures computed later may need other magnitudes
            points = {**dict(zip(known.magnitudes, known.accuracy)), **points}
        magnitudes = tuple(sorted(points))
        record.curves[label] = CurveRecord(label, magnitudes, tuple(points[a] for a in magnitudes))


def _label(curve: dict[str, Any]) -> str:
    """What was perturbed, and where: `intra-class mixup at layer 0`."""
    what = curve.get("perturbation")
    if what is None:
        what = f"{curve['pairing']}-class mixup" if "pairing" in curve else "perturbation"
    return f"{what} at layer {curve['layer']}" if "layer" in curve else str(what)
