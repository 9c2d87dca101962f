"""The section of one task: its models, its table and its figures."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from scoring.kit.reference import Reference
from scoring.report.entries import Entry
from scoring.report.explain import explained, most_explaining
from scoring.report.figures import Figure, draw, figures
from scoring.report.leaderboard import Leaderboard
from scoring.report.plots import name_room, plot_leaderboard, plot_pairs, plot_scatter
from scoring.report.published import published_scores
from scoring.report.robust import robust_section
from scoring.report.tables import pairs_table, task_table
from scoring.report.thumbnails import scatter_thumbnail

_MANY = 8  # measures: then their figure is as tall as two others

_ABOUT_CURVES = (
    "<h3>Response curves of the models with the smallest and the largest gap</h3>\n"
    "<p>How the accuracy on training data falls as the data is perturbed more, and the same as a "
    "cumulative density. The shaded area between a network and the ideal one, whose accuracy stays "
    "1, is what Gi measures.</p>"
)


def task_section(board: Leaderboard, task: str, curves: Sequence[Figure]) -> str:
    """All of a task; `curves` are figures of its models' response curves."""
    parts = [f"<h2>{escape(task)}</h2>"]
    reference = board.references.get(task)
    if reference is not None:
        parts.append(f'<p class="quiet">{escape(describe(reference))}</p>')
    parts.append(task_table(board, task))
    ranked = board.ranked(task)
    if reference is None or not ranked:
        return "\n".join(parts)
    (best, entry), *others = ranked
    lead = [_leaderboard_figure(board, reference), *_measure_figures(best, entry, reference)]
    parts.append(figures(lead, kind="figures tall-first" if len(ranked) > _MANY else "figures"))
    if others:
        small = [scatter_thumbnail(name, other, reference) for name, other in others]
        parts.append(
            f"<details><summary>Measure against gap, and the score by pairs of "
            f"hyperparameters: all {len(ranked)} measures</summary>"
            f"{pairs_table(ranked)}{figures(small, kind='figures small')}</details>"
        )
    robust = None if board.robust is None else board.robust.tasks.get(task)
    if robust is not None:
        parts.append(robust_section(robust))
    if curves:
        parts += [_ABOUT_CURVES, figures(curves)]
    return "\n".join(parts)


def describe(reference: Reference) -> str:
    """The models of a task in a sentence: how many, which grid, which gaps."""
    grid = ", ".join(
        f"{name} ({', '.join(map(str, values))})"
        for name, values in zip(reference.hparams, reference.values)
    )
    return (
        f"{len(reference.ids)} models over {grid or 'no hyperparameters'}. "
        f"Gaps from {reference.gap.min():.3f} to {reference.gap.max():.3f}, training accuracies "
        f"from {reference.train_acc.min():.3f} to {reference.train_acc.max():.3f}."
    )


def _leaderboard_figure(board: Leaderboard, reference: Reference) -> Figure:
    ranked = board.ranked(reference.task)
    known = published_scores(reference)
    scores = ", ".join(f"{measure} {100 * (entry.score or 0):.1f}" for measure, entry in ranked)
    caption = "Score of each measure (dot) with its 95 % bootstrap interval (line)."
    if set(known) & {measure for measure, _ in ranked}:
        caption += " Hollow diamonds: published scores."
    return draw(
        lambda ax: plot_leaderboard(board, reference.task, ax, published=known),
        alt=f"CMI x 100 of the measures on {reference.task}: {scores}",
        caption=caption,
        size=(
            4.5 + name_room(measure for measure, _ in ranked),
            max(2.9, 0.75 + 0.29 * len(ranked)),
        ),
    )


def _measure_figures(measure: str, entry: Entry, reference: Reference) -> list[Figure]:
    cmi, values = entry.result.cmi, entry.values
    if cmi is None or values is None:
        return []
    colour = most_explaining(reference)
    coloured = (
        f" Colour: {colour}, the hyperparameter that explains most of the gap "
        f"({100 * explained(reference)[colour]:.0f} % of its variance)."
        if colour is not None
        else ""
    )
    tau = "undefined" if entry.kendall is None else f"{entry.kendall:.2f}"
    rows = max(1, len(reference.hparams) - 1)
    return [
        draw(
            lambda ax: plot_scatter(reference, values, ax, colour_by=colour, measure=measure),
            alt=f"{reference.task}: {measure} against the gap, Kendall's tau {tau}",
            caption=f"{measure} against the gap, a point per model; Kendall's tau {tau}.{coloured}",
        ),
        draw(
            lambda ax: plot_pairs(cmi, ax),
            alt=f"{reference.task}: CMI x 100 of {measure} given each pair of hyperparameters: "
            + "; ".join(f"{pair.label} {100 * pair.score:.1f}" for pair in cmi.pairs),
            caption=f"CMI × 100 of {measure} given each pair of hyperparameters. "  # noqa: RUF001
            f"Framed: the smallest, given {cmi.minimum.label}, which is the score.",
            size=(4.5, max(2.2, 0.9 + 0.42 * rows)),
        ),
    ]
