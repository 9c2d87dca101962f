"""The leaderboard: all measures of a run on all tasks, with intervals and notes.

The score of a measure on a task and the average over tasks are those of the scoring program
(`scoring.kit.program`, digit for digit those of scores.json). References and predictions are read
once. What stands beside each score is computed in `scoring.report.entries`.

Measures are sorted by their average; one that was not scored on every task stands below those that
were scored on more, because its average is over other tasks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import numpy as np

from scoring.bootstrap import Interval, centred, draw
from scoring.cmi import Cmi, cmi
from scoring.kit.predictions import choose_measures, find_measures
from scoring.kit.program import FEW_MODELS, Scores, read_references, score_measure
from scoring.kit.reference import Reference
from scoring.recorded_run import Run, read_run
from scoring.report.derived import outdated_combinations
from scoring.report.entries import NO_FILE, Entry, entries_of_task
from scoring.robust.board import RobustResults, evaluate_tasks
from scoring.robust.runs import Runs

FEW_TASKS = 5  # fewer say nothing of other tasks
_REPLICATES = 1000  # of whole tasks


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

    @cached_property
    def interval(self) -> Interval | None:
        """The interval of the average, from resamples of whole tasks; None for too few of them.

        What a task's score owes to its models is part of how the scores of tasks differ.
        """
        scores = np.array(self.scores.scored)
        if len(scores) < FEW_TASKS:
            return None
        found = 100.0 * scores[draw(len(scores), _REPLICATES, seed=0)].mean(axis=1)
        return centred(self.scores.average, found, _REPLICATES, 0.95, (0.0, 100.0))

    @property
    def kendall(self) -> float | None:
        """Kendall's tau, as the mean over the tasks that have it."""
        return _mean(entry.kendall for entry in self.entries.values())

    @property
    def seconds(self) -> float | None:
        """Seconds per model, as the mean over the tasks that recorded them."""
        return _mean(entry.seconds for entry in self.entries.values())


@dataclass(frozen=True, eq=False)
class Leaderboard:
    """All measures, best first."""

    rows: tuple[Row, ...]
    run: Run
    robust: RobustResults | None = None  # if asked for
    replicates: int = 0  # resamples behind each interval; 0 is without intervals
    outdated: tuple[str, ...] = ()  # combinations of outdated values of their measures
    beside: tuple[str, ...] = ()  # what is to be known of published rows among these

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
            if all(row.entries[task].result.reason == NO_FILE for row in self.rows)
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

    @property
    def few(self) -> dict[str, int]:
        """The number of models of each task that has too few of them to compare measures."""
        sizes = {task: len(reference.ids) for task, reference in self.references.items()}
        return {task: size for task, size in sizes.items() if size < FEW_MODELS}

    def ranked(self, task: str) -> tuple[tuple[str, Entry], ...]:
        """The measures with a score on a task, best first."""
        scored = [(row.measure, row.entries[task]) for row in self.rows]
        found = [(measure, entry) for measure, entry in scored if entry.score is not None]
        return tuple(sorted(found, key=lambda item: -(item[1].score or 0.0)))


def leaderboard(
    reference: str | Path,
    out: str | Path,
    *,
    measures: Sequence[str] | None = None,
    replicates: int = 1000,
    score: Callable[..., Cmi] = cmi,
    step: Callable[[str], None] = lambda note: None,
) -> Leaderboard:
    """Scores every measure in `out/<measure>/<task>.predict` against a reference or corpus.

    `measures` are the only ones to score; `-name` negates one. `replicates` is the number of
    resamples behind each interval; 0 is no intervals. `step` is called with the task's name after
    each, for a display of progress. Intervals are of the competition's `score` only.
    """
    names = list(find_measures(out)) if measures is None else measures
    folders = choose_measures(out, names)
    run = read_run(out)
    references = read_references(reference)
    scores = {name: score_measure(references, folder, score) for name, folder in folders.items()}
    entries: dict[str, dict[str, Entry]] = {name: {} for name in names}
    for number, task in enumerate(references):
        results = {name: found.tasks[number] for name, found in scores.items()}
        of_task = entries_of_task(results, folders, run, replicates)
        for name, entry in of_task.items():
            entries[name][task] = entry
        step(task)
    rows = [Row(name, scores[name], entries[name]) for name in names]
    values = {n: {task: e.values for task, e in found.items()} for n, found in entries.items()}
    outdated = outdated_combinations(values)
    return Leaderboard(best_first(rows), run, replicates=replicates, outdated=outdated)


def best_first(rows: Iterable[Row]) -> tuple[Row, ...]:
    """Rows by their average; those that were scored on more tasks first."""
    return tuple(
        sorted(rows, key=lambda row: (-len(row.scores.scored), -row.scores.average, row.measure))
    )


def with_robust(
    board: Leaderboard,
    reference: str | Path,
    *,
    test_size: int | None,
    min_effective: float,
    step: Callable[[str], None] = lambda note: None,
) -> Leaderboard:
    """The leaderboard with the robust evaluation of each task (Dziugaite et al. 2020).

    `test_size` is the number of examples behind each gap; None is what the corpus says. `step` is
    called with the task's name after each that is evaluated.
    """
    tasks = [task for task in board.tasks if task in board.references and board.ranked(task)]
    runs = {task: board.runs(task) for task in tasks}
    return replace(board, robust=evaluate_tasks(runs, reference, test_size, min_effective, step))


def _mean(values: Iterable[float | None]) -> float | None:
    """Of those that are known."""
    found = [value for value in values if value is not None]
    return float(np.mean(found)) if found else None
