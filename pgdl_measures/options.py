"""The ranges and words of the measures' options, checked when an option is set.

So a wrong value is refused before a model is loaded or a worker started. A name has one range, or
one set of words, in all measures that have it; what depends on the data (that it has so many
examples, that images are large enough) the measures say themselves.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from pgdl_measures.errors import MeasureError

ENOUGH = "enough"  # batches, see `response_curves.enough`

RANGES: dict[str, tuple[type, float, float]] = {  # int or float, smallest, largest
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

WORDS: dict[str, tuple[str, ...]] = {
    "boundary": ("circular", "zero"),
    "counting": ("printed", "kernels"),
    "form": ("inverse", "printed"),
    "generator": ("strongest", "nearest", "random", "random2"),
    "noise": ("deviation", "variance"),
    "padding": ("auto", "upsample", "circular"),
    "stride": ("kept", "ignored"),
}

# The operations of `perturbations.operations`, which imports TensorFlow.
RANDAUGMENT = (
    *("AutoContrast", "Equalize", "Invert", "Rotate", "Posterize", "Solarize", "SolarizeAdd"),
    *("Color", "Contrast", "Brightness", "Sharpness", "ShearX", "ShearY", "CutoutAbs"),
    *("TranslateXabs", "TranslateYabs"),
)
_SINGLE = ("CenterCrop", "RandomCrop", "RandomFlip", "RandomRotation")

LISTS: dict[str, tuple[str, ...]] = {  # of words: a list, or a text with commas
    "operations": (*RANDAUGMENT, *_SINGLE),
}

# A list of numbers. At the magnitude 1 of mixup the second example has replaced the first.
INCREASING: dict[str, tuple[float, float]] = {"magnitudes": (0, 1)}


def check_option(measure: str, option: str, value: Any, default: Any) -> None:
    """Raises a `MeasureError` if the value of an option of one of our measures is not allowed.

    None is a value where it is the default.
    """
    if value is None and default is None:
        return
    expected = ""
    if isinstance(default, bool):
        expected = "" if isinstance(value, bool) else "true or false"
    elif option == "batches":
        other = _number(value, *RANGES[option])
        expected = "" if value == ENOUGH or not other else f"{other}, or {ENOUGH!r}"
    elif option in RANGES:
        expected = _number(value, *RANGES[option])
    elif option in WORDS:
        known = isinstance(value, str) and value in WORDS[option]
        expected = "" if known else _one_of(WORDS[option])
    elif option in LISTS:
        expected = _list(value, LISTS[option])
    elif option in INCREASING:
        expected = _increasing(value, *INCREASING[option])
    if expected:
        raise MeasureError(f"{measure}: {option} is {value!r}; expected {expected}")


def split_words(value: str | Sequence[str]) -> list[str]:
    """A list of words that may be given as one text with commas."""
    return [word.strip() for word in value.split(",")] if isinstance(value, str) else list(value)


def _number(value: Any, kind: type, low: float, high: float) -> str:
    """What was expected of a value; empty if that is what it is."""
    kinds = (int,) if kind is int else (int, float)
    if isinstance(value, kinds) and not isinstance(value, bool) and low <= value <= high:
        return ""
    noun = "an integer" if kind is int else "a number"
    return f"{noun} of at least {low}" if high == math.inf else f"{noun} from {low} to {high}"


def _list(value: Any, known: Sequence[str]) -> str:
    """The same for a list of words."""
    words = split_words(value) if isinstance(value, (str, list, tuple)) else [value]
    return "" if all(word in known for word in words) else f"some of {', '.join(known)}"


def _one_of(words: Sequence[str]) -> str:
    return f"{', '.join(words[:-1])} or {words[-1]}"


def _increasing(value: Any, low: float, high: float) -> str:
    """The same for a list of increasing numbers."""
    numbers = isinstance(value, (list, tuple)) and not any(
        _number(v, float, low, high) for v in value
    )
    if numbers and value and list(value) == sorted(set(value)):
        return ""
    return f"a list of increasing numbers from {low} to {high}"
