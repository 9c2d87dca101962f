"""Schiff et al. 2021, Figures 6 to 9: gap against each measure, coloured by augmentation."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from scoring.canvas import new_figure
from scoring.report.plots import bare
from starting_kit_adapter.studies.invariance.scores import MEASURES, MeasureScore, Scores
from starting_kit_adapter.terminal.figures import save

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_LEVELS = ("none", "partial", "full")


def save_figure(scores: Scores, stem: Path) -> None:
    """A panel per measure, with n, CMI and Pearson's R."""
    figure, axes = new_figure(1, len(scores.of), (10, 3.4))
    panels = axes[0]
    for ax, one in zip(panels, scores.of):
        _plot(scores, one, ax)
    for ax in panels[1:]:
        ax.sharey(panels[0])
        ax.tick_params(labelleft=False)
    panels[0].set_ylabel("generalization gap")
    panels[-1].legend(title="augmentation", frameon=False, fontsize=8, title_fontsize=8)
    figure.suptitle(scores.perturbation.replace("_", " "), fontsize=11)
    save(figure, stem)


def _plot(scores: Scores, one: MeasureScore, ax: Axes) -> None:
    levels = np.array(scores.levels)
    sign = 1 if one.measure == "gi" else -1  # plot accuracies, not their negation
    for number, level in enumerate(_LEVELS):
        of = levels == level
        ax.plot(
            sign * one.values[of],
            scores.gap[of],
            "os^"[number],
            color=f"C{number}",
            alpha=0.8,
            markersize=5,
            label=level,
        )
    cmi = "-" if one.cmi is None else f"{100 * one.cmi:.1f}"
    r = "-" if one.pearson is None else f"{sign * one.pearson:.2f}"
    ax.set_title(f"n = {len(levels)}, CMI {cmi}, R {r}", fontsize=9)
    ax.set_xlabel(MEASURES[one.measure], fontsize=9)
    ax.grid(alpha=0.4)
    bare(ax, "top", "right")
