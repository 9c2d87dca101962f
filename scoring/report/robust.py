"""The robust evaluation in the report: tables, the bars of Figure 1, the triangles of Figure 2."""

from __future__ import annotations

from functools import partial
from html import escape

from scoring.markup import Column, number, table
from scoring.report.figures import Figure, draw, figures
from scoring.report.plots import name_room
from scoring.report.robust_formats import robust_sheets
from scoring.report.robust_plots import plot_sign_errors, plot_triangle
from scoring.report.sheets import Cell, Sheet
from scoring.robust.evaluation import Evaluation
from scoring.robust.failing import failing_environments
from scoring.robust.families import hparam_families, summarize

_FAILURES = 50  # environments that are listed

_ABOUT = (
    "<h3>In the worst environment</h3>\n"
    "<p>A measure that ranks well on average may still fail wherever one hyperparameter changes. "
    "An environment is a pair of settings that differ in one hyperparameter; the sign-error is the "
    "share of pairs of runs that a measure puts in the wrong order, weighted by how sure the order "
    "of their gaps is (Dziugaite et al. 2020).</p>"
)
_WEAKER = (
    "<p>No environment has enough runs for that. Below, as in appendix D.3 of that paper, all "
    "settings in which the same hyperparameter changes between the same two values are taken "
    "together, which is easier for a measure.</p>"
)


def robust_section(found: Evaluation) -> str:
    """All that is shown of the robust evaluation of a task."""
    over_all, *others = robust_sheets(found)
    parts = [_ABOUT, _WEAKER if found.is_weaker else "", _table(over_all)]
    if found.strongest.kept.any():
        parts.append(figures([_bars(found)], kind="figures wide"))
        parts.append(figures(_triangles(found)))
        parts.append(_failing(found))
    inside = "\n".join(map(_table, others))
    parts.append(
        "<details><summary>By hyperparameter, and the robust error of predicting the gap itself"
        f"</summary>{inside}</details>"
    )
    return "\n".join(parts)


def _failing(found: Evaluation) -> str:
    """Where the measure that is best on average is worse than chance."""
    best = found.measures[found.order[0]]
    failures = failing_environments(found, best)
    if not failures:
        return f"<p>{escape(best)}, the best on average, is nowhere worse than chance.</p>"
    rows = [
        [
            escape(f"{one.hparam}: {one.low} to {one.high}"),
            escape(", ".join(f"{name} {value}" for name, value in one.others.items()) or "any"),
            number(one.sign_error),
            number(one.n_eff, 1),
        ]
        for one in failures[:_FAILURES]
    ]
    columns = [Column("varies", numeric=False), Column("at", numeric=False)]
    columns += [Column("sign-error"), Column("effective samples")]
    caption = f"Where {best} is worse than chance: {len(failures)} environments, the worst first"
    shown = table(caption, columns, rows)
    return f"<details><summary>{escape(caption)}</summary>{shown}</details>"


def _table(sheet: Sheet) -> str:
    numeric = [not any(isinstance(cell, str) for cell in column) for column in zip(*sheet.rows)]
    columns = [Column(heading, kind) for heading, kind in zip(sheet.headers, numeric)]
    return table(sheet.title, columns, [[_cell(cell) for cell in row] for row in sheet.rows])


def _cell(cell: Cell) -> str:
    return escape(cell) if isinstance(cell, str) else number(cell)


def _bars(found: Evaluation) -> Figure:
    table, best = found.strongest, found.order[0]
    rows = 1 + len(list(hparam_families(table)))
    measures = len(found.measures)
    height = 1.9 + 0.62 * rows + name_room(found.measures)
    robust = summarize(table.errors[best]).maximum or 0.0
    return draw(
        partial(plot_sign_errors, found),
        alt=f"{found.runs.name}: sign-errors of {measures} measures over all environments and by "
        f"hyperparameter; {found.measures[best]}, the best on average, has a maximum of "
        f"{robust:.2f}",
        caption="Sign-errors over all environments and where one hyperparameter varies, with the "
        "number of environments. Each bar reaches from 0, below, to 1. The shade at a height says "
        "how many environments have a larger sign-error, from half of them or more to none. "
        "A cross: no environment counts.",
        size=(min(10.0, max(4.5, 1.6 + 0.42 * measures)), height),
    )


def _triangles(found: Evaluation) -> list[Figure]:
    """Of the measure that is best on average, for each hyperparameter with three values or more."""
    best = found.measures[found.order[0]]
    shown = [name for name, values in zip(found.runs.hparams, found.runs.values) if len(values) > 2]
    return [
        draw(
            partial(plot_triangle, found, best, name),
            alt=f"{found.runs.name}: sign-errors of {best} by pairs of values of {name}",
            caption=f"Sign-errors of {best} where {name} changes between two values.",
            size=(4.0, 3.2),
        )
        for name in shown
    ]
