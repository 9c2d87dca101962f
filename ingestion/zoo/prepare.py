"""From what a user asks for to a plan: the grid, its data, and how both are changed."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from ingestion.datasets.arrays import Data, of_one_shape
from ingestion.datasets.sources import load_source, source_name
from ingestion.errors import ZooError
from ingestion.zoo.augment import CROPS, parse_augment, with_perturbed_test
from ingestion.zoo.build import Plan
from ingestion.zoo.grid import Grid, parse_grid
from ingestion.zoo.layout import Zoo
from ingestion.zoo.presets import PRESETS, find_grid
from ingestion.zoo.rescaled import rescaled

_NO_SCORE = (
    "the competition's score will not be defined, which compares networks that agree in two "
    "hyperparameters; vary a third one, or train several networks per cell (--repeats 2)"
)


@dataclass(frozen=True)
class Order:
    """What to build; None leaves it to the grid."""

    grid: str  # the name of a preset, or a JSON file
    data: Sequence[str] = ()  # SOURCE or NAME=SOURCE
    size: str = "full"
    task: str | None = None
    width_scale: float | None = None
    target: Mapping[str, float] = field(default_factory=dict)
    max_epochs: int | None = None
    train_examples: int | None = None
    test_examples: int | None = None
    repeats: int | None = None
    image_size: int | None = None
    scale: str = "unit"  # of images that are bytes; or "none"
    augment: str | None = None  # PERTURBATION[:LEVELS]
    eps: int | None = None  # of the rescaled protocol, where that is asked for
    seed: int = 0
    threads: int = 1


def prepare(order: Order, root: Path) -> tuple[Plan, list[str]]:
    """The plan for a zoo in `root`, and what the user should know of it."""
    return prepare_grid(*find_grid(order.grid, order.size), order, root)


def prepare_grid(name: str, grid: Grid, order: Order, root: Path) -> tuple[Plan, list[str]]:
    """The same for a grid at hand, of that name."""
    grid = _changed(grid, order)
    sources = parse_sources(order.data)
    grid, sources = _with_data(grid, sources)
    augment = parse_augment(order.augment) if order.augment else None
    if (augment or order.eps) and any(
        grid.settings(cell).training["augmentation"] != "none" for cell in grid.cells()
    ):
        raise ZooError(
            f"grid {order.grid} has an augmentation of its own; leave --augment and --protocol out"
        )
    data, notes = _load(sources, grid, order)
    if augment is not None:
        name_there, seed = augment.perturbation, order.seed
        data = {n: with_perturbed_test(one, name_there, seed) for n, one in data.items()}
    perturbed_by = augment.name if augment else None
    if order.eps is not None:
        data, augment = {n: rescaled(one, eps=order.eps) for n, one in data.items()}, CROPS
    task = order.task or _task_name(name, list(sources), perturbed_by, root)
    plan = Plan(task, sources, data, grid, order.seed, order.threads, augment, order.eps)
    if not plan.can_be_scored:
        notes.append(_NO_SCORE)
    return plan, notes


def _load(
    sources: Mapping[str, str], grid: Grid, order: Order
) -> tuple[dict[str, Data], list[str]]:
    """As much of each data set as the grid asks for, all of one shape, and notes on them."""
    loaded, notes = {}, []
    for name, source in sources.items():
        data = load_source(source, order.image_size, scale=order.scale)
        for part, split, asked in (
            ("training", data.train, grid.train_examples),
            ("test", data.test, grid.test_examples),
        ):
            if asked is not None and asked > len(split):
                notes.append(f"{name} has {len(split):,} {part} examples; {asked:,} are asked for")
        loaded[name] = data.limited(grid.train_examples, grid.test_examples)
    common, padded = of_one_shape(loaded)
    return common, notes + padded


def parse_sources(texts: Sequence[str]) -> dict[str, str]:
    """Sources by their names: `NAME=SOURCE`, or a source, which has a name of its own."""
    found: dict[str, str] = {}
    for text in texts:
        named = re.fullmatch(r"([\w.-]+)=(.+)", text)
        name, source = named.groups() if named else (source_name(text), text)
        if name in found:
            raise ZooError(f"--data has the name {name!r} twice; give names: NAME=SOURCE")
        found[name] = source
    return found


def _with_data(grid: Grid, sources: Mapping[str, str]) -> tuple[Grid, dict[str, str]]:
    """Several data sets are a hyperparameter; a grid may name them itself."""
    named = grid.hparams.get("data")
    if named is not None:
        unknown = [name for name in sources if name not in named]
        if unknown:
            raise ZooError(f"--data {unknown[0]} is none of the grid's: {', '.join(named)}")
        return grid, {name: sources.get(name, name) for name in named}
    if not sources:
        raise ZooError("give --data: the grid names no data set")
    if len(sources) > 1:
        grid = replace(grid, hparams={"data": list(sources), **grid.hparams})
    return grid, dict(sources)


def _changed(grid: Grid, order: Order) -> Grid:
    if order.width_scale is not None:
        grid = grid.scaled(order.width_scale)
    grid = replace(
        grid,
        target=order.target or grid.target,
        max_epochs=order.max_epochs or grid.max_epochs,
        train_examples=order.train_examples or grid.train_examples,
        test_examples=order.test_examples or grid.test_examples,
        repeats=order.repeats or grid.repeats,
    )
    return parse_grid(vars(grid), f"grid {order.grid}")


def _task_name(grid: str, data: list[str], perturbation: str | None, root: Path) -> str:
    """A name that tells the tasks of a zoo apart; a grid file continues the only task."""
    if perturbation:
        return "_".join([*data, grid, perturbation]) if grid in PRESETS else perturbation
    tasks = list(Zoo(root).tasks())
    return tasks[0] if len(tasks) == 1 and grid not in PRESETS else grid
