"""The registered measures of mixup response curves: Gi, Pal, mean accuracy, mixup accuracy.

All are oriented so that larger predicts a larger generalization gap: Pal and accuracies, which are
large for networks that generalize, are negated. Measures of the same curve share it, magnitude by
magnitude, so that the value of one does not depend on which others were asked for.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from pgdl_measures.base import Subject
from pgdl_measures.response_curves import statistics
from pgdl_measures.response_curves.curves import Curve, mixup_curve
from pgdl_measures.response_curves.unperturbed import Unperturbed

# Schiff et al. 2021, Section 4.1.1: [0, 0.5] within a class, [0, 0.5) between classes: at 0.5 both
# labels are equally right.
MAGNITUDES = {
    "intra": tuple(i / 20 for i in range(11)),
    "inter": tuple(i / 20 for i in range(10)),
}

_STATISTICS: dict[str, tuple[statistics.Statistic, int]] = {
    "gi": (statistics.gi, 1),
    "gi_area": (statistics.gi_area, 1),
    "pal": (statistics.pal, -1),
    "pal_algorithm4": (statistics.pal_algorithm4, -1),
    "mean_accuracy": (statistics.mean_accuracy, -1),
    "end_point": (statistics.end_point, -1),
}


_CURVE = "response_curve"  # begins the keys of shared curves


def response(
    subject: Subject,
    *,
    statistic: str,
    pairing: str,
    layer: int,
    magnitudes: Sequence[float] | None = None,
    batches: int = 180,
    batch_size: int = 128,
    reshuffle: bool = False,
    seed: int = 0,
) -> float:
    """A statistic of the mixup curve at `layer`; the defaults are the paper's settings."""
    curve = shared_curve(
        subject,
        magnitudes or MAGNITUDES[pairing],
        pairing=pairing,
        layer=layer,
        batches=batches,
        batch_size=batch_size,
        reshuffle=reshuffle,
        seed=seed,
    )
    function, sign = _STATISTICS[statistic]
    return sign * curve.statistic(function)


def shared_curve(subject: Subject, magnitudes: Sequence[float], **settings: Any) -> Curve:
    """The curve of `mixup_curve`, computing only the magnitudes that no measure has needed yet."""
    unperturbed = subject.share("unperturbed", lambda: Unperturbed(subject.network, subject.data))
    return shared_columns(
        subject,
        settings,
        magnitudes,
        lambda missing: mixup_curve(
            subject.network, subject.data, missing, unperturbed=unperturbed, **settings
        ),
    )


def shared_columns(
    subject: Subject,
    settings: Mapping[str, Any],
    magnitudes: Sequence[float],
    compute: Callable[[Sequence[float]], Curve],
) -> Curve:
    """The curve of these settings, of which `compute` gives the magnitudes that are missing."""
    columns = subject.share((_CURVE, *sorted(settings.items())), dict[float, _Column])
    missing = [alpha for alpha in magnitudes if alpha not in columns]
    subject.reused_seconds += sum(columns[a].seconds for a in magnitudes if a in columns)
    if missing:
        start = time.perf_counter()
        new = compute(missing)
        seconds = (time.perf_counter() - start) / len(missing)
        for alpha, correct, pairs in zip(missing, new.correct.T, new.pairs.T):
            columns[alpha] = _Column(correct, pairs, seconds)
    return _curve(columns, magnitudes)


def computed_curves(subject: Subject) -> Iterator[tuple[dict[str, Any], Curve]]:
    """The curves that measures have computed of a subject, with their settings."""
    for key, columns in subject.shared():
        if isinstance(key, tuple) and key[0] == _CURVE:
            yield dict(key[1:]), _curve(columns, sorted(columns))


class _Column(NamedTuple):
    """One magnitude of a curve."""

    correct: np.ndarray  # [batches]
    pairs: np.ndarray  # [batches]
    seconds: float


def _curve(columns: dict[float, _Column], magnitudes: Sequence[float]) -> Curve:
    chosen = [columns[alpha] for alpha in magnitudes]
    return Curve(
        np.asarray(magnitudes, float),
        np.stack([column.correct for column in chosen], axis=1),
        np.stack([column.pairs for column in chosen], axis=1),
    )
