"""The registered measures of mixup response curves: Gi, Pal, mean accuracy, mixup accuracy.

All are oriented so that larger predicts a larger generalization gap: Pal and accuracies, which are
large for networks that generalize, are negated.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from pgdl_measures.base import Subject
from pgdl_measures.errors import MeasureError
from pgdl_measures.response_curves import statistics
from pgdl_measures.response_curves.curves import Curve, mixup_curve
from pgdl_measures.response_curves.enough import Batches, curve_of
from pgdl_measures.response_curves.shared import shared_columns
from pgdl_measures.unperturbed import unperturbed

# Schiff et al. 2021, Section 4.1.1: [0, 0.5] within a class, [0, 0.5) between classes: at 0.5 both
# labels are equally right.
MAGNITUDES = {
    "intra": tuple(i / 20 for i in range(11)),
    "inter": tuple(i / 20 for i in range(10)),
}

BATCHES = 180  # n_b

_STATISTICS: dict[str, tuple[statistics.Statistic, int]] = {
    "gi": (statistics.gi, 1),
    "gi_area": (statistics.gi_area, 1),
    "pal": (statistics.pal, -1),
    "pal_algorithm4": (statistics.pal_algorithm4, -1),
    "mean_accuracy": (statistics.mean_accuracy, -1),
    "end_point": (statistics.end_point, -1),
}


def response(
    subject: Subject,
    *,
    statistic: str,
    pairing: str,
    layer: int,
    magnitudes: Sequence[float] | None = None,
    batches: Batches = BATCHES,
    batch_size: int = 128,
    reshuffle: bool = False,
    seed: int = 0,
) -> float:
    """A statistic of the mixup curve at `layer`; the defaults are the paper's settings."""
    function, sign = _STATISTICS[statistic]
    curve = shared_curve(
        subject,
        magnitudes or MAGNITUDES[pairing],
        function,
        batches,
        pairing=pairing,
        layer=layer,
        batch_size=batch_size,
        reshuffle=reshuffle,
        seed=seed,
    )
    value = sign * curve.statistic(function)
    if math.isnan(value):
        raise MeasureError(
            "Pal divides by the area of the curve at small magnitudes, where the accuracy is 0; gi "
            "of the same curve has a value"
        )
    return value


def shared_curve(
    subject: Subject,
    magnitudes: Sequence[float],
    statistic: statistics.Statistic,
    batches: Batches,
    **settings: Any,
) -> Curve:
    """The curve of `mixup_curve`, computing only what no measure has needed yet."""

    def compute(missing: Sequence[float], batches: int, skip: int) -> Curve:
        return mixup_curve(
            subject.network,
            subject.data,
            missing,
            unperturbed=unperturbed(subject),
            batches=batches,
            skip=skip,
            **settings,
        )

    return curve_of(
        subject,
        (statistic, *magnitudes, *sorted(settings.items())),
        statistic,
        batches,
        BATCHES,
        lambda number: shared_columns(subject, settings, magnitudes, number, compute),
    )
