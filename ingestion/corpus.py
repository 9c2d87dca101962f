"""Where things are in a corpus of trained models. Reads names, never contents.

    [input_data/]<task>/dataset_1/{train,test}/shard_*.tfrecord      and dataset_2, … in some zoos
    [input_data/]<task>/model_<id>/{config.json,weights.hdf5,weights_init.hdf5}
    [reference_data/]<task>/model_configs.json

A model of a task with several data sets names its own in its configuration (`"dataset":
"dataset_2"`). `input_data/` and `reference_data/` are optional, files that archive programs leave
are ignored, and the path of a single task is a corpus of one task.
"""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from ingestion.errors import CorpusError
from pgdl_measures.base import IMAGES, INITIAL
from pgdl_measures.errors import UnknownNameError
from scoring.files import is_junk, load_json

KERAS_CONFIG = "keras_config"  # in config.json, where `model_config` cannot say what a model is
MODEL_FILES = ("config.json", "weights.hdf5", "weights_init.hdf5")  # the last is optional
FIRST_DATASET = "dataset_1"  # the only one of a task of the competition


@dataclass(frozen=True)
class Task:
    """One data set and the models that were trained on it."""

    name: str
    folder: Path
    reference: Path | None  # model_configs.json: hyperparameters and accuracies
    model_ids: tuple[str, ...]  # "model_0", "model_1", … in the order of their numbers

    def model_folder(self, model_id: str) -> Path:
        """The folder of one model, named with or without `model_`."""
        known = model_id if model_id in self.model_ids else f"model_{model_id}"
        if known not in self.model_ids:
            raise UnknownNameError(f"model of task {self.name}", model_id, self.model_ids)
        return self.folder / known

    def offers(self) -> frozenset[str]:
        """What not every task has and some measures need: images and initial weights. Inputs are
        read from the first model."""
        found = set()
        with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
            config = load_json(self.folder / self.model_ids[0] / "config.json")
            if len(config["input_shape"]) == 3:
                found.add(IMAGES)
        if all(os.path.isfile(self.folder / m / "weights_init.hdf5") for m in self.model_ids):
            found.add(INITIAL)
        return frozenset(found)

    @cached_property
    def datasets(self) -> tuple[str, ...]:
        """The task's data sets: `dataset_1`, and more where its models differ in their data."""
        found = natural_order(
            p for p in _entries(self.folder) if p.match("dataset_*") and p.is_dir()
        )
        return tuple(path.name for path in found) or (FIRST_DATASET,)

    def dataset_of(self, model_id: str) -> str:
        """The data set that a model was trained on."""
        if self.datasets == (FIRST_DATASET,):
            return FIRST_DATASET
        path = self.model_folder(model_id) / "config.json"
        try:
            name = load_json(path).get("dataset", FIRST_DATASET)
        except (OSError, ValueError, AttributeError):
            return self.datasets[0]  # what is wrong is said when the model is loaded
        if name not in self.datasets:
            raise CorpusError(
                path,
                f"names no data set of its task (`dataset` is {name!r}); the task has "
                f"{', '.join(self.datasets)}",
            )
        return name

    def shards(self, split: str = "train", dataset: str = FIRST_DATASET) -> list[Path]:
        """The tfrecord files of a split, in the order of their numbers."""
        return split_shards(self.folder / dataset, split)


@dataclass(frozen=True)
class Corpus:
    """All tasks below one folder."""

    root: Path
    tasks: tuple[Task, ...]

    def task(self, name: str) -> Task:
        """The task of that name."""
        for task in self.tasks:
            if task.name == name:
                return task
        raise UnknownNameError("task", name, (task.name for task in self.tasks))

    def select(self, names: str | None) -> tuple[Task, ...]:
        """The tasks of these names, separated by commas; all where none are named."""
        requested = [name.strip() for name in (names or "").split(",") if name.strip()]
        return tuple(map(self.task, requested)) if requested else self.tasks


def split_shards(dataset: Path, split: str) -> list[Path]:
    """The tfrecord files of one split of a data set, in the order of their numbers."""
    folder = dataset / split
    shards = natural_order(p for p in _entries(folder) if p.match("shard_*.tfrecord"))
    if not shards:
        raise CorpusError(folder, "has no shard_*.tfrecord; the task's data is expected here")
    return shards


def common_offers(tasks: Iterable[Task]) -> frozenset[str]:
    """What all of these tasks have of what some measures need."""
    return frozenset.intersection(*(task.offers() for task in tasks))


def is_chain(config: Mapping[str, Any]) -> bool:
    """Whether each layer of a parsed `config.json` takes the output of the one before it."""
    return KERAS_CONFIG not in config and not any("inputs" in e for e in config["model_config"])


def find_corpus(root: Path | str) -> Corpus:
    """Finds the tasks at `root`: a corpus, its `input_data/`, or a single task."""
    root = Path(root)
    if not root.is_dir():
        raise CorpusError(root, "is not a folder; give the folder that holds the tasks")
    # Without its links and dots, so that `pgdl check .` knows the task's name.
    resolved = root.resolve()
    if _looks_like_task(resolved):
        return Corpus(root, (_task(resolved, resolved.parent),))
    if (resolved / "input_data").is_dir():
        # Here every folder is a task, so an empty one is an error and not something else.
        folders = [p for p in _entries(resolved / "input_data") if p.is_dir()]
    else:
        folders = [p for p in _entries(resolved) if p.is_dir() and _looks_like_task(p)]
    if not folders:
        expected = "expected <task>/model_<id>/ and <task>/dataset_1/, as `pgdl zoo` writes"
        raise CorpusError(root, f"has no task: {expected}")
    reference_root = resolved.parent if resolved.name == "input_data" else resolved
    return Corpus(root, tuple(_task(folder, reference_root) for folder in natural_order(folders)))


def _task(folder: Path, reference_root: Path) -> Task:
    models = natural_order(filter(_is_model, _entries(folder)))
    if not models:
        raise CorpusError(folder, "is an empty task: it has no model_<id> folder")
    candidates = [
        reference_root / "reference_data" / folder.name / "model_configs.json",
        folder / "model_configs.json",
    ]
    reference = next((path for path in candidates if path.is_file()), None)
    return Task(folder.name, folder, reference, tuple(path.name for path in models))


def _is_model(path: Path) -> bool:
    """A folder, or a link that leads nowhere, which is a model that cannot be read."""
    leads_nowhere = path.is_symlink() and not path.exists() and not path.suffix
    return path.name.startswith("model_") and (path.is_dir() or leads_nowhere)


def _looks_like_task(folder: Path) -> bool:
    return any(
        path.is_dir() and (path.name == FIRST_DATASET or path.name.startswith("model_"))
        for path in _entries(folder)
    )


def _entries(folder: Path) -> list[Path]:
    if not folder.is_dir():
        return []
    return [p for p in folder.iterdir() if not is_junk(p) and not p.name.startswith(".")]


def natural_order(paths: Iterable[Path]) -> list[Path]:
    """Sorted so that 2 comes before 10."""
    return sorted(
        paths,
        key=lambda path: [
            (0, int(part), "") if part.isdecimal() else (1, 0, part)
            for part in re.split(r"(\d+)", path.name)
        ],
    )
