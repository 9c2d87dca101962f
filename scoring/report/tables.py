"""The tables of the page: all tasks, one task, and the published scores beside ours."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from html import escape

from scoring.cmi import SetScore, cmi_score
from scoring.errors import if_defined
from scoring.markup import MISSING, Column, number, shaded, table
from scoring.report import published
from scoring.report.derived import signed_or_combined
from scoring.report.entries import Entry
from scoring.report.formats import exact
from scoring.report.leaderboard import Leaderboard, Row

_NOT_LEGIBLE = '<span class="missing" title="not legible in our copy">&middot;</span>'


def average_table(board: Leaderboard) -> str:
    """The average of every measure and its score on every task."""
    columns = [
        Column("measure", numeric=False),
        *(Column(heading) for heading in ("average", "tasks", *board.tasks, "s/model")),
    ]
    highest = max([1e-9, *(score for row in board.rows for score in row.scores.scored)])
    rows = [
        [
            _name(row),
            number(exact(row)),
            escape(row.tasks_scored),
            *(_shaded_score(row, task, highest) for task in board.tasks),
            number(row.seconds),
        ]
        for row in board.rows
    ]
    return table("CMI × 100 by task, best average first", columns, rows)  # noqa: RUF001


def task_table(board: Leaderboard, task: str) -> str:
    """All that is known of every measure on one task."""
    headings = ["CMI × 100", "95 % interval", "Kendall τ", "Spearman ρ", "s/model"]  # noqa: RUF001
    columns = [Column("measure", numeric=False), *map(Column, headings)]
    columns.append(Column("minimizing pair", numeric=False))
    by_name = {row.measure: row for row in board.rows}
    reference = board.references.get(task)
    known = published.published_scores(reference) if reference is not None else {}
    if known.keys() & by_name.keys():
        columns.append(Column("published"))
    ranked = [measure for measure, _ in board.ranked(task)]
    rows = []
    for measure in (*ranked, *(name for name in by_name if name not in ranked)):
        cells = _task_cells(by_name[measure], task)
        if len(columns) > len(cells):
            cells.append(f'<span class="published">{number(known.get(measure))}</span>')
        rows.append(cells)
    return table(f"Every measure on {task}, best first", columns, rows)


def pairs_table(ranked: Sequence[tuple[str, Entry]]) -> str:
    """The scores on one task given each pair of hyperparameters, the smallest in bold."""
    tables = [(measure, entry.result.cmi) for measure, entry in ranked]
    known = [(measure, cmi) for measure, cmi in tables if cmi is not None]
    labels = [pair.label for pair in known[0][1].pairs] if known else []
    rows = [
        [escape(measure), *(_pair_cell(pair, pair is cmi.minimum) for pair in cmi.pairs)]
        for measure, cmi in known
    ]
    columns = [Column("measure", numeric=False), *map(Column, labels)]
    caption = "CMI × 100 given each pair of hyperparameters; the smallest, in bold, counts"  # noqa: RUF001
    return table(caption, columns, rows)


def published_table(board: Leaderboard) -> str:
    """Table 1 of the paper, with our scores below the published ones of the same cell."""
    ours = _ours(board)
    columns = [
        Column("published measure", numeric=False),
        *(Column(f"{task.data} {task.network}") for task in published.TASKS),
        Column("average"),
    ]
    rows = []
    for row in published.ROWS:
        cells = [
            _cell(score) + ours.get((row.measure, task.number), "")
            for task, score in zip(published.TASKS, row.scores)
        ]
        rows.append([escape(row.name), *cells, _cell(row.average)])
    return table("Published CMI × 100", columns, rows)  # noqa: RUF001


def competition_tasks(board: Leaderboard) -> Mapping[str, published.CompetitionTask]:
    """The tasks of this run that are the competition's."""
    found = {
        task: published.competition_task(board.references[task])
        for task in board.tasks
        if task in board.references
    }
    return {task: known for task, known in found.items() if known is not None}


def _ours(board: Leaderboard) -> dict[tuple[str | None, int], str]:
    """Our scores of the published measures, which need not be among the board's own.

    A negation or a combination of measures that are there is computed here.
    """
    found: dict[tuple[str | None, int], str] = {}
    for task, known in competition_tasks(board).items():
        values = {row.measure: {task: row.entries[task].values} for row in board.rows}
        reference = board.references[task]
        for row in published.ROWS:
            of_row = row.measure and signed_or_combined(values, row.measure, task)
            if of_row is None or isinstance(of_row, str):
                continue
            score = if_defined(cmi_score, reference.codes, reference.gap, of_row)
            if score is not None:
                ours = f'<span class="ours">ours {100 * score:.2f}</span>'
                found[row.measure, known.number] = ours
    return found


def _name(row: Row) -> str:
    tag = "" if row.is_whole else '<span class="tag">not all tasks</span>'
    return escape(row.measure) + tag


def _score(row: Row, task: str) -> str:
    score = row.entries[task].score
    return MISSING if score is None else number(100 * score, exact=exact(row, task))


def _shaded_score(row: Row, task: str, highest: float) -> str:
    score = row.entries[task].score
    return MISSING if score is None else shaded(_score(row, task), score / highest)


def _task_cells(row: Row, task: str) -> list[str]:
    entry = row.entries[task]
    return [
        escape(row.measure),
        _score(row, task),
        _range(entry),
        _correlation(entry.kendall),
        _correlation(entry.spearman),
        number(entry.seconds),
        "no score" if entry.result.cmi is None else escape(entry.result.cmi.minimum.label),
    ]


def _pair_cell(pair: SetScore, smallest: bool) -> str:
    if math.isnan(pair.score):
        return MISSING
    shown = shaded(f"{100 * pair.score:.1f}", pair.score)
    return f"<strong>{shown}</strong>" if smallest else shown


def _correlation(value: float | None) -> str:
    if value is None or value >= 0:
        return number(value)
    return f'<span class="backwards" title="ranked backwards">{number(value)}</span>'


def _range(entry: Entry) -> str:
    if entry.interval is None:
        return MISSING
    low, high = 100 * entry.interval.low, 100 * entry.interval.high
    return f'<span class="range">{low:.2f} &ndash; {high:.2f}</span>'


def _cell(score: float | None) -> str:
    return _NOT_LEGIBLE if score is None else f"{score:.2f}"
