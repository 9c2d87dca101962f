"""Figures of the appendices of Dziugaite et al. 2020: noise filtering (3, 4), oracles (5 to 7)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from scoring.report.plots import bare, plain
from scoring.report.robust_plots import Bar, draw_bars, name_measures
from scoring.robust.environments import Floats
from scoring.robust.evaluation import Evaluation
from scoring.robust.families import hparam_families
from scoring.robust.oracle_rows import OracleRow
from scoring.robust.sign_errors import has_effective

if TYPE_CHECKING:
    from matplotlib.axes import Axes

STATISTICS: dict[str, Callable[[Floats], float]] = {  # the panels of Figure 4
    "mean": lambda errors: float(np.mean(errors)),
    "median": lambda errors: float(np.median(errors)),
    "90th percentile": lambda errors: float(np.quantile(np.repeat(errors, 2), 0.9)),
    "max": lambda errors: float(np.max(errors)),
}


def environments_left(found: Evaluation, thresholds: Sequence[float]) -> dict[str, list[int]]:
    """How many environments have an n_eff of each threshold or more, by hyperparameter (Figure 3).

    Each is counted in both orders, as in the paper.
    """
    table = found.filtered
    left = {}
    for family in hparam_families(table):
        n_eff = table.n_eff[family.of(table)]
        counts = [2 * int(has_effective(n_eff, least).sum()) for least in thresholds]
        left[found.runs.hparams[family.hparam or 0]] = counts
    return left


def plot_environments_left(found: Evaluation, ax: Axes) -> Axes:
    """Figure 3: environments that remain at each smallest effective sample size."""
    largest = max(found.filtered.min_effective, float(found.filtered.n_eff.max()))
    thresholds = range(1, int(largest) + 2)
    for name, counts in environments_left(found, thresholds).items():
        ax.plot(thresholds, counts, label=plain(name))
    ax.axvline(found.filtered.min_effective, color="C5", linestyle="--", linewidth=1)
    ax.set_xlabel("smallest effective sample size")
    ax.set_ylabel("environments")
    ax.set_ylim(bottom=0)
    ax.grid()
    ax.legend()
    bare(ax, "top", "right")
    return ax


def filtering_effect(found: Evaluation, statistic: str) -> dict[str, float]:
    """The statistic of the sign-errors with noise filtering less that without (Figure 4)."""
    effect = {}
    for k in sorted(range(len(found.measures)), key=lambda k: found.measures[k]):
        kept, every = (
            table.errors[k][~np.isnan(table.errors[k])]
            for table in (found.filtered, found.unfiltered)
        )
        if kept.size and every.size:
            summary = STATISTICS[statistic]
            effect[found.measures[k]] = summary(kept) - summary(every)
    return effect


def plot_filtering(found: Evaluation, statistic: str, ax: Axes) -> Axes:
    """A panel of Figure 4: a bar per measure, in the order of names; below 0 filtering helps."""
    effect = filtering_effect(found, statistic)
    ax.bar(np.arange(len(effect)) + 0.5, list(effect.values()), width=0.8, color="C0")
    ax.axhline(0, linewidth=0.7, color="C1")
    ax.set_ylabel(statistic)
    name_measures(ax, list(map(plain, effect)))
    bare(ax, "top", "right")
    return ax


def plot_oracles(measures: Sequence[str], rows: Sequence[OracleRow], ax: Axes) -> Axes:
    """Figures 5, 6 and 7: the RMSE of each measure's oracle over the environments of each row.

    Measures are in the order of their robust RMSE in the first row. The red line is of the best
    constant, without any measure.
    """
    order = np.argsort([fit.robust for fit in rows[0].fits], kind="stable")
    bars, centres, names = [], [], []
    for number, row in enumerate(rows):
        bottom = 1.25 * (len(rows) - 1 - number)
        top = max(row.baseline.robust, *(fit.robust for fit in row.fits))
        for x, k in enumerate(order):
            bars.append(Bar(x + 0.06, bottom, 0.88, row.fits[k].rmse / top))
        height = bottom + row.baseline.robust / top
        label = "no measure" if number == 0 else None
        ax.plot((0, len(order)), (height, height), color="red", linewidth=1, zorder=4, label=label)
        centres.append(bottom + 0.5)
        environments = len(row.baseline.rmse)
        names.append(f"{plain(row.name)} ({environments:,})\n0 to {100 * top:.1f} %")
    draw_bars(ax, bars, orders=1)
    ax.set_yticks(centres, names)
    name_measures(ax, [plain(measures[k]) for k in order])
    ax.set_xlim(0, len(order))
    ax.set_ylim(-0.08, centres[0] + 0.58)
    columns = 4 if len(order) > 12 else 2  # four are wider than few bars
    ax.legend(loc="lower left", bbox_to_anchor=(0.0, 1.0), ncol=columns, borderaxespad=0.2)
    return ax
