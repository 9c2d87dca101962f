"""Combinations of the measures of a run, as measures: `OUT/<measure>/<task>.predict` in and out."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Union

import numpy as np

from scoring.combine import combination_name, combine, is_monotone
from scoring.errors import ScoringError
from scoring.files import write_whole
from scoring.kit.predictions import SUFFIX, choose_measures, find_predictions

Values = Union[Mapping[str, float], ScoringError]  # of a task's models, or why there are none


@dataclass(frozen=True)
class Combination:
    """What was written, and warnings about it."""

    name: str
    written: tuple[Path, ...]
    failed: tuple[str, ...]  # tasks without a combination, and why
    notes: tuple[str, ...]


def combine_run(
    out: str | Path, measures: Sequence[str], rule: str, target: str | Path | None = None
) -> Combination:
    """Writes `target/<combination>/<task>.predict` for every task; `target` is `out` by default.

    A task whose predictions cannot be combined gets no file, and an old one of it is removed.
    """
    measures = sorted(dict.fromkeys(measures))
    name = combination_name(rule, measures)
    found = read_measures(out, measures)
    folder = Path(target if target is not None else out) / name
    written, failed, notes = [], [], []
    for task in sorted({task for tasks in found.values() for task in tasks}):
        path = folder / f"{task}{SUFFIX}"
        try:
            models, values = common_models({m: found[m].get(task) for m in measures})
            combined = combine(rule, values)
        except ScoringError as error:
            path.unlink(missing_ok=True)
            failed.append(f"{task}: {error}")
            continue
        write_whole(path, json.dumps(dict(zip(models, combined.tolist()))))
        written.append(path)
        if not is_monotone(rule, values):
            notes.append(
                f"{task}: a product of values of both signs does not grow with all of its measures"
            )
    return Combination(name, tuple(written), tuple(failed), tuple(notes))


def read_measures(out: str | Path, names: Sequence[str]) -> dict[str, dict[str, Values]]:
    """The values of measures by task; where a file cannot be used, the error that says why."""
    found: dict[str, dict[str, Values]] = {}
    for name, folder in choose_measures(out, names).items():
        found[name] = {}
        for task in find_predictions(folder.path):
            try:
                found[name][task] = folder.read(task)
            except ScoringError as error:
                found[name][task] = error
    return found


def common_models(values: Mapping[str, Values | None]) -> tuple[list[str], np.ndarray]:
    """The models of a task, and all measures' values [measures, models] of them."""
    lacking = [measure for measure, known in values.items() if known is None]
    if lacking:
        raise ScoringError(f"no predictions of {', '.join(lacking)}")
    tables: dict[str, Mapping[str, float]] = {}
    for measure, known in values.items():
        if isinstance(known, ScoringError):
            raise known
        tables[measure] = known or {}
    first, *others = tables
    for other in others:
        differ = sorted(tables[other].keys() ^ tables[first].keys())
        if differ:
            raise ScoringError(f"{first} and {other} are not of the same models: {differ[0]}")
    models = list(tables[first])
    return models, np.array([[table[model] for model in models] for table in tables.values()])
