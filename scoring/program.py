"""Scores a folder of predictions against a folder of references, by the kit's rules.

The rules (design section 4): a task that cannot be scored gets -0.999999 and leaves the average; a
task with an EXCEEDED has no score at all and makes the average 0; the average is 100 times the
mean. Where the original crashed (no task could be scored) the average is 0 and `has_average` says
that it means nothing.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from scoring.cmi import Cmi, cmi
from scoring.errors import ExceededError, ScoringError
from scoring.predictions import SUFFIX, find_predictions, read_predictions
from scoring.reference import Reference, find_references, read_reference

MISSING_SCORE = -0.999999  # the kit's number for a task that could not be scored


@dataclass(frozen=True, eq=False)
class TaskResult:
    """One task: its score, or the reason why there is none."""

    task: str
    reference: Reference | None = None  # None if that is what could not be read
    cmi: Cmi | None = None
    reason: str | None = None
    exceeded: bool = False

    @cached_property
    def warnings(self) -> tuple[str, ...]:
        """What a reader of the score should know of the grid behind it."""
        found = []
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
        """What a reader must know besides the numbers, one line each."""
        failed = [f"no score for {task.task}: {task.reason}" for task in self.failed]
        warned = [f"{task.task}: {warning}" for task in self.tasks for warning in task.warnings]
        unused = [f"no reference for {task}{SUFFIX}" for task in self.without_reference]
        return (*failed, *warned, *unused)


def score_folders(reference: str | Path, predictions: str | Path) -> Scores:
    """Scores every task of the reference folder.

    Problems of one task are in its result; a `ScoringError` means that there is nothing to score.
    """
    references = find_references(reference)
    files = find_predictions(predictions)
    return Scores(
        tasks=tuple(
            _score_task(task, path, Path(predictions) / f"{task}{SUFFIX}")
            for task, path in references.items()
        ),
        duration=_duration(Path(predictions) / "metadata"),
        without_reference=tuple(task for task in files if task not in references),
    )


def _score_task(task: str, reference_path: Path, prediction_path: Path) -> TaskResult:
    reference = None
    try:
        reference = read_reference(reference_path, task)
        measure = read_predictions(prediction_path, reference)
        score = cmi(
            reference.codes,
            reference.gap,
            measure,
            hparams=reference.hparams,
            sizes=reference.sizes,
        )
    except ScoringError as error:
        exceeded = isinstance(error, ExceededError)
        return TaskResult(task, reference, reason=str(error), exceeded=exceeded)
    return TaskResult(task, reference, score)


def _duration(metadata: Path) -> float | None:
    """`elapsedTime` of the platform's metadata file, if it is there and says so."""
    try:
        text = metadata.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    found = re.search(r"^elapsedTime:\s*(\d+(?:\.\d*)?(?:e[+-]?\d+)?)\s*$", text, re.M | re.I)
    return float(found.group(1)) if found else None
