"""Sign-errors over environments: the bars of Figure 1 of Dziugaite et al. 2020, and Figure 2.

A bar stands for the distribution of a measure's sign-errors over a family of environments. Its
height is the range from 0 to 1; at each height the shade is the share of environments with a
larger sign-error, from half of them (full) to none (blank), as in the paper. Lines mark the
maximum, which is the robust sign-error, the 90th percentile and the mean; a cross says that no
environment counts. A measure without fault has no shade at all.

    found = evaluate(read_csv("runs.csv"))
    plot_sign_errors(found, ax)
    plot_triangle(found, "path_norm", "depth", ax)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from scoring.errors import ScoringError
from scoring.report.plots import bare, plain
from scoring.robust.environments import Floats
from scoring.robust.evaluation import Evaluation
from scoring.robust.families import ALL, hparam_families, pair_families, summarize
from scoring.robust.sign_errors import SignErrors

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_LEVELS = np.linspace(0.5, 1.0, 11)  # shares of environments at which the shade changes
_LINES = {  # the paper's green, magenta and orange, as the colour cycle of a page has them
    "max": ("C2", "solid"),
    "90th percentile": ("C5", (0, (3, 1.5))),
    "mean": ("C1", (0, (1, 1))),
}


@dataclass(frozen=True, eq=False)
class Bar:
    """Errors [environments] in [0, 1] to draw between (x, y) and (x + width, y + 1)."""

    x: float
    y: float
    width: float
    errors: Floats


def plot_sign_errors(found: Evaluation, ax: Axes) -> Axes:
    """A bar for each measure and each hyperparameter that varies, as in Figure 1.

    Measures are in the order of their mean over all environments.
    """
    return _plot_table(found, found.strongest, found.order, ax)


def plot_weaker(found: Evaluation, ax: Axes) -> Axes:
    """The same for the weaker family of App. D.3, in the order of the maxima, as in Figure 11."""
    table = found.filtered.weaker
    maxima = [summarize(errors).maximum or 0.0 for errors in table.errors]
    return _plot_table(found, table, tuple(np.argsort(maxima, kind="stable").tolist()), ax)


def _plot_table(found: Evaluation, table: SignErrors, order: Sequence[int], ax: Axes) -> Axes:
    families = [ALL, *hparam_families(table)]
    bars, centres, names = [], [], []
    for row, family in enumerate(families):
        bottom = 1.25 * (len(families) - 1 - row)
        chosen = family.of(table)
        for x, k in enumerate(order):
            bars.append(Bar(x + 0.06, bottom, 0.88, table.errors[k][chosen]))
        centres.append(bottom + 0.5)
        name = "all" if family.hparam is None else found.runs.hparams[family.hparam]
        names.append(f"{plain(name)}\n({int(table.kept[chosen].sum()):,})")
    draw_bars(ax, bars)
    ax.set_yticks(centres, names)
    name_measures(ax, [plain(found.measures[k]) for k in order])
    ax.set_xlim(0, len(order))
    ax.set_ylim(-0.08, centres[0] + 0.58)
    ax.legend(loc="lower left", bbox_to_anchor=(0.0, 1.0), ncol=3, borderaxespad=0.2)
    return ax


def name_measures(ax: Axes, names: Sequence[str]) -> None:
    """Below the bars; the more there are, the steeper and smaller."""
    angle = 0 if len(names) <= 4 else 45 if len(names) <= 24 else 90
    ax.set_xticks(
        np.arange(len(names)) + 0.5,
        names,
        rotation=angle,
        ha="right" if angle else "center",
        va="center" if angle == 90 else "top",
        rotation_mode="anchor",
        fontsize=6 if angle == 90 else None,
    )


def plot_triangle(found: Evaluation, measure: str, hparam: str, ax: Axes) -> Axes:
    """A bar for each pair of values of one hyperparameter, as in Figure 2."""
    for name, known in ((measure, found.measures), (hparam, found.runs.hparams)):
        if name not in known:
            raise ScoringError(f"no {name!r} here; there are {', '.join(known)}")
    table, column = found.strongest, found.runs.hparams.index(hparam)
    errors = table.errors[found.measures.index(measure)]
    values = found.runs.values[column]
    bars = []
    for family in pair_families(table, column):
        low, high = family.values or (0, 0)
        bottom = 1.15 * (len(values) - 1 - high)
        bars.append(Bar(low + 0.1, bottom, 0.8, errors[family.of(table)]))
    draw_bars(ax, bars)
    across = np.arange(len(values) - 1)
    ax.set_xticks(across + 0.5, [plain(str(value)) for value in values[:-1]])
    ax.set_yticks(1.15 * across[::-1] + 0.5, [plain(str(value)) for value in values[1:]])
    ax.set_xlabel(f"{plain(hparam)}, from")
    ax.set_ylabel("to")
    ax.set_xlim(0, len(across))
    ax.set_ylim(-0.08, 1.15 * len(across))
    ax.legend(loc="upper right", borderaxespad=0.0)
    return ax


def draw_bars(ax: Axes, bars: Sequence[Bar], *, orders: int = 2) -> None:
    """Frames and shades, the lines over them, and crosses where there is nothing to show."""
    import matplotlib
    from matplotlib.collections import LineCollection, PolyCollection

    filled = [bar for bar in bars if not np.isnan(bar.errors).all()]
    for share, below, above in _shades(filled):
        boxes = [_box(bar, low, high) for bar, low, high in zip(filled, below, above) if high > low]
        ax.add_collection(PolyCollection(boxes, facecolors="C0", alpha=0.85 * share, linewidths=0))
    frames = [_box(bar, 0.0, 1.0) for bar in bars]
    line = matplotlib.rcParams["grid.color"]
    ax.add_collection(
        PolyCollection(frames, facecolors="none", edgecolors=line, linewidths=0.7, zorder=2)
    )
    summaries = [summarize(bar.errors, orders=orders) for bar in filled]
    heights = {
        "max": [summary.maximum for summary in summaries],
        "90th percentile": [summary.percentile_90 for summary in summaries],
        "mean": [summary.mean for summary in summaries],
    }
    for name, (colour, style) in _LINES.items():
        ends = [
            [(bar.x, bar.y + height), (bar.x + bar.width, bar.y + height)]
            for bar, height in zip(filled, heights[name])
            if height is not None
        ]
        lines = LineCollection(
            ends, colors=colour, linestyles=[style], linewidths=1.6, label=name, zorder=3
        )
        lines.set_clip_on(False)
        ax.add_collection(lines)
    empty = [bar for bar in bars if np.isnan(bar.errors).all()]
    ax.plot(
        [bar.x + bar.width / 2 for bar in empty],
        [bar.y + 0.5 for bar in empty],
        "x",
        color="C5",
        markersize=5,
    )
    ax.tick_params(length=0)
    bare(ax, "left", "bottom", "top", "right")


def _shades(bars: Sequence[Bar]) -> list[tuple[float, Floats, Floats]]:
    """Depth of shade, and for each bar from where to where it has it; the deepest first."""
    if not bars:
        return []
    defined = [bar.errors[~np.isnan(bar.errors)] for bar in bars]
    ends = np.array([np.quantile(errors, _LEVELS, method="inverted_cdf") for errors in defined]).T
    starts = np.vstack([np.zeros(len(bars)), ends[:-1]])
    depths = np.linspace(1.0, 0.1, len(_LEVELS))
    return list(zip(depths.tolist(), starts, ends))


def _box(bar: Bar, low: float, high: float) -> list[tuple[float, float]]:
    left, right = bar.x, bar.x + bar.width
    return [(left, bar.y + low), (right, bar.y + low), (right, bar.y + high), (left, bar.y + high)]
