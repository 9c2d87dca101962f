"""A build: the data, every model of the grid that is missing, the references.

The settings of a build stay with the zoo. An interrupted build continues when
it is started again with the same settings, and is refused with others: models of one task must
differ by their hyperparameters only.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from ingestion.datasets.arrays import Data
from ingestion.errors import ZooError
from ingestion.zoo.architectures import network_config
from ingestion.zoo.augment import Augment
from ingestion.zoo.grid import Grid, Settings
from ingestion.zoo.jobs import Job, Outcome, Place
from ingestion.zoo.layout import Zoo
from ingestion.zoo.workers import run_jobs


@dataclass(frozen=True)
class Plan:
    """One task of a zoo: what is built from what."""

    task: str
    sources: Mapping[str, str]  # of the data, by name
    data: Mapping[str, Data]  # by name; all of one shape
    grid: Grid
    seed: int = 0
    threads: int = 1
    augment: Augment | None = None  # the data's test images are then perturbed already
    eps: int | None = None  # of the rescaled protocol, by which the data is made already

    def settings(self) -> dict[str, Any]:
        """What decides the result, as JSON; data is identified by its content; `source` and
        `scale` are for the reader."""
        fingerprints = [data.fingerprint() for data in self.datasets.values()]
        settings = {
            "source": ", ".join(self.sources.values()),
            "data": fingerprints if len(fingerprints) > 1 else fingerprints[0],
            "scale": next(iter(self.datasets.values())).scale,
            "seed": self.seed,
            "repeats": self.grid.repeats,
            "threads": self.threads,
            "augment": asdict(self.augment) if self.augment else None,
            "eps": self.eps,
            **{f"grid.{n}": value for n, value in asdict(self.grid).items() if n != "repeats"},
        }
        return json.loads(json.dumps(settings))

    @cached_property
    def datasets(self) -> dict[str, Data]:
        """The task's data sets: one for each data and number of training examples."""
        return {name: data for name, data in self._datasets.values()}

    @cached_property
    def _datasets(self) -> dict[tuple[str, int | None], tuple[str, Data]]:
        found: dict[tuple[str, int | None], tuple[str, Data]] = {}
        for cell in self.grid.cells():
            key = self._data_key(self.grid.settings(cell))
            if key not in found:
                data = self.data[key[0]].limited(key[1], None)
                if key[1] is not None and len(data.train) < key[1]:
                    raise ZooError(
                        f"train_examples is {key[1]}; the data {key[0]} has {len(data.train)}"
                    )
                if self.grid.validation:
                    data = data.held_out(self.grid.validation)
                found[key] = f"dataset_{len(found) + 1}", data
        return found

    def _data_key(self, settings: Settings) -> tuple[str, int | None]:
        name = settings.data if settings.data is not None else next(iter(self.data))
        in_lists = "train_examples" in self.grid.hparams
        return name, settings.train_examples if in_lists else None

    @property
    def can_be_scored(self) -> bool:
        """Whether some models agree in two hyperparameters, within which the score compares."""
        varying = [name for name, values in self.grid.hparams.items() if len(values) > 1]
        return len(self.jobs) > len(self.grid.cells()) or len(varying) > 2

    @cached_property
    def jobs(self) -> list[Job]:
        """One per cell, repeat and augmentation; those that are compiled alike stand together.

        Raises where a network cannot be made.
        """
        jobs: list[Job] = []
        for i, cell in enumerate(self.grid.cells()):
            settings = self.grid.settings(cell)
            key = self._data_key(settings)
            config = self._config(settings, *self._datasets[key])
            for repeat, augment in itertools.product(range(self.grid.repeats), self._levels()):
                jobs.append(
                    Job(
                        model=len(jobs),
                        repeat=repeat,
                        seed=_seed(self.seed, i, repeat),
                        hparams=cell,
                        config=config,
                        architecture=settings.architecture,
                        data=key[0],
                        training=settings.training,
                        max_epochs=self.grid.max_epochs,
                        target=self.grid.target,
                        augment=augment,
                    )
                )
        return sorted(jobs, key=lambda job: (*job.compiled, job.model))

    def _config(self, settings: Settings, dataset: str, data: Data) -> dict[str, Any]:
        config = network_config(settings.architecture, data.shape, data.classes, settings.network)
        return {**config, "dataset": dataset} if len(self._datasets) > 1 else config

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
    jobs = plan.jobs
    with zoo.locked():
        _check_settings(zoo, plan)
        zoo.set_task(plan.task, plan.settings())
        for dataset, data in plan.datasets.items():
            zoo.write_data(plan.task, data, dataset)
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
        zoo.check_new(plan.task)
        return
    differences = _differences(_with_defaults(known), plan.settings())
    if differences:
        raise ZooError(
            f"{zoo.root}: task {plan.task!r} was built with other settings "
            f"({'; '.join(differences)}). Give the same settings to continue it, another "
            "--task to add a second task, or another folder"
        )


def _with_defaults(known: Mapping[str, Any]) -> dict[str, Any]:
    """The settings of an older zoo, with defaults for what grids did not have then."""
    new = {"grid.validation": 0.0}
    return {**new, **known}


def _differences(known: Mapping[str, Any], asked: Mapping[str, Any]) -> list[str]:
    return [
        f"{name}: built with {known.get(name)!r}, now {asked.get(name)!r}"
        for name in {**known, **asked}
        if name not in ("source", "scale") and known.get(name) != asked.get(name)
    ]


def _seed(base: int, cell: int, repeat: int) -> int:
    """A seed for one model that is unlike those of all others; 31 bits, for TensorFlow's int32."""
    return int(np.random.SeedSequence([base, cell, repeat]).generate_state(1)[0] >> 1)
