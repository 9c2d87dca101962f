"""How long a build takes at most: training steps of every network are timed on this machine.

Training ends when a network meets its target, which is not known before; so the estimate is for all
epochs that are allowed. Each network is compiled and trained for one epoch of a few batches, with
the augmentation of the build, and evaluated as a build evaluates it after each epoch.
"""

from __future__ import annotations

import json
from collections import defaultdict
from dataclasses import dataclass, replace
from time import perf_counter

import tensorflow as tf

from ingestion.zoo.build import Plan
from ingestion.zoo.jobs import Job
from ingestion.zoo.standard import augmentation_of
from ingestion.zoo.training import Recipe, Target, Trainer

_LARGEST_BATCH = 128  # of the steps that are timed: larger ones take as long per example
_BATCHES = 2
_REPEATS = 3  # the fastest counts: other programs only slow a run down


@dataclass(frozen=True)
class NetworkCost:
    """The networks of a plan that are alike in all but their training."""

    name: str
    parameters: int
    models: int
    compile_seconds: float
    example_seconds: float  # of one training example in one epoch
    seconds: float  # of all of these models, at most


def alike(plan: Plan) -> list[list[Job]]:
    """The models of a plan, those of one network together."""
    groups: dict[str, list[Job]] = defaultdict(list)
    for job in plan.jobs:
        network = {name: part for name, part in job.config.items() if name != "dataset"}
        groups[json.dumps(network)].append(job)
    return list(groups.values())


def cost_of(plan: Plan, jobs: list[Job]) -> NetworkCost:
    """What the models of one network cost, timed now."""
    sizes = {name: len(data.train) for name, data in plan.datasets.items()}
    first = next(filter(_is_augmented, jobs), jobs[0])
    batch = min(_LARGEST_BATCH, *(job.training["batch_size"] for job in jobs))
    split = next(iter(plan.datasets.values())).train
    images, labels = split.images[: _BATCHES * batch], split.labels[: _BATCHES * batch]
    start = perf_counter()
    optimizer = first.training["optimizer"]
    change = augmentation_of(first, images)
    trainer = Trainer(first.config, images, labels, batch, change, optimizer)
    recipe = Recipe(seed=0, learning_rate=1e-6, weight_decay=0.0, max_epochs=1, target=_NEVER)
    trainer.train(recipe)  # compiles
    compiled = perf_counter() - start
    # What a training costs besides its epochs (new weights, the last evaluation) is apart: on few
    # batches it takes longer than they do.
    per_training = _seconds(trainer, replace(recipe, max_epochs=0))
    per_example = max(0.0, _seconds(trainer, recipe) - per_training) / len(images)
    compilations = len({job.compiled for job in jobs})
    examples = sum(sizes[job.dataset] * job.max_epochs for job in jobs)
    parameters = sum(int(tf.size(weight)) for weight in trainer.model.trainable_weights)
    return NetworkCost(
        _name(plan, first),
        parameters,
        len(jobs),
        compiled,
        per_example,
        compilations * compiled + len(jobs) * per_training + examples * per_example,
    )


def _seconds(trainer: Trainer, recipe: Recipe) -> float:
    """The fastest of some trainings."""
    times = []
    for _ in range(_REPEATS):
        start = perf_counter()
        trainer.train(recipe)
        times.append(perf_counter() - start)
    return min(times)


def _is_augmented(job: Job) -> bool:
    level = job.augment["level"] if job.augment else job.training["augmentation"]
    return level != "none"


_NEVER = Target(loss=0.0)  # is not met, so that the whole set is evaluated once


def _name(plan: Plan, job: Job) -> str:
    network = plan.grid.settings(dict(job.hparams)).network
    values = (f"{n}={v:g}" if isinstance(v, float) else f"{n}={v}" for n, v in network.items())
    return " ".join([job.architecture, *values])
