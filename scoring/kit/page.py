"""The result as one self-contained page: average, tasks, and the table behind each score."""

from __future__ import annotations

import math
from html import escape

from scoring.cmi import Cmi
from scoring.kit.program import Scores, TaskResult
from scoring.markup import Column, page, table

_STYLE = """\
body { max-width: 46rem; }
table { width: 100%; }
caption { font-size: .9rem; }
.average { font-size: 2rem; font-weight: 600; margin: 0; }
.problem { color: var(--bad); overflow-wrap: anywhere; }
"""


def scores_page(scores: Scores) -> str:
    """The page; every name and message in it is escaped."""
    rows = [
        [
            escape(task.task),
            "no score" if task.cmi is None else f"{task.cmi.score:.6f}",
            "" if task.cmi is None else escape(task.cmi.minimum.label),
            "" if task.reference is None else str(len(task.reference.ids)),
        ]
        for task in scores.tasks
    ]
    columns = [
        *(Column("task", numeric=False), Column("score")),
        *(Column("minimizing pair", numeric=False), Column("models")),
    ]
    average = f"{scores.average:.6f}"
    parts = [
        "<h1>PGDL scores</h1>",
        f'<p class="average">{average}</p>',
        f"<p>{scores.meaning}</p>",
    ]
    parts.append(table("Score of each task", columns, rows))
    parts += [
        _problem(f"{task}: predictions without a reference") for task in scores.without_reference
    ]
    parts += [_task_section(task) for task in scores.tasks]
    return page(f"PGDL scores: {average}", _STYLE, "\n".join(parts))


def _task_section(task: TaskResult) -> str:
    parts = [f"<h2>{escape(task.task)}</h2>"]
    if task.reason is not None:
        parts.append(_problem(task.reason))
    parts += [_problem(warning) for warning in task.warnings]
    if task.cmi is not None:
        parts.append(_pairs_table(task.cmi))
    return "\n".join(parts)


def _pairs_table(cmi: Cmi) -> str:
    columns = [
        Column("given", numeric=False),
        *(Column(heading) for heading in ("score", "groups", "empty")),
    ]
    rows = [
        [
            escape(pair.label),
            "undefined" if math.isnan(pair.score) else f"{pair.score:.6f}",
            str(pair.groups),
            str(pair.empty_groups),
        ]
        for pair in cmi.pairs
    ]
    caption = "Score given each pair of hyperparameters; the smallest is the task's"
    return table(caption, columns, rows, marked=cmi.pairs.index(cmi.minimum))


def _problem(text: str) -> str:
    return f'<p class="problem">{escape(text)}</p>'
