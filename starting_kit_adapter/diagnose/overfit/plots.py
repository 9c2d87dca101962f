"""Figures 8 to 11 of Werpachowski et al. 2019, of one's own models and images."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import cycle
from typing import TYPE_CHECKING

import numpy as np

from pgdl_measures.adversarial.examination import Examination
from pgdl_measures.adversarial.generators import GENERATORS
from pgdl_measures.adversarial.independence import estimate, n_model_test, pairwise_test
from scoring.canvas import new_figure
from starting_kit_adapter.diagnose.overfit.report import Report
from starting_kit_adapter.diagnose.overfit.words import p_by_error
from starting_kit_adapter.terminal.histograms import histograms

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_SUBSETS = 20  # of each sample size in Figure 8
_SUBSETS_11 = 200  # the same in Figure 11
_STYLES = ("-", "--", "-.", ":")  # lines that coincide, as where p is 1, can all be seen


def figure8(report: Report) -> Figure:
    """Of the first model: p and the risk estimates against the number of images."""
    found = next(iter(report.examinations.values()))
    figure, axes = new_figure(1, 2, (11, 4))
    sizes, subsets = _sample_sizes(report.examples, _SUBSETS)
    left, right = axes[0]
    for name, style in zip(GENERATORS, _STYLES):
        p = _mean_p(found, name, subsets)
        left.plot(sizes, p, style, marker="o", markersize=3, label=name)
    left.set(ylabel=f"p, mean over {_SUBSETS} subsets", ylim=(-0.03, 1.03))
    outcome = found.outcomes["strongest"]
    for values, name in ((outcome.loss, "error"), (outcome.weighted_loss, "adversarial risk")):
        rows = [estimate(values[drawn[0]]) for drawn in subsets]
        value, low, high = np.array(rows).T
        (line,) = right.plot(sizes, value, marker="o", markersize=3, label=name)
        right.fill_between(sizes, low, high, color=line.get_color(), alpha=0.2, linewidth=0)
    right.set_ylabel("estimate with its 97.5 % interval")
    for ax in (left, right):
        _count_images(ax)
        ax.legend(fontsize=8)
    return figure


def figure9(reports: Mapping[str, Report]) -> Figure:
    """Of all models: p by generator and set, capped and not, and against the errors."""
    columns = max(2, len(reports))
    figure, axes = new_figure(3, columns, (5.5 * columns, 11))
    for ax, (split, report) in zip(axes[0], reports.items()):
        histograms(ax, {name: report.p_values(name) for name in GENERATORS})
        ax.set_title(f"{split} set")
    capped, uncapped = {}, {}
    for split, report in reports.items():
        tests = [e.test("strongest") for e in report.examinations.values()]
        capped[split] = [test.p for test in tests]
        uncapped[split] = [test.uncapped for test in tests]
    histograms(axes[1, 0], capped)
    histograms(axes[1, 1], uncapped, [3 * i / 20 for i in range(21)])
    axes[1, 1].set_xlabel("p, not capped at 1")
    tested, first = next(iter(reports.items()))
    correlations = {split: value for _, split, value in p_by_error(reports)}
    for ax, (split, report) in zip(axes[2], reports.items()):
        ax.scatter(report.errors(), first.p_values("strongest"), s=10)
        ax.set(xlabel=f"error on the {split} set", ylabel=f"p on the {tested} set")
        ax.set_ylim(-0.03, 1.03)
        if correlations.get(split) is not None:
            ax.set_title(f"correlation {correlations[split]:.2f}", fontsize=10)
    for ax in (*axes[0, len(reports) :], *axes[1, 2:], *axes[2, len(reports) :]):
        ax.set_visible(False)
    return figure


def figure10(reports: Mapping[str, Report]) -> Figure:
    """Histograms of p of groups of N models."""
    figure, axes = new_figure(1, len(reports), (5.5 * len(reports), 4))
    for ax, (split, report) in zip(axes[0], reports.items()):
        groups = report.groups("strongest")
        histograms(ax, {f"N = {size}": p for size, p in groups.items()})
        ax.set_title(f"{split} set")
    return figure


def figure11(reports: Mapping[str, Report]) -> Figure:
    """p of all models together against the number of images."""
    figure, axes = new_figure(1, 1, (6, 4))
    ax = axes[0, 0]
    for style, (split, report) in zip(cycle(_STYLES), reports.items()):
        sizes, p = p_by_sample_size(report)
        mean = [values.mean() for values in p]
        low, high = np.array([np.quantile(values, [0.025, 0.975]) for values in p]).T
        (line,) = ax.plot(sizes, mean, style, marker="o", markersize=3, label=f"{split} set")
        ax.fill_between(sizes, low, high, color=line.get_color(), alpha=0.2, linewidth=0)
    _count_images(ax)
    ax.set_ylim(-0.03, 1.03)
    count = len(report.examinations)
    ax.set_ylabel(f"p of {count} models: mean and 95 % of {_SUBSETS_11} subsets")
    ax.legend(fontsize=8)
    return figure


def p_by_sample_size(report: Report) -> tuple[list[int], list[np.ndarray]]:
    """Sizes, and for each the p-values of the N-model test on random subsets of the images."""
    found = report.examinations.values()
    differences = np.stack([e.outcomes["strongest"].differences for e in found])  # [N, m]
    value_range = GENERATORS["strongest"].value_range
    sizes, subsets = _sample_sizes(report.examples, _SUBSETS_11)
    p = [
        np.array([n_model_test(differences[:, rows], value_range).p for rows in drawn])
        for drawn in subsets
    ]
    return sizes, p


def _count_images(ax: Axes) -> None:
    """A logarithmic axis of numbers of images, without powers of ten."""
    from matplotlib.ticker import LogLocator

    ax.set(xscale="log", xlabel="images")
    ax.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    ax.xaxis.set_major_formatter("{x:,.0f}")
    ax.minorticks_off()


def _sample_sizes(total: int, count: int) -> tuple[list[int], list[np.ndarray]]:
    """Sizes up to all images, and for each random subsets [subsets, size] of them."""
    sizes = [total >> k for k in range(6, 0, -1) if total >> k >= 10]
    rng = np.random.default_rng(0)
    drawn = [
        np.stack([rng.choice(total, size, replace=False) for _ in range(count)]) for size in sizes
    ]
    return [*sizes, total], [*drawn, np.arange(total)[None]]


def _mean_p(found: Examination, name: str, subsets: list[np.ndarray]) -> list[float]:
    differences = found.outcomes[name].differences
    value_range = GENERATORS[name].value_range
    return [
        float(np.mean([pairwise_test(differences[rows], value_range).p for rows in drawn]))
        for drawn in subsets
    ]
