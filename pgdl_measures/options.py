"""The ranges of the measures' numeric options, checked when an option is set.

So a wrong number is refused before a model is loaded or a worker started. A name has one range in
all measures that have it; what a range cannot say (that the data has so many examples, that words
are known) the measures say themselves.
"""

from __future__ import annotations

import math
from typing import Any

from pgdl_measures.errors import MeasureError

_RANGES: dict[str, tuple[type, float, float]] = {  # int or float, smallest, largest
    "batches": (int, 1, math.inf),
    "batch_size": (int, 2, math.inf),
    "count": (int, 0, math.inf),
    "depth": (int, 1, math.inf),
    "dimensions": (int, 1, math.inf),
    "draws": (int, 1, math.inf),
    "eps": (int, 1, math.inf),
    "examples": (int, 1, math.inf),
    "graphs": (int, 1, math.inf),
    "layer": (int, 0, math.inf),
    "magnitude": (float, 0, 30),
    "max_bytes": (int, 1, math.inf),
    "points": (int, 2, math.inf),
    "restarts": (int, 1, math.inf),
    "seed": (int, 0, 2**31 - 1),
    "steps": (int, 0, math.inf),
}


def check_option(measure: str, option: str, value: Any, default: Any) -> None:
    """Raises a `MeasureError` if an option's value is not in its range, or not of its type.

    None is a value where it is the default. An option without a range, such as those of a user's
    own measure, may be anything.
    """
    if value is None and default is None:
        return
    if isinstance(default, bool):
        expected = "" if isinstance(value, bool) else "true or false"
    elif option in _RANGES:
        expected = _expected(value, *_RANGES[option])
    else:
        return
    if expected:
        raise MeasureError(f"{measure}: {option} is {value!r}; expected {expected}")


def has_range(option: str) -> bool:
    """Whether an option of this name is checked."""
    return option in _RANGES


def _expected(value: Any, kind: type, low: float, high: float) -> str:
    """What was expected of a value; empty if that is what it is."""
    kinds = (int,) if kind is int else (int, float)
    if isinstance(value, kinds) and not isinstance(value, bool) and low <= value <= high:
        return ""
    noun = "an integer" if kind is int else "a number"
    return f"{noun} of at least {low}" if high == math.inf else f"{noun} from {low} to {high}"
