"""How figures of p-values are made and written."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from pgdl_measures.errors import PgdlError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

BINS = [i / 20 for i in range(21)]


def new_figure(rows: int, columns: int, size: tuple[float, float]) -> tuple[Figure, np.ndarray]:
    """A figure that no window shows, and its axes [rows, columns]."""
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise PgdlError(
            "plots need Matplotlib, which is not installed: pip install 'pgdl-measures[plots]'"
        ) from error
    figure = Figure(figsize=size, layout="constrained")
    return figure, figure.subplots(rows, columns, squeeze=False)


def save(figure: Figure, path: Path) -> None:
    """Writes a figure as SVG and as PNG."""
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path.with_suffix(".svg"))
    figure.savefig(path.with_suffix(".png"), dpi=120)


def histograms(
    ax: Axes, values: Mapping[str, Sequence[float] | np.ndarray], bins: Sequence[float] = BINS
) -> None:
    """Shares of p-values per bin, by name."""
    for name, p in values.items():
        weights = np.full(len(p), 1 / max(1, len(p)))
        ax.hist(p, bins=bins, weights=weights, histtype="step", label=name)
    ax.set(xlabel="p", ylabel="share of tests")
    ax.legend(fontsize=8)
