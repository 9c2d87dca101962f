"""The response curves of a run's models as figures of its report."""

from __future__ import annotations

from pgdl_measures.response_curves.plots import plot_curves, plot_density
from scoring.recorded_run import ModelRecord
from scoring.report.figures import Figure, draw
from scoring.report.leaderboard import Leaderboard


def curve_figures(board: Leaderboard, task: str) -> list[Figure]:
    """Response curves and their densities, of the models with the smallest and the largest gap.

    Two figures for each perturbation with curves of at least two models; a single magnitude, as
    that of the mixup accuracy alone, is no curve.
    """
    if task not in board.references:
        return []
    reference, records = board.references[task], board.run.of_task(task)
    gaps = {
        name: gap for name, gap in zip(reference.ids, reference.gap.tolist()) if name in records
    }
    labels = dict.fromkeys(label for name in gaps for label in records[name].curves)
    return [figure for label in labels for figure in _pair(task, label, gaps, records)]


def _pair(
    task: str, label: str, gaps: dict[str, float], records: dict[str, ModelRecord]
) -> list[Figure]:
    known = [
        name
        for name in gaps
        if label in records[name].curves and len(records[name].curves[label].magnitudes) > 1
    ]
    if len(known) < 2:
        return []
    best, worst = min(known, key=gaps.__getitem__), max(known, key=gaps.__getitem__)
    curves = {
        f"{name} (gap {gaps[name]:.3f})": records[name].curves[label] for name in (best, worst)
    }
    partly = f" Of the {len(known)} models with this curve." if len(known) < len(gaps) else ""
    return [
        draw(
            lambda ax: plot_curves(curves, ax),
            alt=f"{task}: accuracy of {best} and {worst} against the magnitude of {label}",
            caption=f"Response to {label}.{partly}",
        ),
        draw(
            lambda ax: plot_density(curves, ax),
            alt=f"{task}: cumulative density of the response of {best} and {worst} to {label}",
            caption=f"Cumulative density of the response to {label}.",
        ),
    ]
