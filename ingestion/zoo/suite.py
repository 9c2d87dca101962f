"""A suite: several tasks that are built into one corpus, as a data file says (`suites/*.json`).

    {
      "data": {"cifar10": {"file": "cifar10_16k.npz", "tfds": "cifar10"}, "digits": {}},
      "tasks": {"mini1": {"data": "cifar10", "image_size": 16, "grid": {...}, "after": "task 1"}}
    }

Data is the file of that name in a folder of the user's or, without a folder, the TFDS data set;
digits come with scikit-learn. A grid is as in a grid file (`grid`), or the name of a preset.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ingestion.errors import ZooError
from ingestion.zoo.build import Plan
from ingestion.zoo.grid import Grid, parse_grid
from ingestion.zoo.layout import Zoo
from ingestion.zoo.prepare import Order, prepare_grid
from ingestion.zoo.presets import find_grid
from pgdl_measures.errors import UnknownNameError
from scoring.files import parse_json

_FOLDER = Path(__file__).with_name("suites")
SUITES = tuple(sorted(path.stem for path in _FOLDER.glob("*.json")))
_ENTRIES = ("after", "data", "image_size", "grid")


@dataclass(frozen=True)
class SuiteTask:
    """One task: its networks and where their data comes from."""

    name: str
    after: str  # which task of the competition it follows
    grid: Grid
    data: str
    file: str | None  # in the user's folder; None for digits, which need none
    tfds: str | None
    image_size: int | None

    def source(self, folder: Path | None) -> str:
        """The data as `--data` takes it."""
        if self.file is None:
            return self.data
        if folder is None:
            return f"{self.data}=tfds:{self.tfds}"
        path = folder / self.file
        if not path.is_file():
            raise ZooError(
                f"{path}: no such file, which task {self.name} needs (arrays x_train, y_train, "
                f"x_test, y_test); without --data-dir it comes from tfds:{self.tfds}"
            )
        return f"{self.data}=npz:{path}"

    @property
    def models(self) -> int:
        """How many networks it has."""
        return len(self.grid.cells()) * self.grid.repeats


def read_suite(name: str) -> list[SuiteTask]:
    """The tasks of a suite by name, or of a JSON file."""
    path = _FOLDER / f"{name}.json" if name in SUITES else Path(name)
    if not path.is_file():
        raise UnknownNameError("suite", name, SUITES)
    try:
        content = parse_json(path.read_bytes())
    except (OSError, ValueError) as error:
        raise ZooError(f"{path}: is not JSON ({error})") from error
    for part in ("data", "tasks"):
        if not isinstance(content, dict) or not isinstance(content.get(part), dict):
            raise ZooError(f"{path}: a suite is an object of the objects `data` and `tasks`")
    tasks, data = content["tasks"], content["data"]
    return [_task(task, entry, data, f"{path.name}: {task}") for task, entry in tasks.items()]


def plans(
    suite: list[SuiteTask], root: Path, folder: Path | None, seed: int, threads: int
) -> Iterator[tuple[SuiteTask, Plan, list[str]]]:
    """What is to be built for each task, with notes on its data; one task's data at a time."""
    for task in suite:
        task.source(folder)  # all files are there before the first network is trained
    for task in suite:
        order = Order(
            grid=task.name,
            data=[task.source(folder)],
            task=task.name,
            image_size=task.image_size,
            seed=seed,
            threads=threads,
        )
        yield (task, *prepare_grid(task.name, task.grid, order, root))


def state(suite: list[SuiteTask], root: Path) -> list[list[object]]:
    """A row per task: its name, trained of all models, those that fit, and the range of gaps."""
    zoo, rows = Zoo(root), []
    for task in suite:
        records = list(zoo.records(task.name).values())
        fit = sum(bool(record.get("reached_target")) for record in records)
        known = [r["metrics"] for r in records if r["metrics"].get("test_acc") is not None]
        gaps = [metrics["train_acc"] - metrics["test_acc"] for metrics in known]
        span = f"{100 * min(gaps):.1f} to {100 * max(gaps):.1f} %" if gaps else ""
        trained = f"{len(records)} of {task.models}"
        rows.append([task.name, trained, fit, span, task.data, task.after])
    return rows


def _task(name: str, entry: Any, data: Mapping[str, Any], where: str) -> SuiteTask:
    if not isinstance(entry, dict) or not {"data", "grid"} <= entry.keys():
        raise ZooError(f"{where}: a task has `data` and `grid`")
    for key in entry:
        if key not in _ENTRIES:
            raise UnknownNameError(f"entry of {where}", key, _ENTRIES)
    used, grid, size = entry["data"], entry["grid"], entry.get("image_size")
    if not isinstance(used, str) or used not in data:
        raise UnknownNameError(f"data of {where}", str(used)[:80], data)
    source = data[used]
    if not isinstance(source, dict) or not all(isinstance(v, str) for v in source.values()):
        raise ZooError(f"{where}: data {used!r} is {str(source)[:80]}; expected `file` and `tfds`")
    if size is not None and (type(size) is not int or size < 1):
        raise ZooError(f"{where}: image_size is {str(size)[:80]}; expected a number of pixels")
    return SuiteTask(
        name=name,
        after=str(entry.get("after", "")),
        grid=find_grid(grid)[1] if isinstance(grid, str) else parse_grid(grid, where),
        data=used,
        file=source.get("file"),
        tfds=source.get("tfds"),
        image_size=size,
    )
