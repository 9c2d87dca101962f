"""How invariant one network is, and where it breaks: response curves of its training images.

Gi (paper 000, Section 4.2) says how far the network is from one that a perturbation does not touch.
Beside it stands the range around 0 in which the accuracy stays above a share of that on the same
images without perturbation: where it ends, the network breaks.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from pgdl_measures import statistics
from pgdl_measures.invariance import response_curve
from pgdl_measures.perturbation_curves import available_batches, unperturbed_accuracy
from pgdl_measures.perturbations.catalogue import Perturbation, perturbation
from starting_kit_adapter.cli.text import table
from starting_kit_adapter.figures import new_figure, save_as

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
    holds: tuple[float, float] | None  # None where it breaks at once


@dataclass(frozen=True)
class Findings:
    """The responses of one network."""

    unperturbed: float  # its accuracy on the same images as they are
    share: float  # of it, above which a network holds
    batches: int  # of training images that were drawn
    asked: int  # batches that were to be drawn
    of: tuple[Finding, ...]


def examine(
    subject: Subject, names: Sequence[str], *, share: float, batches: int, seed: int
) -> Findings:
    """The curves of these perturbations."""
    settings = {"batches": batches, "seed": seed}
    unperturbed = unperturbed_accuracy(subject.network, subject.data, **settings)
    found = []
    for name in names:
        curve = response_curve(subject, name, **settings)
        found.append(
            Finding(
                perturbation(name),
                curve.magnitudes,
                curve.accuracy,
                max(0.0, curve.statistic(statistics.gi)),  # but for rounding it is no less
                held_range(curve.magnitudes, curve.accuracy, share * unperturbed),
            )
        )
    drawn = min(batches, available_batches(len(subject.data)))
    return Findings(unperturbed, share, drawn, batches, tuple(found))


def held_range(
    magnitudes: np.ndarray, accuracy: np.ndarray, threshold: float
) -> tuple[float, float] | None:
    """The range around 0 in which the accuracy stays at a threshold; between two magnitudes of
    the curve it ends where a straight line would cross the threshold."""
    holds = accuracy >= threshold
    first = last = int(np.argmin(np.abs(magnitudes)))
    if not holds[first]:
        return None
    while first > 0 and holds[first - 1]:
        first -= 1
    while last < len(holds) - 1 and holds[last + 1]:
        last += 1

    def end(inside: int, outside: int) -> float:
        if not 0 <= outside < len(holds):
            return float(magnitudes[inside])
        share = (accuracy[inside] - threshold) / (accuracy[inside] - accuracy[outside])
        return float(magnitudes[inside] + share * (magnitudes[outside] - magnitudes[inside]))

    return end(first, first - 1), end(last, last + 1)


def to_text(findings: Findings) -> str:
    """A row per perturbation, the one that the network bears least first."""
    head = f"accuracy without perturbation: {findings.unperturbed:.4f}"
    if findings.batches < findings.asked:
        head += f", on {findings.batches} of {findings.asked} batches: there are no more"
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
                f"{one.magnitudes[worst]:g}",
                "nowhere" if one.holds is None else f"{one.holds[0]:g} to {one.holds[1]:g}",
                f"{low:g} to {high:g} {one.perturbation.unit}".strip(),
            ]
        )
    holds = f"holds {100 * findings.share:g} %"
    headers = ["perturbation", "Gi", "mean", "worst", "at", holds, "of"]
    return f"{head}\n\n{table(headers, rows)}"


def save_figure(findings: Findings, path: Path) -> None:
    """The curves side by side; where the network holds is shaded."""
    columns = min(_COLUMNS, len(findings.of))
    rows = math.ceil(len(findings.of) / columns)
    figure, axes = new_figure(rows, columns, (3.4 * columns, 2.5 * rows))
    for finding, ax in zip(findings.of, axes.flat):
        _plot(findings, finding, ax)
    for ax in axes.flat[len(findings.of) :]:
        ax.set_visible(False)
    save_as(figure, path)


def _plot(findings: Findings, one: Finding, ax: Axes) -> None:
    ax.axhline(findings.unperturbed, color="0.4", linewidth=1, linestyle=":")
    if one.holds is not None:
        ax.axvspan(*one.holds, color="C2", alpha=0.15, linewidth=0)
    ax.plot(one.magnitudes, one.accuracy, "o-", color="C0", markersize=3, linewidth=1.5)
    ax.set_ylim(0, 1.03)
    ax.set_xlim(one.magnitudes[0], one.magnitudes[-1])
    ax.set_title(f"{one.perturbation.name.replace('_', ' ')}: Gi {one.gi:.3f}", fontsize=10)
    ax.set_xlabel(one.perturbation.unit or "magnitude", fontsize=9)
    ax.set_ylabel("accuracy", fontsize=9)
    ax.tick_params(labelsize=8)
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)
