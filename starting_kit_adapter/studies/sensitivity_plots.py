"""Figures 3 to 5 of paper 000: time and CMI against the number of batches."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from starting_kit_adapter.studies.sensitivity import Sensitivity


def save_figure(found: Sequence[Sensitivity], stem: Path) -> None:
    """Time on the left, CMI on the right, bars of one standard deviation over runs."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 3.2), layout="constrained")
    times, scores = figure.subplots(1, 2)
    for number, one in enumerate(found):
        style: dict[str, Any] = {
            "fmt": f"{'os^D'[number % 4]}-",
            "color": f"C{number}",
            "label": one.measure,
        }
        style.update(markersize=4, capsize=3, linewidth=1.4)
        x = [p.batches for p in one.points]
        times.errorbar(
            x, [p.seconds for p in one.points], [p.seconds_deviation for p in one.points], **style
        )
        scores.errorbar(
            x,
            [100 * p.cmi for p in one.points],
            [100 * p.cmi_deviation for p in one.points],
            **style,
        )
        scores.axvline(one.recommended, color=f"C{number}", linestyle=":", linewidth=1)
    _finish(times, "seconds per model")
    _finish(scores, "CMI \N{MULTIPLICATION SIGN} 100")
    scores.set_title("dotted: recommended", fontsize=9)
    times.set_title(f"{found[0].models} models, {found[0].runs} runs", fontsize=9)
    times.legend(frameon=False, fontsize=8)
    for suffix in (".svg", ".png"):
        figure.savefig(stem.with_suffix(suffix), dpi=150)


def _finish(ax: Axes, label: str) -> None:
    ax.set_xlabel("number of batches")
    ax.set_ylabel(label)
    ax.set_ylim(bottom=0)
    ax.grid(alpha=0.4)
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)
