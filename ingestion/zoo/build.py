"""A build: the data, every model of the grid that is not there yet, the references.

The settings of a build stay with the zoo. A build that was interrupted goes on where it stopped
when it is started with the same settings, and is refused with others: models of one task must
differ by their hyperparameters only.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from ingestion.arrays import Data
from ingestion.errors import ZooError
from ingestion.zoo.augment import Augment
from ingestion.zoo.grid import Grid
from ingestion.zoo.layout import Zoo
from ingestion.zoo.workers import Job, Outcome, Place, run_jobs


@dataclass(frozen=True)
class Plan:
    """One task of a zoo: what is built from what."""

    task: str
    source: str
    data: Data
    grid: Grid
    seed: int = 0
    repeats: int = 1
    threads: int = 1
    augment: Augment | None = None  # the data's test images are then perturbed already
    eps: int | None = None  # of the rescaled protocol, by which the data is made already

    def settings(self) -> dict[str, Any]:
        """What decides the result, as JSON; `source` is told but data is known by its content."""
        settings = {
            "source": self.source,
            "data": self.data.fingerprint(),
            "seed": self.seed,
            "repeats": self.repeats,
            "threads": self.threads,
            "augment": asdict(self.augment) if self.augment else None,
            "eps": self.eps,
            **{f"grid.{name}": value for name, value in asdict(self.grid).items()},
        }
        return json.loads(json.dumps(settings))

    @property
    def can_be_scored(self) -> bool:
        """Whether some models agree in two hyperparameters, within which the score compares."""
        varying = [name for name, values in self.grid.hparams.items() if len(values) > 1]
        return len(varying) > 2 or self.repeats * len(self._levels()) > 1

    def jobs(self) -> list[Job]:
        """One per cell, repeat and augmentation; those that are compiled alike stand together."""
        jobs: list[Job] = []
        for i, cell in enumerate(self.grid.cells()):
            config = self.grid.config(cell, self.data.shape, self.data.classes)
            for repeat, augment in itertools.product(range(self.repeats), self._levels()):
                jobs.append(
                    Job(
                        model=len(jobs),
                        repeat=repeat,
                        seed=_seed(self.seed, i, repeat),
                        hparams=cell,
                        config=config,
                        training=self.grid.settings(cell)[1],
                        max_epochs=self.grid.max_epochs,
                        target=self.grid.target,
                        augment=augment,
                    )
                )

        def compiled(job: Job) -> tuple[str, int, str, int]:
            return (
                json.dumps(job.config),
                job.training["batch_size"],
                json.dumps(job.augment),
                job.model,
            )

        return sorted(jobs, key=compiled)

    def _levels(self) -> list[dict[str, str] | None]:
        """How the networks of a cell are augmented: one network for each."""
        if self.augment is None:
            return [None]
        name = self.augment.perturbation
        return [{"perturbation": name, "level": level} for level in self.augment.levels]


class Progress(Protocol):
    """Shown while models are trained."""

    def step(self, note: str = "") -> None:
        """One more model is done."""

    def __enter__(self) -> Progress: ...

    def __exit__(self, *unused: object) -> None: ...


def build(
    root: Path, plan: Plan, workers: int, progress: Callable[[int, str], Progress]
) -> list[Outcome]:
    """Builds what is missing and returns the jobs that failed.

    `progress(count, "models")` is entered before the first of `count` models is trained.
    """
    zoo = Zoo(root)
    jobs = plan.jobs()
    with zoo.locked():
        _check_settings(zoo, plan)
        zoo.set_task(plan.task, plan.settings())
        zoo.write_data(plan.task, plan.data)
        done = zoo.records(plan.task)
        jobs = [job for job in jobs if job.model not in done]
        failed = []
        with progress(len(jobs), "models") as shown:
            for outcome in run_jobs(jobs, Place(zoo.root, plan.task, plan.threads), workers):
                shown.step(f"model_{outcome.job.model}")
                if outcome.problem:
                    failed.append(outcome)
        zoo.write_references(plan.task)
    return failed


def _check_settings(zoo: Zoo, plan: Plan) -> None:
    known = zoo.tasks().get(plan.task)
    if known is None:
        if zoo.task_folder(plan.task).exists():
            raise ZooError(f"{zoo.task_folder(plan.task)}: exists and was not built by `pgdl zoo`")
        return
    differences = _differences(known, plan.settings())
    if differences:
        raise ZooError(
            f"{zoo.root}: task {plan.task!r} was built with other settings "
            f"({'; '.join(differences)}). Give the same ones to go on with it, another --task to "
            "put a second task beside it, or another folder"
        )


def _differences(known: Mapping[str, Any], asked: Mapping[str, Any]) -> list[str]:
    return [
        f"{name}: {known.get(name)!r} there, {asked.get(name)!r} now"
        for name in {**known, **asked}
        if name != "source" and known.get(name) != asked.get(name)
    ]


def _seed(base: int, cell: int, repeat: int) -> int:
    """A seed for one model that is unlike those of all others; 31 bits, for TensorFlow's int32."""
    return int(np.random.SeedSequence([base, cell, repeat]).generate_state(1)[0] >> 1)
