"""Reads `<task>.predict`: what a measure says of each model of a task (design section 4).

The file is JSON `{"model_<id>": number}`, with the word EXCEEDED from the first model past the time
budget on. A score is only computed from one finite number per model of the reference, no more and
no less; everything else is an error that names the models concerned.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from scoring.errors import ExceededError, ScoringError
from scoring.files import is_junk, model_name, read_json_object
from scoring.reference import Reference

SUFFIX = ".predict"
EXCEEDED = "EXCEEDED"

_NAMED = 5  # at most so many models are listed in a message


def find_predictions(folder: str | Path) -> dict[str, Path]:
    """The prediction file of every task in a folder, by task name in sorted order."""
    folder = Path(folder)
    if not folder.is_dir():
        raise ScoringError(f"there is no folder {folder}")
    files = sorted(path for path in folder.glob(f"*{SUFFIX}") if not is_junk(path))
    return {path.name[: -len(SUFFIX)]: path for path in files}


def read_predictions(path: str | Path, reference: Reference) -> npt.NDArray[np.float64]:
    """The predictions [models] in the order of the reference.

    Raises `ExceededError` if a model is marked EXCEEDED, else `ScoringError` with all that is
    wrong: models missing on either side, models twice, values that are not finite numbers.
    """
    path = Path(path)
    content = read_json_object(path)
    exceeded = [key for key, value in content.items() if value == EXCEEDED]
    if exceeded:
        raise ExceededError(f"{path}: time budget exceeded at {_listed(exceeded)}")

    predictions = {model_name(key): value for key, value in content.items()}
    known = set(reference.ids)
    problems = {
        "twice (with and without 'model_')": [
            key for key in content if key != model_name(key) and model_name(key) in content
        ],
        "no prediction for": [name for name in reference.ids if name not in predictions],
        "not in the reference:": [name for name in predictions if name not in known],
        "not a finite number:": [
            f"{name} ({value!r})" for name, value in predictions.items() if not _is_number(value)
        ],
    }
    found = [f"{problem} {_listed(names)}" for problem, names in problems.items() if names]
    if found:
        raise ScoringError(f"{path}: {'; '.join(found)}")
    return np.array([predictions[name] for name in reference.ids], dtype=np.float64)


def _is_number(value: Any) -> bool:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return False
    try:
        return math.isfinite(value)
    except OverflowError:  # an integer beyond the range of floats
        return False


def _listed(names: Sequence[str]) -> str:
    more = len(names) - _NAMED
    return ", ".join(names[:_NAMED]) + (f" and {more} more" if more > 0 else "")
