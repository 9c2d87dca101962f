"""How invariant one network is to perturbations: response curves on its training images.

Gi (Schiff et al. 2021, 4.2) is the distance from a network that the perturbation does not affect.
Beside it is the range of magnitudes around 0 in which the network keeps a given fraction of its
accuracy on the unperturbed images.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from pgdl_measures.perturbations.catalogue import Perturbation, perturbation
from pgdl_measures.response_curves import statistics
from pgdl_measures.response_curves.invariance import response_curve
from pgdl_measures.response_curves.perturbation_curves import (
    available_batches,
    drawn_examples,
)
from pgdl_measures.unperturbed import unperturbed
from scoring.canvas import new_figure
from scoring.report.plots import bare
from starting_kit_adapter.terminal.figures import save_as
from starting_kit_adapter.terminal.text import table

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from pgdl_measures.base import Subject

_COLUMNS = 3  # of the figure


@dataclass(frozen=True)
class Finding:
    """The response to one perturbation."""

    perturbation: Perturbation
    magnitudes: np.ndarray
    accuracy: np.ndarray  # [magnitudes]
    gi: float
    kept_range: tuple[float, float] | None  # None if it breaks at magnitude 0


@dataclass(frozen=True)
class Findings:
    """The responses of one network."""

    unperturbed: float  # its accuracy on the same images, not perturbed
    keep_fraction: float  # of that accuracy, which defines the kept ranges
    batches: int  # of training images that were used
    asked: int  # batches that were asked for
    of: tuple[Finding, ...]


def examine(
    subject: Subject,
    names: Sequence[str],
    *,
    keep_fraction: float,
    batches: int,
    seed: int,
    step: Callable[[str], None] = lambda name: None,
) -> Findings:
    """Computes the response curves of these perturbations; calls `step` after each."""
    examples = drawn_examples(subject.data, batches=batches, seed=seed)
    unchanged = unperturbed(subject).correct(examples).mean()
    found = []
    for name in names:
        curve = response_curve(subject, name, batches=batches, seed=seed)
        found.append(
            Finding(
                perturbation(name),
                curve.magnitudes,
                curve.accuracy,
                max(0.0, curve.statistic(statistics.gi)),  # never negative, except by rounding
                kept_range(curve.magnitudes, curve.accuracy, keep_fraction * unchanged),
            )
        )
        step(name)
    drawn = min(batches, available_batches(len(subject.data)))
    return Findings(float(unchanged), keep_fraction, drawn, batches, tuple(found))


def kept_range(
    magnitudes: np.ndarray, accuracy: np.ndarray, threshold: float
) -> tuple[float, float] | None:
    """The range around 0 in which the accuracy stays at or above a threshold.

    Between two magnitudes of the curve it ends where a straight line would cross the threshold.
    """
    above = accuracy >= threshold
    first = last = int(np.argmin(np.abs(magnitudes)))
    if not above[first]:
        return None
    while first > 0 and above[first - 1]:
        first -= 1
    while last < len(above) - 1 and above[last + 1]:
        last += 1

    def end(inside: int, outside: int) -> float:
        if not 0 <= outside < len(above):
            return float(magnitudes[inside])
        share = (accuracy[inside] - threshold) / (accuracy[inside] - accuracy[outside])
        return float(magnitudes[inside] + share * (magnitudes[outside] - magnitudes[inside]))

    return end(first, first - 1), end(last, last + 1)


def to_text(findings: Findings) -> str:
    """A row per perturbation, the most harmful one first."""
    head = f"accuracy without perturbation: {findings.unperturbed:.4f}"
    if findings.batches < findings.asked:
        batches = f"{findings.batches} of {findings.asked} batches of 128"
        head += f" ({batches}: the training data has no more)"
    rows = []
    for one in sorted(findings.of, key=lambda one: -one.gi):
        worst = int(np.argmin(one.accuracy))
        low, high = one.perturbation.low, one.perturbation.high
        rows.append(
            [
                one.perturbation.name,
                one.gi,
                float(one.accuracy.mean()),
                float(one.accuracy[worst]),
                f"{one.magnitudes[worst]:.3g}",
                _range(one),
                f"{low:g} to {high:g}",
                one.perturbation.unit,
            ]
        )
    kept = f"keeps {100 * findings.keep_fraction:g} % within"
    headers = ["perturbation", "Gi", "mean acc", "worst acc", "at", kept, "tested range", "unit"]
    return f"{head}\n\n{table(headers, rows)}"


def _range(one: Finding) -> str:
    if one.kept_range is None:
        return "nothing"
    return f"{one.kept_range[0]:.3g} to {one.kept_range[1]:.3g}"


def save_figure(findings: Findings, path: Path) -> None:
    """The curves side by side, with a legend above them."""
    columns = min(_COLUMNS, len(findings.of))
    rows = math.ceil(len(findings.of) / columns)
    figure, axes = new_figure(rows, columns, (3.4 * columns, 2.5 * rows))
    for finding, ax in zip(findings.of, axes.flat):
        _plot(findings, finding, ax)
    for ax in axes.flat[len(findings.of) :]:
        ax.set_visible(False)
    named = {
        name: handle for ax in axes.flat for handle, name in zip(*ax.get_legend_handles_labels())
    }
    figure.legend(named.values(), named.keys(), loc="outside upper center", ncols=3, fontsize=9)
    save_as(figure, path)


def _plot(findings: Findings, one: Finding, ax: Axes) -> None:
    share = f"{100 * findings.keep_fraction:g} % of the accuracy without perturbation"
    dotted: dict[str, Any] = {"color": "0.4", "linewidth": 1, "linestyle": ":"}
    ax.axhline(findings.unperturbed, label="accuracy without perturbation", **dotted)
    if one.kept_range is not None:
        ax.axvspan(*one.kept_range, color="C2", alpha=0.15, linewidth=0, label=f"keeps {share}")
    curve: dict[str, Any] = {"color": "C0", "markersize": 3, "linewidth": 1.5}
    ax.plot(one.magnitudes, one.accuracy, "o-", label="accuracy on perturbed images", **curve)
    ax.set_ylim(0, 1.03)
    ax.set_xlim(one.magnitudes[0], one.magnitudes[-1])
    ax.set_title(f"{one.perturbation.name.replace('_', ' ')}: Gi {one.gi:.3f}", fontsize=10)
    ax.set_xlabel(one.perturbation.unit or "magnitude", fontsize=9)
    ax.set_ylabel("accuracy", fontsize=9)
    ax.tick_params(labelsize=8)
    bare(ax, "top", "right")
