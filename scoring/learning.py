"""Learns a predictor of gaps from runs, and judges it on tasks that it has not seen.

The judgement leaves out one task at a time. Beside the predictor stand two simpler ones: the mean
gap of the other tasks, and the best single measure, calibrated in the same way and chosen on the
other tasks only.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from scoring.errors import ScoringError, if_defined
from scoring.kit.predictions import SUFFIX, choose_measures, in_order
from scoring.kit.reference import find_references, read_reference
from scoring.predictor_fit import (
    MIN_TASKS,
    Form,
    KnownTask,
    LeftOut,
    learn,
    leave_one_task_out,
)
from scoring.rank import kendall
from scoring.recorded_run import recorded_options


def read_known_tasks(
    out: Path, reference: Path, measures: Sequence[str]
) -> tuple[list[KnownTask], list[str]]:
    """The tasks of a run on which all of these measures have values, and why others have none."""
    folders = choose_measures(out, measures)
    found, left_out = [], []
    for task, path in find_references(reference).items():
        try:
            known = read_reference(path, task)
            values = {
                measure: in_order(folder.read(task), known, folder.path / f"{task}{SUFFIX}")
                for measure, folder in folders.items()
            }
        except ScoringError as error:
            left_out.append(f"{task}: {error}")
        else:
            found.append(KnownTask(task, known.gap, values))
    return found, left_out


def common_options(outs: Sequence[Path], measures: Sequence[str]) -> dict[str, dict[str, Any]]:
    """The options of each measure, which must be the same in all runs."""
    found: dict[str, dict[str, Any]] = {}
    for out in outs:
        for measure, options in recorded_options(out).items():
            if measure in measures and found.setdefault(measure, dict(options)) != options:
                raise ScoringError(
                    f"{out}: {measure} was computed with {dict(options)}, elsewhere with "
                    f"{found[measure]}; learn from runs with the same options"
                )
    return found


@dataclass(frozen=True)
class TaskJudgement:
    """How well one task is predicted from the others; errors are means of absolute errors."""

    task: str
    models: int
    mean_gap: float
    error: float
    error_of_mean: float  # of the mean gap of the other tasks
    error_of_single: float | None  # of the best single measure; None with too few tasks to choose
    single: str
    covered: float  # the share of gaps within their intervals
    kendall: float | None  # None where all predictions are the same


def judge(tasks: Sequence[KnownTask], measures: Sequence[str]) -> list[TaskJudgement]:
    """Each task predicted by what was learned from the others."""
    if len(tasks) <= MIN_TASKS:
        raise ScoringError(
            f"leaving out one task takes {MIN_TASKS + 1} tasks or more; found {len(tasks)}"
        )
    return [
        _judgement(left, *_best_single([t for t in tasks if t is not left.task], left, measures))
        for left in leave_one_task_out(tasks, Form(tuple(measures)))
    ]


def _judgement(left: LeftOut, single: str, error_of_single: float | None) -> TaskJudgement:
    return TaskJudgement(
        left.task.name,
        len(left.task.gap),
        float(left.task.gap.mean()),
        left.error,
        left.error_of_mean,
        error_of_single,
        single,
        left.covered,
        if_defined(kendall, left.task.gap, left.gaps),
    )


def _best_single(
    others: Sequence[KnownTask], left: LeftOut, measures: Sequence[str]
) -> tuple[str, float | None]:
    """The measure that predicts best among the other tasks, and its error on the one left out."""
    if len(others) <= MIN_TASKS or len(measures) < 2:
        return "", None
    errors = {
        measure: np.mean([found.error for found in leave_one_task_out(others, Form((measure,)))])
        for measure in measures
    }
    best = min(measures, key=errors.__getitem__)
    gaps = learn(others, Form((best,))).gaps(left.task.matrix([best]))
    return best, float(np.abs(gaps - left.task.gap).mean())
