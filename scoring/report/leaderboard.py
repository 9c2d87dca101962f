"""The leaderboard: all measures of a run on all tasks, with intervals and notes.

The score of a measure on a task and the average over tasks are those of the scoring program
(`scoring.kit.program`, digit for digit those of scores.json). Beside them stand a bootstrap
interval of the score, Kendall's tau and Spearman's rho with the gap over all models, and the
seconds per model that the run recorded. References and predictions are read once.

Measures are sorted by their average; one that was not scored on every task stands below those that
were scored on more, because its average is over other tasks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

import numpy as np
import numpy.typing as npt

from scoring.bootstrap import Interval, centred, draw
from scoring.cmi import Cmi, cmi
from scoring.cmi_intervals import cmi_intervals
from scoring.errors import ScoringError, if_defined
from scoring.kit.predictions import SUFFIX, MeasureFolder, choose_measures, find_measures
from scoring.kit.program import FEW_MODELS, Scores, TaskResult, read_references, score_measure
from scoring.kit.reference import Reference
from scoring.rank import kendall, spearman
from scoring.rank_intervals import rank_intervals
from scoring.recorded_run import Run, read_run
from scoring.report.derived import outdated_combinations
from scoring.robust.board import RobustResults, evaluate_tasks
from scoring.robust.runs import Runs

_NO_FILE = "no predictions"


FEW_TASKS = 5  # fewer say nothing of other tasks
_REPLICATES = 1000  # of whole tasks


@dataclass(frozen=True, eq=False)
class Entry:
    """One measure on one task; without a score, the reason is in `result`."""

    result: TaskResult
    values: npt.NDArray[np.float64] | None = None  # [models] in the order of the reference
    interval: Interval | None = None  # of the score
    kendall: float | None = None
    spearman: float | None = None
    rank_intervals: Mapping[str, Interval] = field(default_factory=dict)  # kendall, spearman, psi
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
        of_task = _entries(results, folders, run, replicates)
        for name, entry in of_task.items():
            entries[name][task] = entry
        step(task)
    rows = [Row(name, scores[name], entries[name]) for name in names]
    rows.sort(key=lambda row: (-len(row.scores.scored), -row.scores.average, row.measure))
    values = {n: {task: e.values for task, e in found.items()} for n, found in entries.items()}
    outdated = outdated_combinations(values)
    return Leaderboard(tuple(rows), run, replicates=replicates, outdated=outdated)


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


def _entries(
    results: Mapping[str, TaskResult],
    folders: Mapping[str, MeasureFolder],
    run: Run,
    replicates: int,
) -> dict[str, Entry]:
    """All measures on one task."""
    intervals, ranks = _intervals(results, replicates)
    found = {}
    for name, result in results.items():
        folder, reference, values = folders[name].path, result.reference, result.values
        seconds = run.seconds_per_model(result.task, folder.name)
        if result.cmi is None:
            result = _without_path(result, folder / f"{result.task}{SUFFIX}")
        if reference is None or values is None:
            found[name] = Entry(result, seconds=seconds)
        else:
            tau, rho = (if_defined(s, reference.gap, values) for s in (kendall, spearman))
            of_ranks = ranks.get(name, {})
            found[name] = Entry(result, values, intervals.get(name), tau, rho, of_ranks, seconds)
    return found


def _intervals(
    results: Mapping[str, TaskResult], replicates: int
) -> tuple[dict[str, Interval], dict[str, dict[str, Interval]]]:
    """By measure, the interval of the score on a task and those of its rank correlations.

    There is none of the score where there are too few models.
    """
    scores, values, references = {}, [], []
    for name, result in results.items():
        if result.cmi is not None and result.reference is not None:
            scores[name] = result.cmi.score
            values.append(result.values)
            references.append(result.reference)
    if not scores or not replicates or len(references[0].ids) < FEW_MODELS:
        return {}, {}  # resamples of a few models agree, however wrong they are
    arrays = references[0].codes, references[0].gap, np.array(values)
    ranks = dict(zip(scores, rank_intervals(*arrays, replicates=replicates)))
    try:
        of_scores = cmi_intervals(*arrays, list(scores.values()), replicates=replicates)
    except ScoringError:
        return {}, ranks
    return dict(zip(scores, of_scores)), ranks


def _mean(values: Iterable[float | None]) -> float | None:
    """Of those that are known."""
    found = [value for value in values if value is not None]
    return float(np.mean(found)) if found else None


def _without_path(result: TaskResult, path: Path) -> TaskResult:
    """The result with a reason that is the same for every measure with the same problem."""
    reason = (result.reason or "").replace(f"{path}: ", "")
    if result.reference is not None and not path.is_file():
        reason = _NO_FILE
    return replace(result, reason=reason)
