"""The record of a run by task and model, as the leaderboard and the report read it.

Of several lines about a model the last one counts for each measure; its curves are joined.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from scoring.errors import ScoringError
from scoring.files import read_json_object
from scoring.record import RECORDS, RUN, Curve, Line, latest_results, parse_lines


@dataclass(frozen=True)
class ModelRecord:
    """What is known of one model of a task, by measure; its curves by their label."""

    seconds: dict[str, float] = field(default_factory=dict)
    errors: dict[str, str] = field(default_factory=dict)
    curves: dict[str, Curve] = field(default_factory=dict)


@dataclass(frozen=True)
class Run:
    """The record of an output folder by task and model, and the problems in reading it."""

    models: dict[str, dict[str, ModelRecord]]
    problems: tuple[str, ...] = ()

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
    """The record in an output folder; an empty one where there is no such file."""
    path = Path(out) / RECORDS
    models: dict[str, dict[str, ModelRecord]] = {}
    if not path.is_file():
        return Run(models)
    try:
        found = parse_lines(path.read_bytes(), path)
    except OSError as error:
        raise ScoringError(f"cannot read {path}: {error.strerror}") from error
    for line in found.lines:
        _update(models.setdefault(line.task, {}).setdefault(line.model, ModelRecord()), line)
    return Run(models, tuple(found.problems))


def recorded_corpus(out: str | Path) -> Path | None:
    """The corpus that the run in an output folder measured, if `run.json` names one."""
    path = Path(out) / RUN
    if not path.is_file():
        return None
    corpus = read_json_object(path).get("corpus")
    return Path(corpus) if isinstance(corpus, str) and corpus else None


def recorded_options(out: str | Path) -> dict[str, dict[str, Any]]:
    """The options that each measure of a run was last computed with."""
    path = Path(out) / RECORDS
    if not path.is_file():
        return {}
    results = latest_results(parse_lines(path.read_bytes(), path).lines)
    return {measure: dict(result.options) for (_, _, measure), result in results.items()}


def _update(record: ModelRecord, line: Line) -> None:
    for measure in line.values:
        record.errors.pop(measure, None)
    record.errors.update(line.errors)
    record.seconds.update(line.seconds)
    for curve in line.curves:
        points = dict(zip(curve.magnitudes, curve.accuracy))
        known = record.curves.get(curve.label)
        if known is not None:  # measures computed later may need other magnitudes
            points = {**dict(zip(known.magnitudes, known.accuracy)), **points}
        magnitudes = tuple(sorted(points))
        record.curves[curve.label] = Curve(
            magnitudes,
            tuple(points[a] for a in magnitudes),
            curve.perturbation,
            curve.pairing,
            curve.layer,
        )
