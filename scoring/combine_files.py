"""Combinations of the measures of a run, as measures: `OUT/<measure>/<task>.predict` in and out."""

from __future__ import annotations

import difflib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from scoring.combine import RULES, combination_name, combine, is_monotone
from scoring.errors import ScoringError
from scoring.files import model_name, read_json_object, write_whole
from scoring.predictions import EXCEEDED, SUFFIX, find_predictions


@dataclass(frozen=True)
class Combination:
    """What was written, and what a user must know of it."""

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
    files = {measure: find_predictions(_folder(Path(out), measure)) for measure in measures}
    name = combination_name(rule, measures)
    folder = Path(target if target is not None else out) / name
    written, failed, notes = [], [], []
    for task in sorted({task for found in files.values() for task in found}):
        path = folder / f"{task}{SUFFIX}"
        try:
            lacking = [measure for measure in measures if task not in files[measure]]
            if lacking:
                raise ScoringError(f"no predictions of {', '.join(lacking)}")
            models, values = _read([files[measure][task] for measure in measures])
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


def outdated_combinations(out: str | Path) -> tuple[str, ...]:
    """The combinations in a run's folder that are not of its measures' present values, with tasks.

    Such are left by a run that computed measures again after they had been combined.
    """
    found = []
    for folder in sorted(path for path in Path(out).iterdir() if path.is_dir()):
        rule, *measures = folder.name.split("-")
        parts = [Path(out) / measure for measure in measures]
        if rule in RULES and parts and all(part.is_dir() for part in parts):
            files = find_predictions(folder)
            tasks = [task for task, path in files.items() if not _is_current(path, rule, parts)]
            found += [f"{folder.name} ({', '.join(tasks)})"] if tasks else []
    return tuple(found)


def _is_current(path: Path, rule: str, parts: Sequence[Path]) -> bool:
    try:
        models, values = _read([part / path.name for part in parts])
        known, combined = _read([path])
        return known == models and np.allclose(combined[0], combine(rule, values), atol=0.0)
    except ScoringError:
        return False


def _folder(out: Path, measure: str) -> Path:
    if not out.is_dir():
        raise ScoringError(f"there is no folder {out}")
    known = [path.name for path in out.iterdir() if path.is_dir() and find_predictions(path)]
    if measure not in known:
        close = difflib.get_close_matches(measure, known)
        hint = f"did you mean {' or '.join(close)}?" if close else f"found {sorted(known)}"
        raise ScoringError(f"{out} has no predictions of {measure!r}: {hint}")
    return out / measure


def _read(paths: Sequence[Path]) -> tuple[list[str], np.ndarray]:
    """The models that all files name, and the values [measures, models]."""
    tables = [
        {model_name(key): value for key, value in read_json_object(path).items()} for path in paths
    ]
    models = list(tables[0])
    for path, table in zip(paths, tables):
        if table.keys() != tables[0].keys():
            differ = sorted(table.keys() ^ tables[0].keys())
            raise ScoringError(f"{paths[0]} and {path} are not of the same models: {differ[0]}")
        for model, value in table.items():
            if value == EXCEEDED:
                raise ScoringError(f"{path}: time budget exceeded at {model}")
            if isinstance(value, bool) or not isinstance(value, (int, float)):
                raise ScoringError(f"{path}: {model} is {value!r}, not a number")
    values = np.array([[float(table[model]) for model in models] for table in tables])
    if not np.isfinite(values).all():
        which = int(np.argwhere(~np.isfinite(values))[0][0])
        raise ScoringError(f"{paths[which]}: not all values are finite numbers")
    return models, values
