"""Negations and combinations of a board's measures, and combinations that are out of date.

A combination is out of date if its measures have been computed again since they were combined.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Optional

import numpy as np
import numpy.typing as npt

from scoring.combine import combination_parts, combine
from scoring.errors import ScoringError

Floats = npt.NDArray[np.float64]
Values = Mapping[str, Optional[Floats]]  # [models] by task; None where there are none to use


def outdated_combinations(measures: Mapping[str, Values]) -> tuple[str, ...]:
    """The combinations that do not match their measures' current values, each with its tasks."""
    found = []
    for name in sorted(measures):
        rule, parts = combination_parts(name) or ("", ())
        sources = [_with_sign(measures, part) for part in parts]
        known = [source for source in sources if source is not None]
        if not known or len(known) < len(sources):
            continue
        tasks = [
            task
            for task, combined in measures[name].items()
            if combined is not None
            and not _is_current(combined, rule, [source.get(task) for source in known])
        ]
        found += [f"{name} ({', '.join(tasks)})"] if tasks else []
    return tuple(found)


def signed_or_combined(measures: Mapping[str, Values], name: str, task: str) -> Floats | None:
    """The values on a task of a measure, a negation or a combination; None where there are none."""
    known = _with_sign(measures, name)
    if known is not None:
        return known.get(task)
    rule, parts = combination_parts(name) or ("", ())
    sources = [_with_sign(measures, part) for part in parts]
    values = [None if source is None else source.get(task) for source in sources]
    if not values or any(value is None for value in values):
        return None
    try:
        return combine(rule, np.array(values))
    except ScoringError:
        return None


def _with_sign(measures: Mapping[str, Values], name: str) -> Values | None:
    """A measure's values, or the negated ones of the measure that `-name` negates."""
    if name in measures or not name.startswith("-"):
        return measures.get(name)
    positive = measures.get(name[1:])
    if positive is None:
        return None
    return {task: None if values is None else -values for task, values in positive.items()}


def _is_current(combined: Floats, rule: str, parts: Sequence[Floats | None]) -> bool:
    values = [part for part in parts if part is not None]
    try:
        return len(values) == len(parts) and np.allclose(combined, combine(rule, values), atol=0.0)
    except ScoringError:
        return False
