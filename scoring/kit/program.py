"""Scores a folder of predictions against a folder of references, by the kit's rules.

The rules: a task that cannot be scored gets -0.999999 and leaves the average; a
task with an EXCEEDED has no score at all and makes the average 0; the average is 100 times the
mean. Where the original crashed (no task could be scored) the average is 0 and `has_average` says
that it means nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Union

import numpy as np
import numpy.typing as npt

from scoring.cmi import Cmi, cmi
from scoring.errors import ExceededError, ScoringError
from scoring.kit.predictions import SUFFIX, MeasureFolder, find_predictions, in_order
from scoring.kit.reference import Reference, find_references, read_reference

References = Mapping[str, Union[Reference, ScoringError]]  # by task; or why it cannot be read

FEW_MODELS = 12  # with fewer a perfect score may be chance
MISSING_SCORE = -0.999999  # the kit's number for a task that could not be scored


@dataclass(frozen=True, eq=False)
class TaskResult:
    """One task: its score, or the reason why there is none."""

    task: str
    reference: Reference | None = None  # None if that is what could not be read
    values: npt.NDArray[np.float64] | None = None  # [models], where there is one for each
    cmi: Cmi | None = None
    reason: str | None = None
    exceeded: bool = False

    @cached_property
    def warnings(self) -> tuple[str, ...]:
        """Warnings about the models behind the score."""
        found = []
        if self.reference is not None and len(self.reference.ids) < FEW_MODELS:
            found.append(
                f"{len(self.reference.ids)} models are too few to compare measures: even a perfect "
                "score may be chance"
            )
        if self.reference is not None and self.reference.missing_cells:
            missing = len(self.reference.missing_cells)
            found.append(f"the grid is incomplete: {missing} cells have no model")
        if self.cmi is not None and self.cmi.empty_groups:
            groups = sum(pair.groups for pair in self.cmi.pairs)
            found.append(f"{self.cmi.empty_groups} of {groups} groups are empty and left out")
        return tuple(found)


@dataclass(frozen=True, eq=False)
class Scores:
    """All tasks of one set of predictions."""

    tasks: tuple[TaskResult, ...]  # sorted by name
    duration: float | None  # seconds, as the ingestion recorded them
    without_reference: tuple[str, ...]  # tasks with predictions only

    @property
    def scored(self) -> tuple[float, ...]:
        """The scores that there are."""
        return tuple(task.cmi.score for task in self.tasks if task.cmi is not None)

    @property
    def failed(self) -> tuple[TaskResult, ...]:
        """The tasks without a score, exceeded ones included."""
        return tuple(task for task in self.tasks if task.cmi is None)

    @property
    def exceeded(self) -> bool:
        """True if a task ran out of time."""
        return any(task.exceeded for task in self.tasks)

    @property
    def has_average(self) -> bool:
        """False if no task could be scored for reasons other than its time budget."""
        return bool(self.scored) or self.exceeded

    @property
    def average(self) -> float:
        """100 times the mean score; 0 if a task exceeded its budget or none could be scored."""
        if self.exceeded or not self.scored:
            return 0.0
        return 100.0 * (sum(self.scored) / len(self.scored))

    @property
    def meaning(self) -> str:
        """What the average is the average of, in words."""
        if self.exceeded:
            return "0, because a task exceeded its time budget"
        if not self.scored:
            return "0, because no task could be scored"
        return f"100 times the mean score of {len(self.scored)} of {len(self.tasks)} tasks"

    @property
    def notes(self) -> tuple[str, ...]:
        """Warnings that belong to the numbers, one line each."""
        failed = [f"no score for {task.task}: {task.reason}" for task in self.failed]
        warned = [f"{task.task}: {warning}" for task in self.tasks for warning in task.warnings]
        unused = [f"no reference for {task}{SUFFIX}" for task in self.without_reference]
        return (*failed, *warned, *unused)


def read_references(folder: str | Path) -> dict[str, Reference | ScoringError]:
    """The reference of every task in a folder; where it cannot be read, the error that says why."""
    found: dict[str, Reference | ScoringError] = {}
    for task, path in find_references(folder).items():
        try:
            found[task] = read_reference(path, task)
        except ScoringError as error:
            found[task] = error
    return found


def score_folders(
    reference: str | Path, predictions: str | Path, score: Callable[..., Cmi] = cmi
) -> Scores:
    """Scores every task of the reference folder; by `cmi_within`, not as the competition did.

    Problems of one task are in its result; a `ScoringError` means that there is nothing to score.
    """
    return score_measure(read_references(reference), MeasureFolder(Path(predictions)), score)


def score_measure(
    references: References, measure: MeasureFolder, score: Callable[..., Cmi] = cmi
) -> Scores:
    """Scores every task of references that have been read."""
    files = find_predictions(measure.path)
    return Scores(
        tasks=tuple(_score_task(task, found, measure, score) for task, found in references.items()),
        duration=_duration(measure.path / "metadata"),
        without_reference=tuple(task for task in files if task not in references),
    )


def _score_task(
    task: str,
    reference: Reference | ScoringError,
    measure: MeasureFolder,
    score: Callable[..., Cmi],
) -> TaskResult:
    if isinstance(reference, ScoringError):
        return TaskResult(task, reason=str(reference))
    values = None
    try:
        predictions = measure.read(task)
        values = in_order(predictions, reference, measure.path / f"{task}{SUFFIX}")
        found = score(
            reference.codes,
            reference.gap,
            values,
            hparams=reference.hparams,
            sizes=reference.sizes,
        )
    except ScoringError as error:
        exceeded = isinstance(error, ExceededError)
        return TaskResult(task, reference, values, reason=str(error), exceeded=exceeded)
    return TaskResult(task, reference, values, found)


def _duration(metadata: Path) -> float | None:
    """`elapsedTime` of the platform's metadata file, if it is there."""
    try:
        text = metadata.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    found = re.search(r"^elapsedTime:\s*(\d+(?:\.\d*)?(?:e[+-]?\d+)?)\s*$", text, re.M | re.I)
    return float(found.group(1)) if found else None
