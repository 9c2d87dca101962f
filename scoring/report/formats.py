"""The leaderboard as sheets of cells (for text and Markdown), CSV and JSON.

CSV and JSON hold the numbers of scores.json: CMI in [0, 1] to twelve digits, the average times 100.
Sheets are for reading: every CMI is times 100 there, as in the papers' tables.
"""

from __future__ import annotations

import json
import math
from typing import Any

from scoring.bootstrap import Interval
from scoring.kit.results import kit_lines
from scoring.report.entries import Entry
from scoring.report.leaderboard import Leaderboard, Row
from scoring.report.notes import PARTIAL, notes
from scoring.report.robust_formats import (
    board_cells,
    board_headers,
    board_numbers,
    robust_numbers,
    robust_sheets,
)
from scoring.report.sheets import Cell, Sheet, csv_text, markdown
from scoring.robust.evaluation import Evaluation

MARK = " *"  # behind the name of a measure that was not scored on all tasks

_COLUMNS = (
    *("measure", "average", "tasks_scored", "task", "score", "low", "high", "kendall", "spearman"),
    *("seconds", "minimizing_pair", "reason"),
    *("kendall_low", "kendall_high", "spearman_low", "spearman_high"),
)
_ROBUST_COLUMNS = ("psi", "sign_error", "sign_error_90", "sign_error_mean", "weaker_sign_error")


def sheets(board: Leaderboard) -> tuple[Sheet, ...]:
    """The average over tasks where there are several, and the sheets of each task."""
    found = [] if board.has_one_task else [average_sheet(board)]
    for task in board.tasks:
        found.append(_task_sheet(board, task))
        robust = _robust(board, task)
        found += robust_sheets(robust) if robust is not None else ()
    return tuple(found)


def remarks(board: Leaderboard) -> tuple[str, ...]:
    """The lines below the sheets: what the mark means, and the notes."""
    whole = board.has_one_task or all(row.is_whole for row in board.rows)
    return (*(() if whole else (f"* {PARTIAL}",)), *notes(board))


def to_markdown(board: Leaderboard) -> str:
    """The sheets as Markdown tables, with the remarks as a list."""
    return markdown(sheets(board), remarks(board))


def to_csv(board: Leaderboard) -> str:
    """One line per measure and task, with the measure's average repeated."""
    columns = _COLUMNS if board.robust is None else (*_COLUMNS, *_ROBUST_COLUMNS)
    rows = []
    for row in board.rows:
        whole = _row_numbers(row)
        for task in board.tasks:
            numbers = {**whole, "task": task, **_entry_numbers(board, row, task)}
            pair = numbers["minimizing_pair"]
            numbers["minimizing_pair"] = pair and ", ".join(pair)
            rows.append([numbers.get(name) for name in columns])
    return csv_text(columns, rows)


def to_json(board: Leaderboard) -> str:
    """Everything, the scores of all pairs of hyperparameters included."""
    content: dict[str, Any] = {
        "tasks": board.tasks,
        "notes": notes(board),
        "measures": [
            {
                **_row_numbers(row),
                "tasks": {task: _entry_numbers(board, row, task) for task in board.tasks},
            }
            for row in board.rows
        ],
    }
    if board.robust is not None:
        content["robust"] = {task: robust_numbers(e) for task, e in board.robust.tasks.items()}
    return json.dumps(content, indent=1, allow_nan=False) + "\n"


def exact(row: Row, task: str | None = None) -> float | None:
    """The number of scores.json: a task's score, or the average; None where there is none."""
    key = "task_average_score" if task is None else f"task_{task}_score"
    defined = row.scores.has_average if task is None else row.entries[task].score is not None
    return float(kit_lines(row.scores)[key]) if defined else None


def average_sheet(board: Leaderboard) -> Sheet:
    """The average of every measure over the tasks, and its score on each."""
    intervals = any(row.interval is not None for row in board.rows)
    rows = tuple(
        (
            f"{row.measure}{'' if row.is_whole else MARK}",
            exact(row),
            *((_range(row.interval),) if intervals else ()),
            row.tasks_scored,
            *(_times_100(row.entries[task].score) for task in board.tasks),
            row.kendall,
            row.seconds,
        )
        for row in board.rows
    )
    interval = ("95 % interval",) if intervals else ()
    headers = ("measure", "average", *interval, "tasks", *board.tasks, "Kendall", "s/model")
    return Sheet("all tasks: CMI x 100", headers, rows)


def _task_sheet(board: Leaderboard, task: str) -> Sheet:
    measures = [(row.measure, row.entries[task]) for row in board.rows]
    scored = board.ranked(task)
    rows = (*scored, *(item for item in measures if item[1].score is None))
    robust = _robust(board, task)
    more = {measure: board_cells(robust, measure) if robust else () for measure, _ in rows}
    headers = (
        *("measure", "CMI x 100", "95 % interval", "Kendall", "Spearman"),
        *(board_headers(robust) if robust else ()),
        *("s/model", "minimizing pair"),
    )
    cells = tuple((measure, *_task_cells(entry, more[measure])) for measure, entry in rows)
    return Sheet(task, headers, cells)


def _task_cells(entry: Entry, robust: tuple[Cell, ...]) -> tuple[Cell, ...]:
    return (
        _times_100(entry.score),
        _range(entry.interval, 100),
        entry.kendall,
        entry.spearman,
        *robust,
        entry.seconds,
        "no score" if entry.result.cmi is None else entry.result.cmi.minimum.label,
    )


def _robust(board: Leaderboard, task: str) -> Evaluation | None:
    return None if board.robust is None else board.robust.tasks.get(task)


def _row_numbers(row: Row) -> dict[str, Any]:
    return {
        "measure": row.measure,
        "average": exact(row),
        "tasks_scored": row.tasks_scored,
        "whole": row.is_whole,
    }


def _entry_numbers(board: Leaderboard, row: Row, task: str) -> dict[str, Any]:
    entry, robust = row.entries[task], _robust(board, task)
    found, bounds = entry.result.cmi, entry.interval
    return {
        "score": exact(row, task),
        "low": None if bounds is None else bounds.low,
        "high": None if bounds is None else bounds.high,
        "kendall": entry.kendall,
        "spearman": entry.spearman,
        "seconds": entry.seconds,
        "minimizing_pair": None if found is None else found.minimum.hparams,
        "pairs": []
        if found is None
        else [
            {"given": pair.hparams, "score": None if math.isnan(pair.score) else pair.score}
            for pair in found.pairs
        ],
        "reason": entry.result.reason,
        **_rank_numbers(entry),
        **(board_numbers(robust, row.measure) if robust else {}),
    }


def _rank_numbers(entry: Entry) -> dict[str, Any]:
    """The ends of the intervals of the rank correlations; Psi itself is `psi`."""
    found: dict[str, Any] = {}
    for name, bounds in entry.rank_intervals.items():
        found |= {f"{name}_low": bounds.low, f"{name}_high": bounds.high}
    psi = entry.rank_intervals.get("psi")
    return found if psi is None else {**found, "psi": psi.value}


def _range(bounds: Interval | None, times: float = 1) -> str | None:
    return None if bounds is None else f"{times * bounds.low:5.2f} to {times * bounds.high:5.2f}"


def _times_100(score: float | None) -> float | None:
    return None if score is None else 100.0 * score
