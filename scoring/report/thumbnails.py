"""Small scatter plots of a measure against the gap, one per measure, written as SVG directly.

A leaderboard of 79 measures on 8 tasks has 632 of them: Matplotlib would take a minute and write
30 MB, most of it ticks. The colours are those of the large scatter plot.
"""

from __future__ import annotations

from html import escape

import numpy as np

from scoring.kit.reference import Reference
from scoring.report.entries import Entry
from scoring.report.explain import most_explaining
from scoring.report.figures import Figure

_WIDTH, _HEIGHT, _MARGIN = 180, 110, 6
_SERIES = 6  # colours that the page has


def scatter_thumbnail(measure: str, entry: Entry, reference: Reference) -> Figure:
    """A point per model: the measure's value across, the gap upwards."""
    tau = "undefined" if entry.kendall is None else f"{entry.kendall:.2f}"
    alt = f"{reference.task}: {measure} against the gap, Kendall's tau {tau}"
    values = np.zeros_like(reference.gap) if entry.values is None else entry.values
    x = _scaled(values, _MARGIN, _WIDTH - _MARGIN)
    y = _scaled(reference.gap, _HEIGHT - _MARGIN, _MARGIN)
    series = _series(reference)
    layers = []
    for number in np.unique(series):
        # A path of zero-length strokes with round caps: one element per colour, not per model.
        points = "".join(
            f"M{a:g} {b:g}h0" for a, b in zip(x[series == number], y[series == number])
        )
        layers.append(f'<path d="{points}" style="stroke: var(--series-{number + 1})"/>')
    svg = (
        f'<svg viewBox="0 0 {_WIDTH} {_HEIGHT}" width="{_WIDTH}" role="img" '
        f'aria-label="{escape(alt)}"><title>{escape(alt)}</title>'
        f'<rect width="{_WIDTH}" height="{_HEIGHT}"/>{"".join(layers)}</svg>'
    )
    return Figure(svg, f"{measure}; Kendall's tau {tau}")


def _series(reference: Reference) -> np.ndarray:
    """The number of each model's colour [models]: the hyperparameter that explains most."""
    name = most_explaining(reference)
    if name is None:
        return np.zeros(len(reference.ids), np.intp)
    return reference.codes[:, reference.hparams.index(name)] % _SERIES


def _scaled(values: np.ndarray, start: float, end: float) -> np.ndarray:
    """Values from the smallest at `start` to the largest at `end`, to a tenth of a pixel."""
    low, high = values.min(), values.max()
    share = (values - low) / (high - low) if high > low else np.full(len(values), 0.5)
    return np.round(start + share * (end - start), 1)
