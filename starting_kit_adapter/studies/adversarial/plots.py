"""Figures 5 and 6 of Werpachowski et al. 2019."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from scoring.canvas import new_figure
from starting_kit_adapter.studies.adversarial.findings import EPSILONS, Findings
from starting_kit_adapter.terminal.histograms import histograms

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def figure5(found: Mapping[str, Findings]) -> Figure:
    """p-values, errors, densities, one realization and histograms, against eps."""
    figure, axes = new_figure(5, 2, (11, 17))
    for column, (name, findings) in zip(axes.T, found.items()):
        column[0].set_title(f"{name} model and test set")
        _p_values(column[0], findings)
        errors = {
            "test error": findings.test_error,
            "adversarial error": findings.adversarial_error,
            "adversarial risk estimate": findings.adversarial_risk,
        }
        _bands(column[1], errors, "error rate")
        densities = {
            "originally misclassified": findings.original_density,
            "successful adversarial": findings.adversarial_density,
        }
        _bands(column[2], densities, "mean density")
        _realization(column[3], findings)
        if name == "dependent":
            for ax in (column[1], column[3]):
                ax.axhline(findings.risk.mean(), color="C3", linestyle=":", label="expected error")
                ax.legend(fontsize=8)
        strengths = (0.1, 5, 6, 20) if name == "dependent" else (0.1, 5, 20)
        values = {f"eps = {eps:g}": findings.p[1][:, EPSILONS.index(eps)] for eps in strengths}
        histograms(column[4], values)
        for ax in column[:4]:
            ax.set(xscale="log", xlabel="eps")
    return figure


def figure6(found: Mapping[str, Findings]) -> Figure:
    """Histograms of p for N = 1, 2, 10."""
    figure, axes = new_figure(1, 2, (11, 3.6))
    for ax, (name, eps) in zip(axes[0], (("independent", 10), ("dependent", 6))):
        p = found[name].p
        values = {f"N = {n}": p[n][:, EPSILONS.index(eps)] for n in (1, 2, 10) if n in p}
        histograms(ax, values)
        ax.set_title(f"{name}, eps = {eps}")
    return figure


def _p_values(ax: Axes, findings: Findings) -> None:
    for size, p in findings.p.items():
        (line,) = ax.plot(EPSILONS, p.mean(axis=0), label=f"N = {size}", linewidth=1.4)
        if size <= 2:
            low, high = np.quantile(p, [0.025, 0.975], axis=0)
        else:
            low, high = p.min(axis=0), p.max(axis=0)
        ax.fill_between(EPSILONS, low, high, color=line.get_color(), alpha=0.15, linewidth=0)
    ax.set(ylabel="p", ylim=(-0.03, 1.03))
    ax.legend(fontsize=8)


def _bands(ax: Axes, values: Mapping[str, np.ndarray], label: str) -> None:
    for name, runs in values.items():
        known = np.isfinite(runs).any(axis=0)  # densities of examples that there are
        eps, runs = np.array(EPSILONS)[known], runs[:, known]
        (line,) = ax.plot(eps, np.nanmean(runs, axis=0), label=name, linewidth=1.4)
        low, high = np.nanquantile(runs, [0.0125, 0.9875], axis=0)
        ax.fill_between(eps, low, high, color=line.get_color(), alpha=0.2, linewidth=0)
    ax.set_ylabel(label)
    ax.legend(fontsize=8)


def _realization(ax: Axes, findings: Findings) -> None:
    for name, color in (("test_error", "C0"), ("adversarial_risk", "C2")):
        value, low, high = np.array([point[name] for point in findings.first_run]).T
        ax.plot(EPSILONS, value, color=color, label=name.replace("_", " "), linewidth=1.4)
        ax.fill_between(EPSILONS, low, high, color=color, alpha=0.2, linewidth=0)
    adversarial = [point["adversarial_error"].value for point in findings.first_run]
    ax.plot(EPSILONS, adversarial, color="C1", label="adversarial error", linewidth=1.4)
    ax.set_ylabel("error rate of one run")
    ax.legend(fontsize=8)
