"""The figures of the study, each as SVG and PNG."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from scoring.canvas import new_figure
from scoring.report.plots import name_room
from scoring.report.robust_figures import (
    STATISTICS,
    plot_environments_left,
    plot_filtering,
    plot_oracles,
)
from scoring.report.robust_plots import plot_sign_errors, plot_triangle, plot_weaker
from scoring.robust.evaluation import Evaluation
from scoring.robust.families import hparam_families
from scoring.robust.oracle_rows import oracle_rows
from scoring.robust.oracles import FAMILIES
from starting_kit_adapter.terminal.figures import save

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def draw_all(found: Evaluation, folder: Path) -> None:
    """Draws every figure for which there are environments."""
    runs = found.runs
    rows = 1 + len(list(hparam_families(found.unfiltered)))
    width = max(5.0, 1.8 + 0.42 * len(found.measures))
    below = 2.2 + name_room(found.measures)
    tall = (width, below + 0.7 * rows)
    if found.strongest.kept.any():
        title = "sign-error, 0 to 1 in each frame, by what changes"
        _draw(partial(plot_sign_errors, found), tall, folder / "figure1", title)
        best = found.measures[found.order[0]]
        for name, values in zip(runs.hparams, runs.values):
            if len(values) > 2:
                stem = folder / f"figure2_{name}"
                _draw(partial(_triangle, found, best, name), (5.0, 4.0), stem)
    _draw(partial(plot_environments_left, found), (5.0, 3.0), folder / "figure3")
    if found.filtered.kept.any():
        figure, axes = new_figure(len(STATISTICS), 1, (width, 1.5 + 1.5 * len(STATISTICS)))
        for ax, statistic in zip(axes[:, 0], STATISTICS):
            plot_filtering(found, statistic, ax)
        for ax in axes[:-1, 0]:
            ax.set_xticklabels([])
        figure.suptitle("sign-error with noise filtering less that without")
        save(figure, folder / "figure4")
    for number, family in enumerate(FAMILIES, 5):
        of_family = oracle_rows(runs, family)
        size = (width, below + 0.7 * len(of_family))
        stem = folder / f"figure{number}"
        title = f"RMSE of oracles over environments: {family}"
        _draw(partial(plot_oracles, found.measures, of_family), size, stem, title)
    if found.filtered.weaker.kept.any():
        title = "sign-error, 0 to 1 in each frame, weaker environments"
        _draw(partial(plot_weaker, found), tall, folder / "figure11", title)


def _triangle(found: Evaluation, measure: str, hparam: str, ax: Axes) -> None:
    plot_triangle(found, measure, hparam, ax).set_title(f"sign-error of {measure}", loc="left")


def _draw(
    plot: Callable[[Axes], object], size: tuple[float, float], stem: Path, title: str = ""
) -> None:
    figure, axes = new_figure(1, 1, size)
    plot(axes[0, 0])
    if title:
        figure.suptitle(title)
    save(figure, stem)
