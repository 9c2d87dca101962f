"""Plots of scores: leaderboard with intervals, measure against gap, CMI by hyperparameters.

Each function draws on the Matplotlib axes that it is given and returns them. Colours are those of
Matplotlib's settings (the colour cycle, `text.color`, `grid.color`), so that a notebook or a page
can give its own.

    board = leaderboard(reference, out)
    plot_leaderboard(board, "task1_v4", ax)
    entry = board.rows[0].entries["task1_v4"]
    plot_scatter(entry.result.reference, entry.values, ax)
    plot_pairs(entry.result.cmi, ax)
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from scoring.cmi import Cmi
from scoring.kit.reference import Reference
from scoring.report.explain import most_explaining
from scoring.report.leaderboard import Leaderboard

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MARKERS = "os^Dvp"  # a second sign beside the colour


def plot_leaderboard(
    board: Leaderboard,
    task: str,
    ax: Axes,
    *,
    published: Mapping[str, float] | None = None,
) -> Axes:
    """The score of each measure on a task with its interval, best at the top, times 100.

    `published` are scores from elsewhere, by measure and times 100: hollow diamonds.
    """
    ranked = board.ranked(task)
    for y, (measure, entry) in enumerate(ranked):
        if entry.interval is not None:
            ends = 100 * entry.interval.low, 100 * entry.interval.high
            ax.plot(ends, (y, y), color="C0", linewidth=2, alpha=0.45, solid_capstyle="round")
        ax.plot(100 * (entry.score or 0.0), y, "o", color="C0", markersize=5.5, clip_on=False)
        if published and measure in published:
            there = published[measure]
            ax.plot(there, y, "D", color="C1", markerfacecolor="none", markersize=6, clip_on=False)
    ax.set_yticks(range(len(ranked)), [plain(measure) for measure, _ in ranked])
    ax.set_ylim(len(ranked) - 0.4, -0.6)
    ax.set_xlim(left=0)
    ax.set_xlabel("CMI \N{MULTIPLICATION SIGN} 100")
    ax.grid(axis="x")
    ax.tick_params(axis="y", length=0)
    bare(ax, "left", "top", "right")
    return ax


def plot_scatter(
    reference: Reference,
    values: npt.ArrayLike,
    ax: Axes,
    *,
    colour_by: str | None = None,
    measure: str = "measure",
) -> Axes:
    """A measure [models] against the gap, a point per model.

    Colours and signs are the values of a hyperparameter: `colour_by`, or the one that explains
    most of the gap.
    """
    name = colour_by if colour_by is not None else most_explaining(reference)
    values = np.asarray(values)
    if name is None:
        ax.plot(values, reference.gap, "o", color="C0", markersize=5, alpha=0.8)
    else:
        column = reference.hparams.index(name)
        for code, value in enumerate(reference.values[column]):
            chosen = reference.codes[:, column] == code
            ax.plot(
                values[chosen],
                reference.gap[chosen],
                _MARKERS[code % len(_MARKERS)],
                color=f"C{code}",
                markersize=5,
                alpha=0.8,
                label=plain(str(value)),
            )
        ax.legend(title=plain(name), loc="center left", bbox_to_anchor=(1.0, 0.5))
    ax.set_xlabel(plain(measure))
    ax.set_ylabel("generalization gap")
    ax.grid()
    bare(ax, "top", "right")
    return ax


def plot_pairs(cmi: Cmi, ax: Axes) -> Axes:
    """The score, times 100, under each pair of hyperparameters; the smallest, which counts, framed.

    With one hyperparameter, or none, there is a single cell.
    """
    import matplotlib
    from matplotlib.patches import Rectangle

    names = list(dict.fromkeys(name for pair in cmi.pairs for name in pair.hparams))
    highest = max((pair.score for pair in cmi.pairs if pair.score > 0), default=1.0)
    for pair in cmi.pairs:
        x, y = names.index(pair.hparams[0]) if names else 0, 0
        if len(pair.hparams) == 2:
            y = names.index(pair.hparams[1]) - 1
        known = not math.isnan(pair.score)
        shade = 0.05 + 0.45 * pair.score / highest if known else 0.0
        smallest = pair is cmi.minimum
        ax.add_patch(Rectangle((x + 0.03, y + 0.03), 0.94, 0.94, color="C0", alpha=shade, lw=0))
        if smallest:
            frame = Rectangle((x + 0.03, y + 0.03), 0.94, 0.94, fill=False, lw=2)
            frame.set_edgecolor(matplotlib.rcParams["text.color"])
            ax.add_patch(frame)
        text = f"{100 * pair.score:.1f}" if known else "none"
        weight = "bold" if smallest else "normal"
        ax.text(x + 0.5, y + 0.5, text, ha="center", va="center", weight=weight)
    across = names[: max(1, len(names) - 1)]
    down = names[1:] if len(names) > 1 else [""]
    middle = np.arange(len(names) + 1) + 0.5
    ax.set_xticks(middle[: len(across)], list(map(plain, across)), rotation=30, ha="right")
    ax.set_yticks(middle[: len(down)], list(map(plain, down)))
    ax.set_xlim(0, max(1, len(across)))
    ax.set_ylim(len(down), 0)
    ax.tick_params(length=0)
    bare(ax, "left", "bottom", "top", "right")
    return ax


def name_room(names: Iterable[str]) -> float:
    """Inches that names longer than usual need beside or below a plot."""
    return 0.065 * max(0, max(map(len, names), default=0) - 18)


def bare(ax: Axes, *sides: str) -> None:
    """Takes the frame away on some sides."""
    for side in sides:
        ax.spines[side].set_visible(False)


def plain(text: str) -> str:
    """Text with no mathematics in it, whatever dollars a name has."""
    return text.replace("$", r"\$")
