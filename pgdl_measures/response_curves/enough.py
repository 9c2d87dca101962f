"""`batches="enough"`: as many batches as tell the models of a task apart.

A measure ranks models, so its error matters only against the differences between them. A curve
ends where the standard error of its statistic is below a fifth of that statistic's standard
deviation over the models of the task that this process has measured before. The first four models
get all batches.

Values then depend on which models were measured before: this is off by default.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Union

import numpy as np

from pgdl_measures.base import Subject
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

    `key` says of which statistic of which curve.
    """
    if not isinstance(batches, str):
        return compute(batches)
    seen = subject.data.seen.setdefault(key, [])
    number = _FIRST if len(seen) >= _MODELS else most
    start, reused = time.perf_counter(), subject.reused_seconds
    while True:
        # What this measure has computed itself is not reused when the next batches are added.
        subject.reused_seconds = reused - (time.perf_counter() - start)
        curve = compute(min(number, most))
        if number >= most or curve.standard_error(statistic) <= _SHARE * np.std(seen, ddof=1):
            break
        number *= 2
    seen.append(curve.statistic(statistic))
    subject.batches = len(curve.pairs)
    return curve
