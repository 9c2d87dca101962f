"""What a build hands to its workers. Plain values only: they travel between processes."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ingestion.corpus import FIRST_DATASET


@dataclass(frozen=True)
class Job:
    """One model to train."""

    model: int
    repeat: int
    seed: int
    hparams: Mapping[str, Any]
    config: Mapping[str, Any]
    architecture: str
    data: str  # its name
    training: Mapping[str, Any]
    max_epochs: int
    target: Mapping[str, float]
    augment: Mapping[str, str] | None = None  # `perturbation` and `level`

    @property
    def compiled(self) -> tuple[str, ...]:
        """Jobs that agree in this share one compiled trainer."""
        names = ("batch_size", "optimizer", "augmentation")
        training = {name: self.training[name] for name in names}
        return tuple(map(json.dumps, (self.config, training, self.augment)))

    @property
    def dataset(self) -> str:
        """The folder of its data."""
        return self.config.get("dataset", FIRST_DATASET)


@dataclass(frozen=True)
class Outcome:
    """A finished job; `problem` says why it failed and is None if it succeeded."""

    job: Job
    problem: str | None


@dataclass(frozen=True)
class Place:
    """Where workers read the data and write the models, and how many threads each has."""

    root: Path
    task: str
    threads: int
