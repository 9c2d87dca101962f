"""A grid of networks: one architecture, lists of hyperparameters, and when training ends.

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
are the same for all. Names are those of the architecture (see `architectures`) and `learning_rate`,
`batch_size`, `weight_decay`. `target` may have `accuracy`, `loss` or both. `fixed`, `target`,
`max_epochs` and the numbers of examples may be left out.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from ingestion.errors import ZooError
from ingestion.zoo.architectures import architecture, hyperparameters
from pgdl_measures.errors import UnknownNameError
from scoring.files import parse_json

Value = Any  # of a hyperparameter: a number, a text or a truth value
Cell = dict[str, Value]

TRAINING = {"learning_rate": 0.001, "batch_size": 32, "weight_decay": 0.0}  # and their defaults
_TARGET = {"accuracy": 0.995}
_WIDTHS = {"width": 1, "dense_units": 1, "parameters": 2}  # and the power they grow with
_OBJECTS = ("hparams", "fixed", "target")


@dataclass(frozen=True)
class Grid:
    """What is trained; made by `parse_grid`, which checks it."""

    architecture: str
    hparams: Mapping[str, list[Value]]
    fixed: Cell = field(default_factory=dict)
    target: Mapping[str, float] = field(default_factory=lambda: dict(_TARGET))
    max_epochs: int = 200
    train_examples: int | None = None
    test_examples: int | None = None

    def cells(self) -> list[Cell]:
        """Every combination of the hyperparameters, the last one changing fastest."""
        return [dict(zip(self.hparams, v)) for v in itertools.product(*self.hparams.values())]

    def settings(self, cell: Cell) -> tuple[Cell, Cell]:
        """All hyperparameters of a cell: those of the architecture, and those of training."""
        values = {**TRAINING, **self.fixed, **cell}
        training = {name: values.pop(name) for name in TRAINING}
        return values, training

    def config(self, cell: Cell, shape: tuple[int, ...], classes: int) -> dict[str, Any]:
        """The `config.json` of a cell's network."""
        hparams = self.settings(cell)[0]
        try:
            layers = architecture(self.architecture)(shape, classes, **hparams)
        except (TypeError, ValueError) as error:
            raise ZooError(f"there is no {self.architecture} with {hparams} ({error})") from error
        return {"model_config": layers, "input_shape": list(shape)}

    def scaled(self, scale: float) -> Grid:
        """The same grid of narrower (or wider) networks: widths that it names are multiplied, or
        else all published widths of its architecture."""

        def apply(name: str, value: Value) -> Value:
            return max(1, round(value * scale ** _WIDTHS[name])) if name in _WIDTHS else value

        hparams = {name: [apply(name, v) for v in values] for name, values in self.hparams.items()}
        fixed = {name: apply(name, v) for name, v in self.fixed.items()}
        if not _WIDTHS.keys() & {*hparams, *fixed}:
            if "width_scale" not in hyperparameters(self.architecture):
                raise ZooError(f"{self.architecture} has no width that this grid could scale")
            fixed["width_scale"] = scale * fixed.get("width_scale", 1.0)
        return parse_grid(replace(self, hparams=hparams, fixed=fixed).__dict__, "the scaled grid")


def parse_grid(entry: Any, where: str) -> Grid:
    """A grid from parsed JSON; `where` is named in errors."""
    if not isinstance(entry, dict) or not {"architecture", "hparams"} <= entry.keys():
        raise ZooError(f"{where}: a grid has `architecture` and `hparams`, found {_keys(entry)}")
    for name in entry:
        if name not in Grid.__dataclass_fields__:
            raise UnknownNameError(f"entry of {where}", name, Grid.__dataclass_fields__)
    for name, kind in (("architecture", str), *((part, dict) for part in _OBJECTS)):
        if not isinstance(entry.get(name, kind()), kind):
            noun = "a name" if kind is str else "an object"
            raise ZooError(f"{where}: `{name}` is {_keys(entry[name])}; expected {noun}")
    grid = Grid(**entry)
    _check_hyperparameters(grid, where)
    for name, value in grid.target.items():
        if name not in ("accuracy", "loss"):
            raise UnknownNameError(f"target of {where}", name, ("accuracy", "loss"))
        if not _is_number(value) or value <= 0 or (name == "accuracy" and value > 1):
            raise ZooError(f"{where}: the target {name} is {value!r}; expected e.g. 0.995")
    if not isinstance(grid.max_epochs, int) or grid.max_epochs < 1:
        raise ZooError(f"{where}: max_epochs is {grid.max_epochs!r}; expected a positive integer")
    return grid


def read_grid(path: Path) -> Grid:
    """The grid of a JSON file."""
    if not path.is_file():
        raise ZooError(f"{path}: no such file; a grid is the name of a preset or a JSON file")
    try:
        return parse_grid(parse_json(path.read_bytes()), str(path))
    except (OSError, ValueError) as error:
        raise ZooError(f"{path}: is not JSON ({error})") from error


def _check_hyperparameters(grid: Grid, where: str) -> None:
    known = hyperparameters(grid.architecture)
    for name in (*grid.hparams, *grid.fixed):
        if name not in known and name not in TRAINING:
            raise UnknownNameError(f"hyperparameter of {where}", name, (*known, *TRAINING))
    for name, values in grid.hparams.items():
        if not isinstance(values, list) or not values:
            raise ZooError(f"{where}: {name} is {values!r}; expected a list of its values")
        if len(set(map(repr, values))) < len(values):
            raise ZooError(f"{where}: {name} has a value twice: {values}")
    for name in TRAINING:
        for value in grid.hparams.get(name, [grid.fixed.get(name, TRAINING[name])]):
            whole = name == "batch_size"
            if not _is_number(value) or value < whole or (whole and not isinstance(value, int)):
                raise ZooError(f"{where}: {name} is {value!r}; expected e.g. {TRAINING[name]}")
    both = sorted(set(grid.hparams) & set(grid.fixed))
    missing = [name for name, needed in known.items() if needed]
    missing = [name for name in missing if name not in grid.hparams and name not in grid.fixed]
    if both or missing:
        problem = f"both a list and fixed: {both}" if both else f"missing: {', '.join(missing)}"
        raise ZooError(f"{where}: hyperparameters of {grid.architecture} that are {problem}")


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _keys(entry: Any) -> str:
    return ", ".join(map(str, entry)) if isinstance(entry, dict) else repr(entry)
