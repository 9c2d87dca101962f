"""The leaderboard as Schiff et al. 2021 print theirs: Table 1, and Tables 4 to 9 for combinations.

Tasks are columns, in the paper's order where they are the competition's; the average is last. The
best score of a column is marked with a star; in Table 1 the best of the other part of the table
(single measures, combinations) with a plus.
"""

from __future__ import annotations

from collections.abc import Sequence

from scoring.combine import combination_parts
from scoring.paper_combinations import TABLES, paper_names
from scoring.report.leaderboard import Leaderboard, Row
from scoring.report.published import TASKS, competition_task
from scoring.report.sheets import Cell, Sheet

BEST, BEST_OF_PART = " *", " +"

MARKS = (
    f"{BEST.strip()} best of the column",
    f"{BEST_OF_PART.strip()} best of the column among single measures, or among combinations",
)


def table_1(board: Leaderboard) -> Sheet:
    """All measures: single ones first, then combinations, each part by its average."""
    single = [row for row in board.rows if combination_parts(row.measure) is None]
    combined = [row for row in board.rows if combination_parts(row.measure) is not None]
    return _sheet("CMI x 100 by task (Schiff et al. 2021, Table 1)", board, [single, combined])


def combination_tables(board: Leaderboard, winner: Row | None = None) -> list[Sheet]:
    """A table for each rule, with its rows in the order of the paper and the row of the
    competition's winner, where there is one, at the bottom."""
    rows = {row.measure: row for row in board.rows}
    sheets = []
    for rule, number in TABLES.items():
        known = [rows[name] for name in paper_names(rule) if name in rows]
        if known:
            title = f"{rule}: CMI x 100 by task (Schiff et al. 2021, Table {number})"
            last = [] if winner is None else [winner]
            sheets.append(_sheet(title, board, [[*known, *last]]))
    return sheets


def paper_order(board: Leaderboard) -> list[str]:
    """The tasks, those of the competition in the paper's order and first."""

    def place(task: str) -> int:
        found = competition_task(board.references[task]) if task in board.references else None
        return len(TASKS) if found is None else TASKS.index(found)

    return sorted(board.tasks, key=place)


def _sheet(title: str, board: Leaderboard, parts: Sequence[Sequence[Row]]) -> Sheet:
    tasks = paper_order(board)
    numbers = [[_numbers(row, tasks) for row in part] for part in parts]
    best = [_best(part) for part in numbers]
    overall = _best([row for part in numbers for row in part])
    rows: list[tuple[Cell, ...]] = []
    for part, of_part, best_of_part in zip(parts, numbers, best):
        for row, scores in zip(part, of_part):
            cells = (_cell(*marks) for marks in zip(scores, best_of_part, overall))
            rows.append((row.measure, *cells))
    return Sheet(title, ("measure", *tasks, "average"), tuple(rows))


def _numbers(row: Row, tasks: Sequence[str]) -> list[float | None]:
    """The scores of a row, times 100, and its average; none where a task has no score."""
    scores = [row.entries[task].score for task in tasks]
    average = row.scores.average if row.is_whole else None
    return [*(None if score is None else 100.0 * score for score in scores), average]


def _best(rows: Sequence[Sequence[float | None]]) -> list[float | None]:
    return [max((n for n in column if n is not None), default=None) for column in zip(*rows)]


def _cell(score: float | None, best_of_part: float | None, best: float | None) -> Cell:
    if score is None:
        return None
    mark = BEST if score == best else BEST_OF_PART if score == best_of_part else "  "
    return f"{score:5.2f}{mark}"
