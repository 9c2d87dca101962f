"""The leaderboard: all measures of a run on all tasks, with intervals and all that qualifies them.

The score of a measure on a task and the average over tasks are those of the scoring program
(`scoring.program`, digit for digit those of scores.json). Beside them stand a bootstrap interval of
the score, Kendall's tau and Spearman's rho with the gap over all models, and the seconds per model
that the run recorded. Measures are sorted by their average; one that was not scored on every task
stands below those that were scored on more, because its average is over other tasks.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from scoring.bootstrap import Interval, interval
from scoring.cmi import cmi
from scoring.combine_files import outdated_combinations
from scoring.errors import ScoringError
from scoring.predictions import SUFFIX, find_predictions, read_predictions
from scoring.program import Scores, TaskResult, score_folders
from scoring.rank import kendall, spearman
from scoring.reference import Reference
from scoring.report.records import Run, read_run
from scoring.robust_board import RobustResults, evaluate_tasks
from scoring.runs import Runs

_NO_FILE = "no predictions"

_T = TypeVar("_T")


@dataclass(frozen=True, eq=False)
class Entry:
    """One measure on one task; without a score, the reason is in `result`."""

    result: TaskResult
    values: npt.NDArray[np.float64] | None = None  # [models] in the order of the reference
    interval: Interval | None = None  # of the score
    kendall: float | None = None
    spearman: float | None = None
    seconds: float | None = None  # per model

    @property
    def score(self) -> float | None:
        """The task's CMI, in [0, 1]."""
        return None if self.result.cmi is None else self.result.cmi.score


@dataclass(frozen=True, eq=False)
class Row:
    """One measure on all tasks of the reference."""

    measure: str
    scores: Scores
    entries: dict[str, Entry]  # by task, in the order of `scores`

    @property
    def is_whole(self) -> bool:
        """True if every task of the reference was scored."""
        return not self.scores.failed

    @property
    def tasks_scored(self) -> str:
        """How much of the reference the average is over: `7 of 8`."""
        return f"{len(self.scores.scored)} of {len(self.scores.tasks)}"

    @property
    def seconds(self) -> float | None:
        """Seconds per model, as the mean over the tasks that recorded them."""
        found = [entry.seconds for entry in self.entries.values() if entry.seconds is not None]
        return float(np.mean(found)) if found else None


@dataclass(frozen=True, eq=False)
class Leaderboard:
    """All measures, best first."""

    rows: tuple[Row, ...]
    run: Run
    robust: RobustResults | None = None  # where it was asked for
    outdated: tuple[str, ...] = ()  # combinations of values that their measures have no more

    @cached_property
    def tasks(self) -> tuple[str, ...]:
        """The tasks for which some measure has predictions or records."""
        return tuple(task for task in self.rows[0].entries if task not in self.not_run)

    @cached_property
    def not_run(self) -> tuple[str, ...]:
        """The tasks of the reference for which no measure has predictions."""
        return tuple(
            task
            for task in self.rows[0].entries
            if all(row.entries[task].result.reason == _NO_FILE for row in self.rows)
        )

    @property
    def has_one_task(self) -> bool:
        """True if the average is the score of the only task."""
        return len(self.tasks) == 1 and not self.not_run

    @cached_property
    def references(self) -> dict[str, Reference]:
        """The reference of each task that could be read."""
        results = self.rows[0].scores.tasks
        return {r.task: r.reference for r in results if r.reference is not None}

    def runs(self, task: str) -> Runs:
        """The models of a task with all measures that have a score there."""
        reference = self.references[task]
        found = {measure: entry.values for measure, entry in self.ranked(task)}
        values = {measure: v for measure, v in found.items() if v is not None}
        return Runs(
            task, reference.hparams, reference.values, reference.codes, reference.gap, values
        )

    def ranked(self, task: str) -> tuple[tuple[str, Entry], ...]:
        """The measures with a score on a task, best first."""
        scored = [(row.measure, row.entries[task]) for row in self.rows]
        found = [(measure, entry) for measure, entry in scored if entry.score is not None]
        return tuple(sorted(found, key=lambda item: -(item[1].score or 0.0)))


def leaderboard(
    reference: str | Path,
    out: str | Path,
    *,
    replicates: int = 1000,
    step: Callable[[str], None] = lambda note: None,
) -> Leaderboard:
    """Scores every measure in `out/<measure>/<task>.predict` against a reference or corpus.

    `replicates` is the number of resamples behind each interval. `step` is called with the
    measure's name after each, for a display of progress.
    """
    run = read_run(out)
    rows = []
    for folder in measure_folders(out):
        scores = score_folders(reference, folder)
        entries = {result.task: _entry(result, folder, run, replicates) for result in scores.tasks}
        rows.append(Row(folder.name, scores, entries))
        step(folder.name)
    rows.sort(key=lambda row: (-len(row.scores.scored), -row.scores.average, row.measure))
    return Leaderboard(tuple(rows), run, outdated=outdated_combinations(out))


def with_robust(
    board: Leaderboard, reference: str | Path, *, test_size: int | None, min_effective: float
) -> Leaderboard:
    """The leaderboard with the robust evaluation of each task (paper 003).

    `test_size` is the number of examples behind each gap; None is what the corpus says.
    """
    tasks = [task for task in board.tasks if task in board.references and board.ranked(task)]
    runs = {task: board.runs(task) for task in tasks}
    return replace(board, robust=evaluate_tasks(runs, reference, test_size, min_effective))


def measure_folders(out: str | Path) -> list[Path]:
    """The folders in `out` that hold predictions, one per measure."""
    if not Path(out).is_dir():
        raise ScoringError(f"there is no folder {out}")
    folders = sorted(path for path in Path(out).iterdir() if path.is_dir())
    found = [path for path in folders if find_predictions(path)]
    if not found:
        raise ScoringError(f"{out} has no predictions: expected <measure>/<task>{SUFFIX} in it")
    return found


def _entry(result: TaskResult, folder: Path, run: Run, replicates: int) -> Entry:
    path = folder / f"{result.task}{SUFFIX}"
    seconds = run.seconds_per_model(result.task, folder.name)
    reference = result.reference
    values = _if_defined(lambda: read_predictions(path, reference)) if reference else None
    if values is None or reference is None:
        return Entry(_without_path(result, path), seconds=seconds)
    of_score = None
    if result.cmi is None:  # not defined on this grid; ranks are
        result = _without_path(result, path)
    else:
        arrays = reference.codes, reference.gap, values
        of_score = _if_defined(
            lambda: interval(_score, *arrays, bounds=(0.0, 1.0), replicates=replicates)
        )
    return Entry(
        result,
        values,
        of_score,
        _if_defined(lambda: kendall(reference.gap, values)),
        _if_defined(lambda: spearman(reference.gap, values)),
        seconds,
    )


def _score(*arrays: npt.ArrayLike) -> float:
    return cmi(*arrays).score


def _without_path(result: TaskResult, path: Path) -> TaskResult:
    """The result with a reason that is the same for every measure with the same problem."""
    reason = (result.reason or "").replace(f"{path}: ", "")
    if result.reference is not None and not path.is_file():
        reason = _NO_FILE
    return TaskResult(result.task, result.reference, None, reason, result.exceeded)


def _if_defined(compute: Callable[[], _T]) -> _T | None:
    """None where a score has no interval, or a measure no correlation: it is constant, say."""
    try:
        return compute()
    except ScoringError:
        return None
