"""The report as one self-contained page: no script, no network, no other file.

Its content security policy forbids a browser to load anything for it. Every name in it that comes
from a file is escaped. The caller draws the figures of response curves, because `scoring` does not
know what a curve is.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from html import escape
from importlib.resources import files
from string import Template

from scoring.markup import items
from scoring.report.figures import Figure
from scoring.report.formats import exact
from scoring.report.leaderboard import Leaderboard
from scoring.report.notes import notes
from scoring.report.published import CITATION
from scoring.report.robust import robust_section
from scoring.report.tables import average_table, competition_tasks, published_table
from scoring.report.task import task_section
from scoring.robust.board import evaluation_notes
from scoring.robust.evaluation import Evaluation
from scoring.robust.families import summarize


def report_page(
    board: Leaderboard,
    *,
    name: str,
    curves: Mapping[str, Sequence[Figure]] | None = None,
    step: Callable[[str], None] = lambda note: None,
) -> str:
    """The page of a run over the corpus `name`; `curves` are figures of response curves by task.

    `step` is called with the task's name after each, for a display of progress.
    """
    sections = [] if board.has_one_task else [_averages(board)]
    for task in board.tasks:
        sections.append(task_section(board, task, (curves or {}).get(task, ())))
        step(task)
    sections.append(_published(board))
    return Template(_file("page.html")).substitute(
        title=escape(f"Generalization measures on {name}"),
        style=_file("style.css"),
        lead=_lead(board),
        facts=_facts(board),
        notes=_notes(notes(board)),
        sections="\n".join(f"<section>{section}</section>" for section in sections),
    )


def runs_page(found: Evaluation) -> str:
    """The page of a table of runs: the robust evaluation of its measures, and nothing else."""
    runs = found.runs
    best = found.measures[found.order[0]]
    robust = summarize(found.strongest.errors[found.order[0]])
    lead = "No environment has enough runs for a sign-error."
    if robust.maximum is not None:
        lead = (
            f"The measure with the smallest mean sign-error is <strong>{escape(best)}</strong>: "
            f"{robust.mean:.2f} on average, {robust.maximum:.2f} in the worst of "
            f"{robust.kept:,} environments."
        )
    numbers = {"runs": len(runs.gap), "hyperparameters": len(runs.hparams)}
    numbers["measures"] = len(runs.measures)
    return Template(_file("page.html")).substitute(
        title=escape(f"Generalization measures on {runs.name}"),
        style=_file("style.css"),
        lead=lead,
        facts=_definitions(numbers),
        notes=_notes(tuple(evaluation_notes(found))),
        sections=f"<section>{robust_section(found)}</section>",
    )


def _lead(board: Leaderboard) -> str:
    best = board.rows[0]
    average = exact(best)
    if average is None or not best.scores.scored:
        return "No measure could be scored."
    if set(board.few) >= {task for task in board.tasks if task in board.references}:
        sizes = ", ".join(f"{task} has {size} models" for task, size in board.few.items())
        return f"Too few models to say which measure is best: {escape(sizes)}."
    over = f"on {board.tasks[0]}" if board.has_one_task else f"over {best.tasks_scored} tasks"
    taus = [entry.kendall for entry in best.entries.values() if entry.kendall is not None]
    backwards = sum(taus) < 0 and (
        f" However, it ranks models backwards: Kendall's tau is {sum(taus) / len(taus):.2f}. "
        "Mutual information is the same for a measure and its negation, but for ties and pairs of "
        "a model with itself, so the direction is read from Kendall's tau."
    )
    return (
        f"The measure that is most informative about the generalization gap here is "
        f"<strong>{escape(best.measure)}</strong>, with an average CMI &times; 100 of "
        f"<strong>{average:.2f}</strong> {escape(over)}.{escape(backwards or '')}"
    )


def _facts(board: Leaderboard) -> str:
    models = sum(len(board.references[t].ids) for t in board.tasks if t in board.references)
    numbers = {"model": models, "task": len(board.tasks), "measure": len(board.rows)}
    return _definitions({f"{name}{'' if n == 1 else 's'}": n for name, n in numbers.items()})


def _definitions(numbers: Mapping[str, int]) -> str:
    pairs = "".join(f"<div><dt>{name}</dt><dd>{n:,}</dd></div>" for name, n in numbers.items())
    return f'<dl class="facts">{pairs}</dl>'


def _notes(lines: Sequence[str]) -> str:
    if not lines:
        return ""
    return f'<aside class="notes"><h2>Before you trust a number</h2>{items(lines)}</aside>'


def _averages(board: Leaderboard) -> str:
    return f"<h2>All tasks</h2>\n{average_table(board)}"


def _published(board: Leaderboard) -> str:
    ours = competition_tasks(board)
    relation = (
        f"Where this run has the same measure on the same task ({', '.join(ours)}), our score "
        "stands below the published one."
        if ours
        else "No task of this run is one of the competition's, so these numbers are context, "
        "not a comparison."
    )
    return (
        "<h2>Published scores of the eight competition tasks</h2>\n"
        f"<p>Not computed here: copied from {escape(CITATION)}. {escape(relation)} A dot stands "
        "for a cell that our copy of the paper does not show legibly.</p>\n"
        f"{published_table(board)}"
    )


def _file(name: str) -> str:
    return files("scoring.report").joinpath(name).read_text(encoding="utf-8")
