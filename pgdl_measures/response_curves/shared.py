"""Response curves that the measures of a subject share, magnitude by magnitude, batch by batch.

The value of a measure does not depend on which others were asked for. The first batches of a curve
are the same however many are drawn: a curve that needs more computes those that are missing.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from pgdl_measures.base import Subject
from pgdl_measures.response_curves.curves import Curve

_CURVE = "response_curve"  # begins the keys of shared curves


class Compute(Protocol):
    """Computes batches `skip` to `batches` of a curve."""

    def __call__(self, magnitudes: Sequence[float], batches: int, skip: int, /) -> Curve: ...


@dataclass(frozen=True)
class _Column:
    """One magnitude of a curve."""

    correct: np.ndarray  # [batches]
    pairs: np.ndarray  # [batches]
    seconds: float  # per batch


def shared_columns(
    subject: Subject,
    settings: Mapping[str, Any],
    magnitudes: Sequence[float],
    batches: int,
    compute: Compute,
) -> Curve:
    """The curve of these settings, of which `compute` gives what is missing."""
    columns = subject.share((_CURVE, *sorted(settings.items())), dict[float, _Column])
    missing: dict[int, list[float]] = {}  # magnitudes by the number of batches that they have
    for alpha in magnitudes:
        had = min(len(columns[alpha].correct), batches) if alpha in columns else 0
        if had:
            subject.reused_seconds += columns[alpha].seconds * had
        if had < batches:
            missing.setdefault(had, []).append(alpha)
    for had, alphas in missing.items():
        start = time.perf_counter()
        new = compute(alphas, batches, had)
        seconds = (time.perf_counter() - start) / (len(alphas) * (batches - had))
        for alpha, correct, pairs in zip(alphas, new.correct.T, new.pairs.T):
            if had:
                correct = np.concatenate([columns[alpha].correct, correct])
                pairs = np.concatenate([columns[alpha].pairs, pairs])
            columns[alpha] = _Column(correct, pairs, seconds)
    return _curve(columns, magnitudes, batches)


def computed_curves(subject: Subject) -> Iterator[tuple[dict[str, Any], Curve]]:
    """The curves that measures have computed of a subject, with their settings.

    Of a curve that has more batches at some magnitudes, these.
    """
    for key, columns in subject.shared():
        if isinstance(key, tuple) and key[0] == _CURVE and columns:  # empty where it was refused
            batches = max(len(column.correct) for column in columns.values())
            longest = [a for a in sorted(columns) if len(columns[a].correct) == batches]
            yield dict(key[1:]), _curve(columns, longest, batches)


def _curve(columns: dict[float, _Column], magnitudes: Sequence[float], batches: int) -> Curve:
    chosen = [columns[alpha] for alpha in magnitudes]
    return Curve(
        np.asarray(magnitudes, float),
        np.stack([column.correct[:batches] for column in chosen], axis=1),
        np.stack([column.pairs[:batches] for column in chosen], axis=1),
    )
