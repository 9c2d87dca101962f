"""Reads `<task>.predict`: the value of a measure for each model of a task.

The file is JSON `{"model_<id>": number}`, with the word EXCEEDED from the first model past the time
budget on. A score is only computed from one finite number per model of the reference, no more and
no less; everything else is an error that names the models concerned.

A measure is a folder of such files. `-name` is the negation of the measure `name`: the folder of
that name if there is one, else the negated values of the folder `name`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from scoring.errors import ExceededError, ScoringError
from scoring.files import (
    did_you_mean,
    is_finite_number,
    is_junk,
    listed,
    model_name,
    read_json_object,
    short,
)
from scoring.kit.reference import Reference

SUFFIX = ".predict"
EXCEEDED = "EXCEEDED"


def find_predictions(folder: str | Path) -> dict[str, Path]:
    """The prediction file of every task in a folder, by task name in sorted order."""
    folder = Path(folder)
    if not folder.is_dir():
        raise ScoringError(f"there is no folder {folder}")
    files = sorted(path for path in folder.glob(f"*{SUFFIX}") if not is_junk(path))
    return {path.name[: -len(SUFFIX)]: path for path in files}


def find_measures(out: str | Path) -> dict[str, Path]:
    """The folders in `out` that hold predictions, by the measure's name in sorted order."""
    if not Path(out).is_dir():
        raise ScoringError(f"there is no folder {out}")
    folders = sorted(path for path in Path(out).iterdir() if path.is_dir() and not is_junk(path))
    found = {path.name: path for path in folders if find_predictions(path)}
    if not found:
        raise ScoringError(f"{out} has no predictions: expected <measure>/<task>{SUFFIX} in it")
    return found


def choose_measures(out: str | Path, names: Sequence[str]) -> dict[str, MeasureFolder]:
    """The named measures of a run; `-name` is a negation. An unknown name is refused."""
    known = find_measures(out)
    found = {}
    for name in names:
        if name in known:
            found[name] = MeasureFolder(known[name])
        elif name.startswith("-") and name[1:] in known:
            found[name] = MeasureFolder(known[name[1:]], negated=True)
        else:
            raise ScoringError(f"{out} has no predictions of {name!r}: {did_you_mean(name, known)}")
    return found


@dataclass(frozen=True)
class MeasureFolder:
    """Where a measure's predictions are, and whether they are to be negated."""

    path: Path
    negated: bool = False

    def read(self, task: str) -> dict[str, float]:
        """The measure's value of each model of a task, as `read_predictions` checks them."""
        values = read_predictions(self.path / f"{task}{SUFFIX}")
        return {model: -value for model, value in values.items()} if self.negated else values


def read_predictions(path: str | Path) -> dict[str, float]:
    """The value of each model, by `model_<id>`.

    Raises `ExceededError` if a model is marked EXCEEDED, else `ScoringError` with all that is
    wrong: models that occur twice, values that are not finite numbers.
    """
    path = Path(path)
    content = read_json_object(path)
    exceeded = [key for key, value in content.items() if value == EXCEEDED]
    if exceeded:
        raise ExceededError(f"{path}: time budget exceeded at {listed(exceeded)}")
    _raise_problems(
        path,
        {
            "twice (with and without 'model_')": [
                key for key in content if key != model_name(key) and model_name(key) in content
            ],
            "not a finite number:": [
                f"{model_name(key)} ({short(value)})"
                for key, value in content.items()
                if not is_finite_number(value)
            ],
        },
    )
    return {model_name(key): float(value) for key, value in content.items()}


def in_order(
    predictions: Mapping[str, float], reference: Reference, path: str | Path
) -> npt.NDArray[np.float64]:
    """The predictions [models] in the order of the reference; `path` is named in messages."""
    known = set(reference.ids)
    _raise_problems(
        path,
        {
            "no prediction for": [name for name in reference.ids if name not in predictions],
            "not in the reference:": [name for name in predictions if name not in known],
        },
    )
    return np.array([predictions[name] for name in reference.ids], dtype=np.float64)


def _raise_problems(path: str | Path, problems: Mapping[str, Sequence[str]]) -> None:
    found = [f"{problem} {listed(names)}" for problem, names in problems.items() if names]
    if found:
        raise ScoringError(f"{path}: {'; '.join(found)}")
