"""How the learning rate changes from epoch to epoch. Plain arithmetic, without TensorFlow.

constant  stays as it is
steps     is multiplied by `decay_factor` at each of the `milestones`, which are shares of the
          epochs that are allowed; by default the competition's: 0.2 after each quarter
plateau   is multiplied by `decay_factor` after `patience` epochs in a row without a training loss
          that is smaller than the smallest so far by one part in 10,000: the ReduceLROnPlateau of
          PyTorch, with which Schiff et al. (2021, 4.2.1) trained. The loss is the mean over the
          epoch's batches, as they were trained on.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

SCHEDULES = ("constant", "steps", "plateau")
_THRESHOLD = 1e-4


@dataclass(frozen=True)
class Schedule:
    """A rule by name, with its numbers."""

    name: str = "steps"
    decay_factor: float = 0.2
    milestones: Sequence[float] = (0.25, 0.5, 0.75)
    patience: int = 10


class LearningRate:
    """The learning rate of one training."""

    def __init__(self, initial: float, schedule: Schedule, max_epochs: int) -> None:
        self._initial, self._schedule, self._max_epochs = initial, schedule, max_epochs
        self._best, self._bad_epochs, self._reductions = math.inf, 0, 0

    def of(self, epoch: int) -> float:
        """For an epoch, counted from 0."""
        reductions = self._reductions
        if self._schedule.name == "steps":
            passed = (epoch >= share * self._max_epochs for share in self._schedule.milestones)
            reductions = sum(passed)
        return self._initial * self._schedule.decay_factor**reductions

    def after(self, loss: float) -> None:
        """Takes note of the training loss of the epoch that has just ended."""
        if self._schedule.name != "plateau":
            return
        if loss < self._best * (1 - _THRESHOLD):
            self._best, self._bad_epochs = loss, 0
            return
        self._bad_epochs += 1
        if self._bad_epochs > self._schedule.patience:
            self._bad_epochs, self._reductions = 0, self._reductions + 1
