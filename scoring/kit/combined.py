"""Combinations of the measures of a run, as measures: `OUT/<measure>/<task>.predict` in and out."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Union

import numpy as np

from scoring.combine import combination_name, combine, is_monotone
from scoring.errors import ScoringError
from scoring.files import write_whole
from scoring.kit.predictions import SUFFIX, choose_measures, find_measures, find_predictions
from scoring.paper_combinations import MEASURES, TABLES, paper_combinations

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
    return _write(read_measures(out, measures), measures, rule, Path(target or out))


def combine_all(
    out: str | Path,
    target: str | Path | None = None,
    step: Callable[[str], None] = lambda note: None,
) -> tuple[list[Combination], list[str]]:
    """All combinations of Schiff et al. 2021, Tables 4 to 9, of the measures that there are.

    Predictions are read once. Also returned are the measures that are not there, whose combinations
    are left out. `step` is called with the name of each rule when its table is done.
    """
    known = find_measures(out)
    missing = [measure for measure in MEASURES if measure not in known]
    rows = {rule: paper_combinations(rule) for rule in TABLES}
    names = {name for row in rows.values() for measures in row for name in measures}
    found = read_measures(out, sorted(name for name in names if name.lstrip("-") in known))
    written = []
    for rule, combinations in rows.items():
        for measures in combinations:
            if found.keys() >= set(measures):
                written.append(_write(found, sorted(measures), rule, Path(target or out)))
        step(rule)
    if not written:
        raise ScoringError(
            f"{out} has no two of the measures that the paper combines; run {', '.join(missing)}"
        )
    return written, missing


def _write(
    found: Mapping[str, Mapping[str, Values]], measures: Sequence[str], rule: str, target: Path
) -> Combination:
    name = combination_name(rule, measures)
    folder = target / name
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
