"""`batches="enough"`: as many batches as tell the models of a task apart.

A measure ranks models, so its error matters only against the differences between them. A curve
ends where the standard error of its statistic is below a fifth of that statistic's standard
deviation over the models of the task that this process has measured before. The first four models
get all batches.

Values then depend on which models were measured before: this is off by default.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import Union

import numpy as np

from pgdl_measures.base import Subject
from pgdl_measures.errors import MeasureError, NotFiniteError
from pgdl_measures.response_curves.curves import Curve
from pgdl_measures.response_curves.statistics import Statistic

Batches = Union[int, str]  # a number, or "enough"

_SHARE = 0.2
_MODELS = 4
_FIRST = 5  # batches, and then twice as many each time


def curve_of(
    subject: Subject,
    key: tuple[object, ...],
    statistic: Statistic,
    batches: Batches,
    most: int,
    compute: Callable[[int], Curve],
) -> Curve:
    """`compute(batches)`; for "enough", with the number that is enough, `most` at the most.

    `key` identifies the statistic and the curve.
    """
    if not isinstance(batches, str):
        return compute(batches)
    curve = subject.share(("enough", key), lambda: _enough(subject, key, statistic, most, compute))
    subject.batches = len(curve.pairs)
    return curve


def _enough(
    subject: Subject,
    key: tuple[object, ...],
    statistic: Statistic,
    most: int,
    compute: Callable[[int], Curve],
) -> Curve:
    seen = subject.data.seen.setdefault(key, [])
    start, reused = time.perf_counter(), subject.reused_seconds
    number = min(_FIRST, most) if len(seen) >= _MODELS else most
    while True:
        try:
            curve = compute(number)
            error = curve.standard_error(statistic)
        except MeasureError as refusal:  # few batches may have no pair
            if number == most or isinstance(refusal, NotFiniteError):
                raise
            error = math.inf
        if number == most or error <= _SHARE * np.std(seen, ddof=1):
            break
        number = min(2 * number, most)
    seen.append(curve.statistic(statistic))
    seconds = time.perf_counter() - start
    subject.reused_seconds = reused
    compute(number)  # adds the seconds of the batches that are cached, now all of them
    others = subject.reused_seconds - reused - seconds
    subject.reused_seconds = reused + max(0.0, others)
    return curve
