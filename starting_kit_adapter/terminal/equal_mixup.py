"""Models with equal mixup accuracy and different Gi (Schiff et al. 2021, Figure 2).

Figure 2 shows pairs of models with roughly the same mixup accuracy and different gaps, of which the
one with the larger gap has the larger Gi: its response curve falls earlier. Gi, Mixup and gap are
normalized to [0, 1] over the models of the task, as there.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from pgdl_measures.response_curves.plots import plot_curves
from scoring.record import Curve
from scoring.report.figures import Figure, draw
from scoring.report.leaderboard import Leaderboard

GI, MIXUP = "gi_intra_l0", "mixup"
CURVE = "intra-class mixup at layer 0"

_EQUAL = 0.02  # of the range of mixup accuracies over the task
_DIFFERENT = 0.2  # of the ranges of Gi and of the gap
_PAIRS = 2  # that are drawn

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class EqualPair:
    """Two models by their numbers, the one with the smaller gap first."""

    low: int
    high: int


def equal_pairs(gi: Floats, mixup: Floats, gap: Floats) -> list[EqualPair]:
    """Pairs with equal mixup and different Gi and gap, no model twice, the clearest first.

    The arguments are normalized [models]. A pair is as clear as the smaller of its two differences.
    """
    gap_change, gi_change = gap - gap[:, None], gi - gi[:, None]  # [low, high]
    clear = np.where(np.abs(mixup - mixup[:, None]) <= _EQUAL, np.minimum(gap_change, gi_change), 0)
    found: list[EqualPair] = []
    for place in np.argsort(-clear, axis=None, kind="stable"):
        low, high = map(int, np.unravel_index(place, clear.shape))
        if clear[low, high] < _DIFFERENT or len(found) == _PAIRS:
            break
        if not any({low, high} & {pair.low, pair.high} for pair in found):
            found.append(EqualPair(low, high))
    return found


def equal_mixup_figures(board: Leaderboard, task: str) -> list[Figure]:
    """The response curves of such pairs; none where Gi, Mixup or curves are missing."""
    rows = {row.measure: row.entries[task].values for row in board.rows}
    gi, mixup, reference = rows.get(GI), rows.get(MIXUP), board.references.get(task)
    if gi is None or mixup is None or reference is None:
        return []
    scores = {"Gi": gi, "Mixup": mixup, "gap": reference.gap}
    if any(np.ptp(values) == 0 for values in scores.values()):
        return []
    unit = {name: (v - v.min()) / np.ptp(v) for name, v in scores.items()}
    records = board.run.of_task(task)
    figures = []
    for pair in equal_pairs(unit["Gi"], unit["Mixup"], unit["gap"]):
        curves: dict[str, Curve] = {}
        for k in (pair.low, pair.high):
            record = records.get(reference.ids[k])
            curve = None if record is None else record.curves.get(CURVE)
            if curve is not None and len(curve.magnitudes) > 1:
                words = ", ".join(f"{name} {values[k]:.2f}" for name, values in unit.items())
                curves[f"{reference.ids[k]}: {words}"] = curve
        if len(curves) == 2:
            figures.append(_figure(task, curves))
    return figures


def _figure(task: str, curves: dict[str, Curve]) -> Figure:
    return draw(
        lambda ax: plot_curves(curves, ax),
        alt=f"{task}: response to {CURVE} of {' and of '.join(curves)}",
        caption="Two models with the same mixup accuracy, the accuracy at 0.5, whose gaps differ: "
        "the curve of the one with the larger gap falls earlier, which Gi measures. Gi, Mixup (1 - "
        "accuracy) and gap are normalized over the task's models.",
    )
