"""A grid of networks: architectures, lists of hyperparameters, how and how long they are trained.

As a JSON file:

    {
      "architecture": "vgg",
      "hparams": {"width": [16, 32], "blocks": [1, 3], "batch_size": [16, 64]},
      "fixed": {"learning_rate": 0.001, "dropout": 0.5},
      "target": {"accuracy": 0.995},
      "max_epochs": 200,
      "train_examples": 2000
    }

`hparams` are the lists whose every combination is trained, and what a measure is scored by; `fixed`
are the same for all. Names are those of the architecture (see `architectures`), of training
(`TRAINING`), and in `hparams` also `architecture`, `data` and `train_examples`, so that the models
of one task may differ in these. `target` may have `accuracy`, `loss` or both. `validation` is the
share of the training examples that is held out, and `repeats` the number of networks per cell.
Everything but an architecture and `hparams` may be left out.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from ingestion.errors import ZooError
from ingestion.zoo.architectures import hyperparameters
from ingestion.zoo.schedules import SCHEDULES
from pgdl_measures.errors import UnknownNameError
from scoring.files import parse_json

Value = Any  # of a hyperparameter: a number, a text or a truth value
Cell = dict[str, Value]

TRAINING: Mapping[str, Value] = {  # the hyperparameters of training and their defaults
    "learning_rate": 0.001,
    "batch_size": 32,
    "weight_decay": 0.0,
    "optimizer": "adam",
    "momentum": 0.9,
    "schedule": "steps",
    "decay_factor": 0.2,
    "milestones": [0.25, 0.5, 0.75],
    "patience": 10,
    "augmentation": "none",
}
DATA = ("data", "train_examples")
_NAMES = {"optimizer": ("adam", "sgd"), "schedule": SCHEDULES}  # by hyperparameter of training
_WHOLE = ("batch_size", "patience", "train_examples")
_TARGET = {"accuracy": 0.995}
_WIDTHS = {"width": 1, "dense_units": 1, "parameters": 2}  # and the power they grow with
_OBJECTS = ("hparams", "fixed", "target")


@dataclass(frozen=True)
class Settings:
    """Everything about the networks of one cell."""

    architecture: str
    network: Cell  # the hyperparameters of the architecture
    training: Cell
    data: str | None  # the name of the data set, where it is a hyperparameter
    train_examples: int | None


@dataclass(frozen=True)
class Grid:
    """What is trained; made by `parse_grid`, which checks it."""

    hparams: Mapping[str, list[Value]]
    architecture: str | None = None  # None where it is a hyperparameter
    fixed: Cell = field(default_factory=dict)
    target: Mapping[str, float] = field(default_factory=lambda: dict(_TARGET))
    max_epochs: int = 200
    train_examples: int | None = None
    test_examples: int | None = None
    validation: float = 0.0
    repeats: int = 1

    @property
    def architectures(self) -> list[str]:
        """All architectures that are trained."""
        if self.architecture is None:
            return self.hparams["architecture"]
        return [self.architecture]

    def cells(self) -> list[Cell]:
        """Every combination of the hyperparameters, the last one changing fastest."""
        return [dict(zip(self.hparams, v)) for v in itertools.product(*self.hparams.values())]

    def settings(self, cell: Cell) -> Settings:
        """The settings of a cell; what it leaves open comes from the grid, then from defaults."""
        values = {**TRAINING, **self.fixed, **cell}
        training = {name: values.pop(name) for name in TRAINING}
        return Settings(
            architecture=values.pop("architecture", self.architecture),
            data=values.pop("data", None),
            train_examples=values.pop("train_examples", self.train_examples),
            network=values,
            training=training,
        )

    def scaled(self, scale: float) -> Grid:
        """The same grid of narrower (or wider) networks: widths that it names are multiplied, or
        else all published widths of its architectures."""

        def apply(name: str, value: Value) -> Value:
            return max(1, round(value * scale ** _WIDTHS[name])) if name in _WIDTHS else value

        hparams = {name: [apply(name, v) for v in values] for name, values in self.hparams.items()}
        fixed = {name: apply(name, v) for name, v in self.fixed.items()}
        if not _WIDTHS.keys() & {*hparams, *fixed}:
            for name in self.architectures:
                if "width_scale" not in (hyperparameters(name) or {}):
                    raise ZooError(f"{name} has no width that this grid could scale")
            # As people write it: 0.1 times 0.05 is 0.005, not 0.005000000000000001.
            fixed["width_scale"] = float(f"{scale * fixed.get('width_scale', 1.0):.6g}")
        return parse_grid(replace(self, hparams=hparams, fixed=fixed).__dict__, "the scaled grid")


def parse_grid(entry: Any, where: str) -> Grid:
    """A grid from parsed JSON; `where` is named in errors."""
    if not isinstance(entry, dict) or not isinstance(entry.get("hparams"), dict):
        raise ZooError(f"{where}: a grid has `architecture` and `hparams`, found {_keys(entry)}")
    for name in entry:
        if name not in Grid.__dataclass_fields__:
            raise UnknownNameError(f"entry of {where}", name, Grid.__dataclass_fields__)
    for name, kind in (("architecture", str), *((part, dict) for part in _OBJECTS)):
        expected = (str, type(None)) if kind is str else kind
        if not isinstance(entry.get(name, kind()), expected):
            noun = "a name" if kind is str else "an object"
            raise ZooError(f"{where}: `{name}` is {_keys(entry[name])}; expected {noun}")
    grid = Grid(**entry)
    named = [grid.architecture is not None, "architecture" in grid.hparams]
    if sum(named) != 1:
        found = "both" if all(named) else f"neither, but {_keys(entry)}"
        raise ZooError(
            f"{where}: give `architecture` or a list of them in `hparams`, found {found}"
        )
    _check_values(grid, where)
    _check_training(grid, where)
    for architecture in grid.architectures:
        _check_architecture(grid, architecture, where)
    _check_rest(grid, where)
    return grid


def read_grid(path: Path) -> Grid:
    """The grid of a JSON file."""
    if not path.is_file():
        raise ZooError(f"{path}: no such file; a grid is the name of a preset or a JSON file")
    try:
        return parse_grid(parse_json(path.read_bytes()), str(path))
    except (OSError, ValueError) as error:
        raise ZooError(f"{path}: is not JSON ({error})") from error


def _check_values(grid: Grid, where: str) -> None:
    for name, values in grid.hparams.items():
        if not isinstance(values, list) or not values:
            raise ZooError(f"{where}: {name} is {values!r}; expected a list of its values")
        if len(set(map(repr, values))) < len(values):
            raise ZooError(f"{where}: {name} has a value twice: {values}")
        if name == "train_examples":
            for value in values:
                _check_number(name, value, 1000, where)
    both = sorted(set(grid.hparams) & set(grid.fixed))
    if both:
        raise ZooError(f"{where}: hyperparameters that are both a list and fixed: {both}")
    for name in DATA:
        if name in grid.fixed:
            raise ZooError(f"{where}: {name} is in `fixed`; expected in `hparams` or beside it")


def _check_training(grid: Grid, where: str) -> None:
    from ingestion.zoo.standard import check_augmentation

    for name, default in TRAINING.items():
        for value in grid.hparams.get(name, [grid.fixed.get(name, default)]):
            if name in _NAMES:
                if value not in _NAMES[name]:
                    raise UnknownNameError(f"{name} of {where}", str(value), _NAMES[name])
            elif name == "augmentation":
                check_augmentation(value)
            elif name == "milestones":
                if not isinstance(value, list) or not all(map(_is_share, value)):
                    raise ZooError(
                        f"{where}: milestones are {value!r}; expected shares of the epochs, e.g. "
                        f"{default}"
                    )
            else:
                _check_number(name, value, default, where)


def _check_number(name: str, value: Value, example: Value, where: str) -> None:
    whole = name in _WHOLE
    if not _is_number(value) or value < whole or (whole and not isinstance(value, int)):
        raise ZooError(f"{where}: {name} is {value!r}; expected e.g. {example}")


def _check_architecture(grid: Grid, architecture: str, where: str) -> None:
    known = hyperparameters(architecture)
    if known is None:
        return
    named = [n for n in (*grid.hparams, *grid.fixed) if n not in ("architecture", *DATA)]
    for name in named:
        if name not in known and name not in TRAINING:
            raise UnknownNameError(
                f"hyperparameter of {architecture} in {where}", name, (*known, *TRAINING)
            )
    missing = [name for name, needed in known.items() if needed and name not in named]
    if missing:
        raise ZooError(
            f"{where}: hyperparameters of {architecture} that are missing: {', '.join(missing)}"
        )


def _check_rest(grid: Grid, where: str) -> None:
    for name, value in grid.target.items():
        if name not in ("accuracy", "loss"):
            raise UnknownNameError(f"target of {where}", name, ("accuracy", "loss"))
        if not _is_number(value) or value <= 0 or (name == "accuracy" and value > 1):
            raise ZooError(f"{where}: the target {name} is {value!r}; expected e.g. 0.995")
    for name in ("max_epochs", "repeats"):
        value = getattr(grid, name)
        if not isinstance(value, int) or value < 1:
            raise ZooError(f"{where}: {name} is {value!r}; expected a positive integer")
    if grid.validation != 0 and not (_is_share(grid.validation)):
        raise ZooError(f"{where}: validation is {grid.validation!r}; expected a share, e.g. 0.05")
    if grid.train_examples is not None and "train_examples" in grid.hparams:
        raise ZooError(f"{where}: train_examples is both a list in `hparams` and a number")


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _is_share(value: Any) -> bool:
    return _is_number(value) and 0 < value < 1


def _keys(entry: Any) -> str:
    return ", ".join(map(str, entry)) if isinstance(entry, dict) else repr(entry)
