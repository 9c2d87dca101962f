"""Figures 8, 9 and 10 of Werpachowski et al. 2019, of one's own models and images."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from pgdl_measures.adversarial.examination import Examination
from pgdl_measures.adversarial.generators import GENERATORS
from pgdl_measures.adversarial.independence import estimate, pairwise_test
from scoring.canvas import new_figure
from starting_kit_adapter.diagnose.overfit.report import Report
from starting_kit_adapter.terminal.histograms import histograms

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_SUBSETS = 20  # of each sample size


def figure8(report: Report) -> Figure:
    """Of the first model: p and the risk estimates against the number of images."""
    found = next(iter(report.examinations.values()))
    figure, axes = new_figure(1, 2, (11, 4))
    sizes, subsets = _sample_sizes(report.examples)
    left, right = axes[0]
    for name in GENERATORS:
        p = _mean_p(found, name, subsets)
        left.plot(sizes, p, marker="o", markersize=3, label=name)
    left.set(ylabel=f"p, mean over {_SUBSETS} subsets", ylim=(-0.03, 1.03))
    outcome = found.outcomes["strongest"]
    for values, name in ((outcome.loss, "error"), (outcome.weighted_loss, "adversarial risk")):
        rows = [estimate(values[drawn[0]]) for drawn in subsets]
        value, low, high = np.array(rows).T
        (line,) = right.plot(sizes, value, marker="o", markersize=3, label=name)
        right.fill_between(sizes, low, high, color=line.get_color(), alpha=0.2, linewidth=0)
    right.set_ylabel("estimate with its 97.5 % interval")
    for ax in (left, right):
        ax.set(xscale="log", xlabel="images")
        ax.legend(fontsize=8)
    return figure


def figure9(reports: Mapping[str, Report]) -> Figure:
    """Of all models: p by generator and set, capped and not, and against the errors."""
    figure, axes = new_figure(3, 2, (11, 11))
    for ax, (split, report) in zip(axes[0], reports.items()):
        histograms(ax, {name: report.p_values(name) for name in GENERATORS})
        ax.set_title(f"{split} set")
    for ax in axes[0, len(reports) :]:
        ax.set_visible(False)
    capped, uncapped = {}, {}
    for split, report in reports.items():
        tests = [e.test("strongest") for e in report.examinations.values()]
        capped[split] = [test.p for test in tests]
        uncapped[split] = [test.uncapped for test in tests]
    histograms(axes[1, 0], capped)
    histograms(axes[1, 1], uncapped, [3 * i / 20 for i in range(21)])
    axes[1, 1].set_xlabel("p, not capped at 1")
    first_split, first = next(iter(reports.items()))
    for ax, (split, report) in zip(axes[2], reports.items()):
        errors = [e.outcomes["strongest"].loss.mean() for e in report.examinations.values()]
        _scatter(ax, errors, first.p_values("strongest"), split, first_split)
    for ax in axes[2, len(reports) :]:
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


def _scatter(ax: Axes, errors: list[float], p: np.ndarray, split: str, tested: str) -> None:
    ax.scatter(errors, p, s=10)
    ax.set(xlabel=f"error on the {split} set", ylabel=f"p on the {tested} set")
    ax.set_ylim(-0.03, 1.03)


def _sample_sizes(total: int) -> tuple[list[int], list[np.ndarray]]:
    """Sizes up to all images, and for each random subsets [subsets, size] of them."""
    sizes = [total >> k for k in range(6, 0, -1) if total >> k >= 10]
    rng = np.random.default_rng(0)
    drawn = [
        np.stack([rng.choice(total, size, replace=False) for _ in range(_SUBSETS)])
        for size in sizes
    ]
    return [*sizes, total], [*drawn, np.arange(total)[None]]


def _mean_p(found: Examination, name: str, subsets: list[np.ndarray]) -> list[float]:
    differences = found.outcomes[name].differences
    value_range = GENERATORS[name].value_range
    return [
        float(np.mean([pairwise_test(differences[rows], value_range).p for rows in drawn]))
        for drawn in subsets
    ]
