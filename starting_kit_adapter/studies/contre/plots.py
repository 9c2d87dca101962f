"""The study's figures: bars for a grid of one column, a heat map for the others, and scatters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from scoring.canvas import new_figure
from scoring.report.plots import bare
from starting_kit_adapter.studies.contre.correlations import Correlations
from starting_kit_adapter.studies.contre.settings import ACCURACY, CONTRE
from starting_kit_adapter.terminal.figures import save

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MARKS = "os^DvP*X<>+x1_"  # colours repeat after ten: the marks after them have no area
_CORRELATION = "Spearman correlation with test accuracy"


def save_figure(correlations: Correlations, stem: Path) -> list[Path]:
    """Writes the figure of a grid as SVG and PNG."""
    grid = correlations.grid
    is_map = len(grid.columns) > 1
    width = 3.6 + 0.6 * len(grid.columns) if is_map else 5.5
    figure, axes = new_figure(1, 1, (width, 1.4 + 0.34 * len(grid.rows)))
    (plot_map if is_map else plot_bars)(correlations, axes[0, 0])
    return save(figure, stem)


def save_scatter(correlations: Correlations, column: str, stem: Path) -> list[Path]:
    """Test accuracy against the value of each row's setting, a dot per model (Figures 2 and 6)."""
    panels = [(row, correlations, row) for row in correlations.grid.rows]
    across = f"{column} on transformed training examples"
    return _save_dots(panels, column, across, stem, share_y=True)


def save_tasks(found: Mapping[str, Correlations], stem: Path) -> list[Path]:
    """Test accuracy against the accuracy on ContRE's examples, a plot for each task (Figure 5)."""
    panels = [(task, correlations, CONTRE) for task, correlations in found.items()]
    return _save_dots(panels, ACCURACY, "accuracy on ContRE's training examples", stem)


def _save_dots(
    panels: Sequence[tuple[str, Correlations, str]],
    column: str,
    across: str,
    stem: Path,
    *,
    share_y: bool = False,
) -> list[Path]:
    """A plot for each title, task and row of its grid; all with the same mark for one
    architecture."""
    named = (name for _, task, _ in panels for name in task.architectures or ("",))
    marks = {
        name: {"color": f"C{i % 10}", "marker": _MARKS[i % len(_MARKS)]}
        for i, name in enumerate(dict.fromkeys(named))
    }
    with_legend = 1.9 if any(marks) else 0.0
    figure, axes = new_figure(1, len(panels), (2.4 * len(panels) + with_legend, 2.9))
    for ax, (title, task, row) in zip(axes[0], panels):
        _dots(task, (row, column), marks, ax)
        value = task.spearman[row, column]
        told = "undefined" if value is None else f"{value:.3f}"
        ax.set_title(f"{title}\nSpearman {told}", fontsize=10)
    if share_y:
        for ax in axes[0, 1:]:
            ax.set_ylim(axes[0, 0].get_ylim())
            ax.set_yticklabels([])
    figure.supxlabel(across, fontsize=10)
    axes[0, 0].set_ylabel("test accuracy")
    shown = [ax.get_legend_handles_labels() for ax in axes[0]]
    legend = {name: mark for marks_of, names in shown for mark, name in zip(marks_of, names)}
    if legend:
        figure.legend(
            legend.values(), legend, loc="outside right center", fontsize=8, frameon=False
        )
    return save(figure, stem)


def _dots(
    correlations: Correlations,
    cell: tuple[str, str],
    marks: Mapping[str, Mapping[str, str]],
    ax: Axes,
) -> None:
    """A dot for each model, with the mark of its architecture."""
    across, up = correlations.performance[cell], correlations.test
    kinds = np.array(correlations.architectures or [""] * len(up))
    for kind in dict.fromkeys(kinds.tolist()):
        rows = kinds == kind
        ax.scatter(across[rows], up[rows], s=22, label=kind, **marks[kind])  # type: ignore[arg-type]
    ax.locator_params(axis="x", nbins=4)
    ax.tick_params(labelsize=8)


def plot_bars(correlations: Correlations, ax: Axes) -> None:
    """The correlation of each row, with ContRE's as a line to compare with (Figure 3)."""
    grid = correlations.grid
    found = [correlations.spearman[row, grid.columns[0]] or 0.0 for row in grid.rows]
    colours = ["C1" if row == CONTRE else "C0" for row in grid.rows]
    ax.barh(range(len(found)), found, color=colours, height=0.7)
    ax.axvline(found[grid.rows.index(CONTRE)], color="C1", linewidth=1, linestyle=":")
    ax.axvline(0, color="0.3", linewidth=0.8)
    ax.set_yticks(range(len(found)), grid.rows)
    ax.invert_yaxis()
    ax.set_xlim(min(-0.05, *found) - 0.02, 1)
    ax.set_xlabel(_CORRELATION)
    _title(correlations, ax)


def plot_map(correlations: Correlations, ax: Axes) -> None:
    """The correlation of each cell (Table 2, Figure 4)."""
    grid = correlations.grid
    missing, many = float("nan"), len(grid.columns) > 6
    values = [
        [_number(correlations.spearman.get((row, column)), missing) for column in grid.columns]
        for row in grid.rows
    ]
    image = ax.imshow(values, cmap="RdBu", vmin=-1, vmax=1, aspect="auto")
    for (row, column), found in correlations.spearman.items():
        if found is not None:
            at = grid.columns.index(column), grid.rows.index(row)
            ink = "white" if abs(found) > 0.6 else "black"
            size = 6 if many else 9
            ax.text(*at, f"{found:.2f}", ha="center", va="center", color=ink, fontsize=size)
    ax.set_xticks(range(len(grid.columns)), grid.columns, rotation=90 if many else 0)
    ax.set_yticks(range(len(grid.rows)), grid.rows)
    bar = ax.figure.colorbar(image, ax=ax, fraction=0.05)
    bar.ax.tick_params(labelsize=8)
    bar.set_label("Spearman correlation", fontsize=8)
    bar.outline.set_visible(False)  # type: ignore[operator]
    bare(ax, "left", "bottom", "top", "right")
    _title(correlations, ax)


def _title(correlations: Correlations, ax: Axes) -> None:
    ax.set_title(f"{correlations.grid.title}, {correlations.models} models", fontsize=10)


def _number(value: float | None, otherwise: float) -> float:
    return otherwise if value is None else value
