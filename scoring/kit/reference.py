"""The reference of a task: the hyperparameters, accuracies and gaps of its models.

`model_configs.json` holds, per model, each hyperparameter's `possible_values` and `current_value`
and the metrics `train_acc` and `test_acc`. A `Reference` is that file as arrays, checked: whatever
could make a wrong score without a word is a `ScoringError` that names file, model and value.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from scoring.errors import ScoringError
from scoring.files import is_finite_number, is_junk, model_name, read_json_object, short

FILE_NAME = "model_configs.json"


@dataclass(frozen=True, eq=False)
class Reference:
    """The models of one task, in the order of their file."""

    task: str
    ids: tuple[str, ...]  # model_<id>
    hparams: tuple[str, ...]
    values: tuple[tuple[Any, ...], ...]  # per hyperparameter, its possible values in order
    codes: npt.NDArray[np.intp]  # [models, hparams]: numbers of the current values
    train_acc: npt.NDArray[np.float64]  # [models]
    test_acc: npt.NDArray[np.float64]  # [models]

    @property
    def gap(self) -> npt.NDArray[np.float64]:
        """The generalization gap of each model [models]."""
        return self.train_acc - self.test_acc

    @property
    def sizes(self) -> tuple[int, ...]:
        """The number of possible values of each hyperparameter."""
        return tuple(map(len, self.values))

    @cached_property
    def missing_cells(self) -> tuple[dict[str, Any], ...]:
        """The cells of the grid without a model, each as {hyperparameter: value}."""
        cells = product(*map(range, self.sizes))
        return tuple(self._cell(codes) for codes in cells if codes not in self._models_in_cell)

    @cached_property
    def doubled_cells(self) -> tuple[tuple[dict[str, Any], tuple[str, ...]], ...]:
        """The cells with several models (repeats, in all but the seed), with those models' ids."""
        rows = list(map(tuple, self.codes.tolist()))
        return tuple(
            (self._cell(cell), tuple(name for name, row in zip(self.ids, rows) if row == cell))
            for cell, models in self._models_in_cell.items()
            if models > 1
        )

    @property
    def is_complete(self) -> bool:
        """True if every cell of the grid has a model."""
        return len(self._models_in_cell) == math.prod(self.sizes)

    @cached_property
    def _models_in_cell(self) -> Counter[tuple[int, ...]]:
        return Counter(map(tuple, self.codes.tolist()))

    def _cell(self, codes: tuple[int, ...]) -> dict[str, Any]:
        return {name: values[code] for name, values, code in zip(self.hparams, self.values, codes)}


def find_references(folder: str | Path) -> dict[str, Path]:
    """The `model_configs.json` of every task in a folder, by task name in sorted order.

    The tasks may stand in `reference_data/` or, in a corpus, in `input_data/`. A folder with a
    `model_configs.json` of its own is a single task.
    """
    folder = Path(folder)
    if not folder.is_dir():
        raise ScoringError(f"there is no folder {folder}")
    if (folder / FILE_NAME).is_file():
        return {folder.resolve().name: folder / FILE_NAME}
    inside = (folder / name for name in ("reference_data", "input_data"))
    root = next((path for path in inside if path.is_dir()), folder)
    tasks = sorted(path for path in root.iterdir() if not is_junk(path))
    found = {path.name: path / FILE_NAME for path in tasks if (path / FILE_NAME).is_file()}
    if not found:
        raise ScoringError(f"{root} has no task: expected {FILE_NAME} or <task>/{FILE_NAME} in it")
    return found


def read_reference(path: str | Path, task: str | None = None) -> Reference:
    """Reads and checks one `model_configs.json`; the task's name is its folder's if not given."""
    path = Path(path)
    models = _models(path)
    first = next(iter(models))
    hparams = {
        name: _possible_values(spec, f"{path}: {first}: hyperparameter {name!r}")
        for name, spec in _section(models[first], "hparams", f"{path}: {first}").items()
    }
    codes, metrics = [], []
    for model, config in models.items():
        where = f"{path}: {model}"
        current = _section(config, "hparams", where)
        if set(current) != set(hparams):
            raise ScoringError(
                f"{where} has the hyperparameters {sorted(current)}, but {first} has "
                f"{sorted(hparams)}"
            )
        codes.append(
            [
                _code(current[name], values, f"{where}: hyperparameter {name!r}")
                for name, values in hparams.items()
            ]
        )
        recorded = _section(config, "metrics", where)
        metrics.append([_metric(recorded, name, where) for name in ("train_acc", "test_acc")])
    train_acc, test_acc = np.array(metrics, dtype=np.float64).T
    return Reference(
        task=task if task is not None else path.resolve().parent.name,
        ids=tuple(models),
        hparams=tuple(hparams),
        values=tuple(map(tuple, hparams.values())),
        codes=np.array(codes, dtype=np.intp).reshape(len(models), len(hparams)),
        train_acc=train_acc,
        test_acc=test_acc,
    )


def _models(path: Path) -> dict[str, Any]:
    content = read_json_object(path)
    if not content:
        raise ScoringError(f"{path} names no model")
    models: dict[str, Any] = {}
    for key, config in content.items():
        if model_name(key) in models:
            raise ScoringError(f"{path}: {model_name(key)} occurs twice")
        models[model_name(key)] = config
    return models


def _section(config: Any, name: str, where: str) -> dict[str, Any]:
    section = config.get(name) if isinstance(config, dict) else None
    if not isinstance(section, dict):
        raise ScoringError(f"{where} has no {name!r}; found {short(config)}")
    return section


def _possible_values(spec: Any, where: str) -> list[Any]:
    values = spec.get("possible_values") if isinstance(spec, dict) else None
    if not isinstance(values, list) or not values:
        raise ScoringError(f"{where} has no list of 'possible_values'; found {short(spec)}")
    return values


def _code(spec: Any, values: list[Any], where: str) -> int:
    """The number of the current value; "512" and 512.0 are 512 if nothing matches exactly."""
    if not isinstance(spec, dict) or "current_value" not in spec:
        raise ScoringError(f"{where} has no 'current_value'; found {short(spec)}")
    value = spec["current_value"]
    for same in (_identical, _equal_as_numbers, _equal_as_text):
        for code, possible in enumerate(values):
            if same(possible, value):
                return code
    raise ScoringError(f"{where} has the value {short(value)}, which is not among {values}")


def _identical(a: Any, b: Any) -> bool:
    return type(a) is type(b) and bool(a == b)


def _equal_as_numbers(a: Any, b: Any) -> bool:
    try:
        return float(a) == float(b)
    except (TypeError, ValueError):
        return False


def _equal_as_text(a: Any, b: Any) -> bool:
    return str(a) == str(b)


def _metric(metrics: dict[str, Any], name: str, where: str) -> float:
    if name not in metrics:
        raise ScoringError(f"{where} has no metric {name!r}; found {sorted(metrics)}")
    value = metrics[name]
    if not is_finite_number(value):
        raise ScoringError(f"{where}: {name} is {short(value)}, not a finite number")
    return float(value)
