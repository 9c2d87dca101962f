"""The study's figures: bars for a grid of one column, a heat map for the others, and scatters."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from scoring.canvas import new_figure
from starting_kit_adapter.studies.contre.correlations import Correlations
from starting_kit_adapter.studies.contre.settings import ACCURACY, CONTRE
from starting_kit_adapter.terminal.figures import save

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MARKS = "os^DvP*X<>hdp"


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
    rows = correlations.grid.rows
    with_legend = 1.9 if correlations.architectures else 0.0
    figure, axes = new_figure(1, len(rows), (2.3 * len(rows) + with_legend, 2.9))
    for ax, row in zip(axes[0], rows):
        _dots(correlations, row, column, ax, row)
        ax.set_ylim(axes[0, 0].get_ylim())
    for ax in axes[0, 1:]:
        ax.set_yticklabels([])
    figure.supxlabel(f"{column} on transformed training examples", fontsize=10)
    axes[0, 0].set_ylabel("test accuracy")
    if correlations.architectures:
        figure.legend(
            *axes[0, 0].get_legend_handles_labels(),
            loc="outside right center",
            fontsize=8,
            frameon=False,
        )
    return save(figure, stem)


def save_tasks(found: Mapping[str, Correlations], stem: Path) -> list[Path]:
    """Test accuracy against the accuracy on ContRE's examples, a plot for each task (Figure 5)."""
    figure, axes = new_figure(1, len(found), (2.6 * len(found), 2.9))
    for ax, (task, correlations) in zip(axes[0], found.items()):
        _dots(correlations, CONTRE, ACCURACY, ax, task)
    figure.supxlabel("accuracy on ContRE's training examples", fontsize=10)
    axes[0, 0].set_ylabel("test accuracy")
    return save(figure, stem)


def _dots(correlations: Correlations, row: str, column: str, ax: Axes, title: str) -> None:
    """A dot for each model, and a mark of its own for each architecture."""
    across, up = correlations.performance[row, column], correlations.test
    kinds = np.array(correlations.architectures or [""] * len(up))
    for i, kind in enumerate(dict.fromkeys(kinds)):
        rows = kinds == kind
        ax.scatter(
            across[rows],
            up[rows],
            s=22,
            color=f"C{i % 10}",
            marker=_MARKS[i % len(_MARKS)],
            label=kind,
        )
    value = correlations.spearman[row, column]
    ax.set_title(f"{title}\nSpearman {'-' if value is None else f'{value:.3f}'}", fontsize=10)
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
    _label(correlations, ax)


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
    bar.outline.set_visible(False)  # type: ignore[operator]
    for side in ax.spines.values():
        side.set_visible(False)
    _label(correlations, ax)
    ax.set_xlabel("")


def _label(correlations: Correlations, ax: Axes) -> None:
    ax.set_xlabel("Spearman correlation with test accuracy")
    ax.set_title(f"{correlations.grid.title}, {correlations.models} models", fontsize=10)


def _number(value: float | None, otherwise: float) -> float:
    return otherwise if value is None else value
