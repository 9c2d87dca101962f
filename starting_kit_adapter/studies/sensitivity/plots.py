"""Schiff et al. 2021, Figures 3 to 5: time and CMI against the number of batches."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from scoring.canvas import new_figure
from scoring.report.plots import bare
from starting_kit_adapter.terminal.figures import save

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from starting_kit_adapter.studies.sensitivity.findings import Sensitivity


def save_figure(found: Sequence[Sensitivity], stem: Path) -> None:
    """Time on the left, CMI on the right, bars of one standard deviation over runs."""
    figure, axes = new_figure(1, 2, (9, 3.2))
    times, scores = axes[0]
    for number, one in enumerate(found):
        style: dict[str, Any] = {
            "fmt": f"{'os^D'[number % 4]}-",
            "color": f"C{number}",
            "label": one.measure,
        }
        style.update(markersize=4, capsize=3, linewidth=1.4)
        x = [p.batches for p in one.points]
        seconds, bars = _columns(one, "seconds"), _columns(one, "seconds_deviation")
        times.errorbar(x, seconds, bars, **style)
        cmi, bars = _columns(one, "cmi"), _columns(one, "cmi_deviation")
        scores.errorbar(x, 100 * cmi, 100 * bars, **style)
        if one.recommended is not None:
            scores.axvline(one.recommended, color=f"C{number}", linestyle=":", linewidth=1)
    _finish(times, "seconds per model")
    _finish(scores, "CMI \N{MULTIPLICATION SIGN} 100")
    if any(one.recommended is not None for one in found):
        scores.set_title("dotted: recommended", fontsize=9)
    times.set_title(f"{found[0].models} models, {found[0].runs} runs", fontsize=9)
    times.legend(frameon=False, fontsize=8)
    save(figure, stem)


def _columns(one: Sensitivity, what: str) -> np.ndarray:
    """One number of each point; NaN, which is not drawn, for None."""
    return np.array([getattr(point, what) for point in one.points], float)


def _finish(ax: Axes, label: str) -> None:
    ax.set_xlabel("number of batches")
    ax.set_ylabel(label)
    ax.set_ylim(bottom=0)
    ax.grid(alpha=0.4)
    bare(ax, "top", "right")
