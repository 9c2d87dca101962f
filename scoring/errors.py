"""The errors of scoring that a user can act on."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


class ScoringError(Exception):
    """A reference or a set of predictions that cannot be scored; the message says why."""


class ExceededError(ScoringError):
    """A task whose predictions say EXCEEDED: its time budget ran out before its last model."""


def if_defined(statistic: Callable[..., float], *arguments: Any) -> float | None:
    """The statistic, or None where it is undefined: the measure is constant, say."""
    try:
        return float(statistic(*arguments))
    except ScoringError:
        return None
