"""The one base class of the errors that a user can act on, and those that measures raise.

Every message names the value that was found and what was expected. The `pgdl` command prints such
an error as one line and exits with 1; anything else is a bug and keeps its traceback.
"""

from __future__ import annotations

import difflib
import traceback
from collections.abc import Iterable
from pathlib import Path


class PgdlError(Exception):
    """Something outside the program is wrong: a file, an option, a model or its data."""


class MeasureError(PgdlError):
    """A measure cannot be computed for this model and this data."""


class NotFiniteError(MeasureError):
    """The model's weights, its outputs or the measure's value are NaN or infinite."""


class UnknownNameError(PgdlError):
    """A name that is not among the known ones; the message offers the nearest."""

    def __init__(self, kind: str, name: str, known: Iterable[str]) -> None:
        known = sorted(known)
        near = difflib.get_close_matches(name, known, n=3)
        hint = f"did you mean {' or '.join(near)}?" if near else f"known: {', '.join(known)}"
        super().__init__(f"unknown {kind} {name!r}; {hint}")


def with_place(error: BaseException) -> str:
    """Any exception in one line, with the place in the code that raised it."""
    text = (str(error).strip().splitlines() or [""])[0][:300]
    if isinstance(error, SyntaxError):  # says so itself
        return f"{type(error).__name__}: {text}"
    place = traceback.extract_tb(error.__traceback__)[-1]
    return f"{type(error).__name__}: {text} ({Path(place.filename).name}, line {place.lineno})"
