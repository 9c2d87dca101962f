"""The study's figures: bars for a grid of one column, a heat map for the others, and scatters."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from scoring.canvas import new_figure
from starting_kit_adapter.studies.contre.correlations import Correlations
from starting_kit_adapter.studies.contre.settings import CONTRE
from starting_kit_adapter.terminal.figures import save

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def save_figure(correlations: Correlations, stem: Path) -> list[Path]:
    """Writes the figure of a grid as SVG and PNG."""
    grid = correlations.grid
    is_map = len(grid.columns) > 1
    width = 3.6 + 0.6 * len(grid.columns) if is_map else 5.5
    figure, axes = new_figure(1, 1, (width, 1.4 + 0.34 * len(grid.rows)))
    (plot_map if is_map else plot_bars)(correlations, axes[0, 0])
    return save(figure, stem)


def save_scatter(correlations: Correlations, column: str, stem: Path) -> list[Path]:
    """Test accuracy against the value of each row's setting, a dot per model (Figures 2, 5, 6)."""
    rows = correlations.grid.rows
    figure, axes = new_figure(1, len(rows), (2.9 * len(rows), 3.1))
    for ax, row in zip(axes[0], rows):
        value = correlations.spearman[row, column]
        ax.scatter(correlations.performance[row, column], correlations.test, s=12)
        ax.set_title(f"{row}\nr = {'-' if value is None else f'{value:.3f}'}", fontsize=10)
        ax.set_xlabel(f"{column}, contrastive examples", fontsize=9)
    axes[0, 0].set_ylabel("test accuracy")
    return save(figure, stem)


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
    missing = float("nan")
    values = [
        [_number(correlations.spearman.get((row, column)), missing) for column in grid.columns]
        for row in grid.rows
    ]
    image = ax.imshow(values, cmap="RdBu", vmin=-1, vmax=1, aspect="auto")
    for (row, column), found in correlations.spearman.items():
        if found is not None:
            at = grid.columns.index(column), grid.rows.index(row)
            ink = "white" if abs(found) > 0.6 else "black"
            ax.text(*at, f"{found:.2f}", ha="center", va="center", color=ink, fontsize=7)
    turned = 90 if len(grid.columns) > 6 else 0
    ax.set_xticks(range(len(grid.columns)), grid.columns, rotation=turned)
    ax.set_yticks(range(len(grid.rows)), grid.rows)
    bar = ax.figure.colorbar(image, ax=ax, fraction=0.05)
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
