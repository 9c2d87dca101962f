"""The time that models may take, each by itself or together by the starting kit's rule.

Per model, every step of it - reading the data, loading, each measure - may take so many seconds: a
measure is a submission of its own. The kit's rule is a budget per task instead: that many seconds
times its models, for each measure; after the model that uses it up, predictions are EXCEEDED.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass

COMPETITION_SECONDS = 300.0
EXCEEDED = "EXCEEDED"
RULES = ("model", "task")


@dataclass(frozen=True)
class TimeLimit:
    """The time that a model may take, by itself or by the kit's rule."""

    seconds: float = COMPETITION_SECONDS
    rule: str = "model"  # one of RULES

    def step_seconds(self, models: int) -> float:
        """The longest that one step may take, in a task of that many models."""
        return self.seconds * (models if self.rule == "task" else 1)


class TaskBudgets:
    """The kit's rule: what each measure has used of the seconds of its task."""

    def __init__(self, seconds: Mapping[str, float]) -> None:
        self._seconds = dict(seconds)  # by task
        self._used: dict[tuple[str, str], float] = defaultdict(float)

    def spend(self, task: str, measure: str, seconds: float) -> None:
        """Takes seconds from a measure's budget of a task."""
        self._used[task, measure] += seconds

    def exceeded(self, task: str, measure: str) -> bool:
        """Whether a measure has used up its budget of a task."""
        return self._used[task, measure] > self._seconds[task]
