"""Plots of perturbation response curves, as Figure 1 of Schiff et al. 2021. No TensorFlow.

`plot_curves` is its left side: accuracy against the magnitude of the perturbation. `plot_density`
is its right side: the cumulative density (PCD) of a network beside that of the ideal one, whose
accuracy stays 1, with the area between them shaded; Gi is that area over the one below the ideal
network's. Both draw on the Matplotlib axes that they are given, in the colours of its settings.

    plot_curves({"wide": curve_of_wide, "narrow": curve_of_narrow}, pyplot.subplots()[1])
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Protocol, Union

import numpy as np

from pgdl_measures.response_curves import statistics

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D

Numbers = Union[np.ndarray, Sequence[float]]


class ResponseCurve(Protocol):
    """What is drawn: a `response_curves.curves.Curve`, or anything with its two vectors."""

    @property
    def magnitudes(self) -> Numbers: ...
    @property
    def accuracy(self) -> Numbers: ...


def plot_curves(curves: Mapping[str, ResponseCurve], ax: Axes) -> Axes:
    """Response curves by the names in the legend, with the ideal network's at 1."""
    for number, (name, curve) in enumerate(curves.items()):
        (line,) = ax.plot(curve.magnitudes, curve.accuracy, color=f"C{number}", label=_plain(name))
        line.set(marker="os^D"[number % 4], markersize=3.5, linewidth=1.6)
    _ideal(ax.axhline(1.0))
    ax.set_ylabel("accuracy")
    _finish(ax)
    return ax


def plot_density(curves: Mapping[str, ResponseCurve], ax: Axes) -> Axes:
    """Cumulative densities with the area of Gi shaded, and Gi in the legend.

    Magnitudes are mapped to [0, 1] as in the figure; Gi does not change by that.
    """
    for number, (name, curve) in enumerate(curves.items()):
        magnitudes = np.asarray(curve.magnitudes, float)
        accuracy = np.asarray(curve.accuracy, float)
        share = (magnitudes - magnitudes[0]) / (magnitudes[-1] - magnitudes[0])
        density = statistics.cumulative_density(share, accuracy)
        label = f"{_plain(name)}: Gi {float(statistics.gi(share, accuracy)):.3f}"
        ax.plot(share, density, color=f"C{number}", linewidth=1.6, label=label)
        ax.fill_between(share, density, share, color=f"C{number}", alpha=0.2, linewidth=0)
    _ideal(ax.plot([0, 1], [0, 1])[0])
    ax.set_ylabel("cumulative density")
    _finish(ax)
    ax.set_xlabel("magnitude, as a share of its range")
    return ax


def _ideal(line: Line2D) -> None:
    import matplotlib

    line.set(color=matplotlib.rcParams["text.color"], linewidth=1, linestyle=":", label="ideal")


def _finish(ax: Axes) -> None:
    ax.set_xlabel("magnitude")
    ax.grid()
    ax.legend()
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)


def _plain(text: str) -> str:
    """Text with no mathematics in it, whatever dollars a name has."""
    return text.replace("$", r"\$")
