"""What a reader of a leaderboard must know besides its numbers, one line each.

Damaged lines of the record, tasks that were not run or have too few models, combinations that are
out of date, training accuracies that spread, incomplete grids, models that failed, and for each
task the measures without a score, and why, or that rank its models backwards, which the CMI does
not show. Measures, and tasks, with the same problem share a line.
"""

from __future__ import annotations

from collections.abc import Iterator

from scoring.files import listed
from scoring.report.leaderboard import Leaderboard
from scoring.spread import spread_warning

_MODELS = 5  # failed models that are named

PARTIAL = "not scored on all tasks: its average covers fewer tasks"


def notes(board: Leaderboard) -> tuple[str, ...]:
    """All notes, the most general first."""
    found = [*board.beside, *board.run.problems]
    if board.not_run:
        found.append(f"not run, so no average covers all tasks: {listed(board.not_run)}")
    if board.outdated:
        found.append(f"combined before its measures were run again: {listed(board.outdated)}")
    tasks_of: dict[str, list[str]] = {}
    for task in board.tasks:
        for text in (*_of_task(board, task), *_failed_models(board, task), *_scores(board, task)):
            tasks_of.setdefault(text, []).append(task)
    for task, text in board.robust.notes if board.robust is not None else ():
        tasks_of.setdefault(text, []).append(task)
    for text, tasks in tasks_of.items():
        is_of_all = len(tasks) == len(board.tasks) > 1
        found.append(f"{'all tasks' if is_of_all else ', '.join(tasks)}: {text}")
    unknown = {task for row in board.rows for task in row.scores.without_reference}
    if unknown:
        found.append(f"predictions without a reference: {listed(sorted(unknown))}")
    return tuple(found)


def _of_task(board: Leaderboard, task: str) -> Iterator[str]:
    if task in board.references:
        spread = spread_warning(board.references[task].train_acc)
        if spread:
            yield spread
    results = (row.entries[task].result for row in board.rows)
    yield from dict.fromkeys(warning for result in results for warning in result.warnings)


def _failed_models(board: Leaderboard, task: str) -> Iterator[str]:
    measures = {row.measure for row in board.rows}
    failed = {
        model: {name: error for name, error in record.errors.items() if name in measures}
        for model, record in board.run.of_task(task).items()
    }
    failed = {model: errors for model, errors in failed.items() if errors}
    for model, errors in list(failed.items())[:_MODELS]:
        measures_of: dict[str, list[str]] = {}
        for measure, error in errors.items():
            measures_of.setdefault(error, []).append(measure)
        for error, names in measures_of.items():
            yield f"{model} failed for {listed(names)}: {error}"
    if len(failed) > _MODELS:
        yield f"{len(failed) - _MODELS} more models failed"


def _scores(board: Leaderboard, task: str) -> Iterator[str]:
    measures: dict[str, list[str]] = {}
    for row in board.rows:
        reason = row.entries[task].result.reason
        if reason is not None:
            measures.setdefault(reason, []).append(row.measure)
    for reason, names in measures.items():
        yield f"no score for {listed(names)}: {reason}"
    ranked = board.ranked(task)
    unsure = [measure for measure, entry in ranked if entry.interval is None]
    if unsure and board.replicates and task not in board.few:
        yield f"too few models for an interval: {listed(unsure)}"
    backwards = [measure for measure, entry in ranked if (entry.kendall or 0.0) < 0]
    if backwards:
        yield f"ranked backwards (Kendall's tau is negative): {listed(backwards)}"
