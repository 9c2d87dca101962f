"""The leaderboard as sheets of cells (for text and Markdown), CSV and JSON.

CSV and JSON hold the numbers of scores.json: CMI in [0, 1] to twelve digits, the average times 100.
Sheets are for reading: every CMI is times 100 there, as in the papers' tables.
"""

from __future__ import annotations

import csv
import io
import json
import math
from dataclasses import dataclass
from typing import Any, Union

from scoring.report.notes import PARTIAL, notes
from scoring.results import kit_lines
from scoring.table import Entry, Leaderboard, Row

Cell = Union[str, float, None]

MARK = " *"  # behind the name of a measure that was not scored on all tasks

_COLUMNS = (
    *("measure", "average", "tasks_scored", "task", "score", "low", "high", "kendall", "spearman"),
    *("seconds", "smallest_given", "reason"),
)


@dataclass(frozen=True)
class Sheet:
    """A titled table."""

    title: str
    headers: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]


def sheets(board: Leaderboard) -> tuple[Sheet, ...]:
    """The average over tasks where there are several, and a sheet per task."""
    by_task = tuple(_task_sheet(board, task) for task in board.tasks)
    return by_task if board.has_one_task else (_average_sheet(board), *by_task)


def remarks(board: Leaderboard) -> tuple[str, ...]:
    """The lines below the sheets: what the mark means, and the notes."""
    marked = () if all(row.is_whole for row in board.rows) else (f"* {PARTIAL}",)
    return (*marked, *notes(board))


def to_markdown(board: Leaderboard) -> str:
    """The sheets as Markdown tables, with the remarks as a list."""
    parts = []
    for sheet in sheets(board):
        cells = [[_markdown_cell(cell) for cell in row] for row in sheet.rows]
        right = [any(isinstance(cell, float) for cell in column) for column in zip(*sheet.rows)]
        rule = ["---:" if numeric else "---" for numeric in right]
        lines = [map(_markdown_cell, sheet.headers), rule, *cells]
        table = "\n".join(f"| {' | '.join(line)} |" for line in lines)
        parts.append(f"**{_markdown_cell(sheet.title)}**\n\n{table}\n")
    below = "".join(f"- {_markdown_cell(remark)}\n" for remark in remarks(board))
    return "\n".join([*parts, below] if below else parts)


def to_csv(board: Leaderboard) -> str:
    """One line per measure and task, with the measure's average repeated."""
    text = io.StringIO()
    writer = csv.DictWriter(text, _COLUMNS, lineterminator="\n", extrasaction="ignore")
    writer.writeheader()
    for row in board.rows:
        whole = _row_numbers(row)
        for task in board.tasks:
            numbers = {**whole, "task": task, **_entry_numbers(row, task)}
            given = numbers["smallest_given"]
            writer.writerow({**numbers, "smallest_given": given and ", ".join(given)})
    return text.getvalue()


def to_json(board: Leaderboard) -> str:
    """Everything, the scores of all pairs of hyperparameters included."""
    content = {
        "tasks": board.tasks,
        "notes": notes(board),
        "measures": [
            {
                **_row_numbers(row),
                "tasks": {task: _entry_numbers(row, task) for task in board.tasks},
            }
            for row in board.rows
        ],
    }
    return json.dumps(content, indent=1, allow_nan=False) + "\n"


def exact(row: Row, task: str | None = None) -> float | None:
    """The number of scores.json: a task's score, or the average; None where there is none."""
    key = "task_average_score" if task is None else f"task_{task}_score"
    defined = row.scores.has_average if task is None else row.entries[task].score is not None
    return float(kit_lines(row.scores)[key]) if defined else None


def _average_sheet(board: Leaderboard) -> Sheet:
    rows = tuple(
        (
            f"{row.measure}{'' if row.is_whole else MARK}",
            exact(row),
            row.tasks_scored,
            *(_times_100(row.entries[task].score) for task in board.tasks),
            row.seconds,
        )
        for row in board.rows
    )
    headers = ("measure", "average", "tasks", *board.tasks, "s/model")
    return Sheet("all tasks: CMI x 100", headers, rows)


def _task_sheet(board: Leaderboard, task: str) -> Sheet:
    measures = [(row.measure, row.entries[task]) for row in board.rows]
    scored = board.ranked(task)
    rows = (*scored, *(item for item in measures if item[1].score is None))
    headers = (
        "measure",
        "CMI x 100",
        "95 % interval",
        "Kendall",
        "Spearman",
        "s/model",
        "smallest given",
    )
    return Sheet(task, headers, tuple((measure, *_task_cells(entry)) for measure, entry in rows))


def _task_cells(entry: Entry) -> tuple[Cell, ...]:
    return (
        _times_100(entry.score),
        None
        if entry.interval is None
        else f"{100 * entry.interval.low:5.2f} to {100 * entry.interval.high:5.2f}",
        entry.kendall,
        entry.spearman,
        entry.seconds,
        "no score" if entry.result.cmi is None else entry.result.cmi.minimum.label,
    )


def _row_numbers(row: Row) -> dict[str, Any]:
    return {
        "measure": row.measure,
        "average": exact(row),
        "tasks_scored": row.tasks_scored,
        "whole": row.is_whole,
    }


def _entry_numbers(row: Row, task: str) -> dict[str, Any]:
    entry = row.entries[task]
    found, bounds = entry.result.cmi, entry.interval
    return {
        "score": exact(row, task),
        "low": None if bounds is None else bounds.low,
        "high": None if bounds is None else bounds.high,
        "kendall": entry.kendall,
        "spearman": entry.spearman,
        "seconds": entry.seconds,
        "smallest_given": None if found is None else found.minimum.hparams,
        "pairs": []
        if found is None
        else [
            {"given": pair.hparams, "score": None if math.isnan(pair.score) else pair.score}
            for pair in found.pairs
        ],
        "reason": entry.result.reason,
    }


def _times_100(score: float | None) -> float | None:
    return None if score is None else 100.0 * score


def _markdown_cell(cell: Cell) -> str:
    if cell is None:
        return "-"
    text = f"{cell:.2f}" if isinstance(cell, float) else " ".join(cell.split())
    return text.replace("\\", "\\\\").replace("|", "\\|").replace("<", "&lt;").replace("*", "\\*")
