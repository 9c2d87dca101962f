"""The models to rank as a corpus, which the runner then measures.

Each model is read, checked against the data and written once; the same command does not read the
same file again. The models that take the inputs in one scale and shape are one task, named by it.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ingestion.datasets.arrays import Data
from ingestion.datasets.scale import accuracy_warning, recorded_accuracy, scaled_for, share_correct
from ingestion.errors import ZooError, check_file
from ingestion.zoo.add import fitted
from ingestion.zoo.layout import Zoo


@dataclass(frozen=True)
class Member:
    """A model of the collection."""

    name: str
    task: str
    model: str  # model_<id>
    parameters: int
    training_accuracy: float
    test_accuracy: float | None
    warning: str | None  # why its training accuracy may be wrong


class Collection:
    """The corpus that is written, of one data set.

    Images of bytes in `data` are not divided yet (the scale "none"); `custom` are modules with
    layers of the user's own. `step` is called as often as there is progress with a model.
    """

    def __init__(
        self, zoo: Zoo, data: Data, scale: str, custom: Sequence[str], step: Callable[[], None]
    ) -> None:
        self.zoo, self._data, self._scale, self._custom = zoo, data, scale, custom
        self._fingerprint, self._step = data.fingerprint(), step

    def check(self) -> None:
        """Raises where the folder has models of other data."""
        for task, settings in self.zoo.tasks().items():
            if settings.get("source_data") != self._fingerprint:
                raise ZooError(
                    f"{self.zoo.root}: has models of other data (task {task}); choose another "
                    "output folder"
                )

    def member(self, name: str, path: Path) -> Member:
        """The model of a path, written unless it is there."""
        digest = _digest(path)
        for task in self.zoo.tasks():
            for number, record in self.zoo.records(task).items():
                if (record["file"], record["scale"]) == (digest, self._scale):
                    return _member(name, task, number, record)
        return self._write(name, path, digest)

    def _write(self, name: str, path: Path, digest: str) -> Member:
        from ingestion.model_files.any_model import read_model
        from ingestion.model_files.keras_names import corpus_weights

        config, model = read_model(path, self._custom)
        self._step()
        data = scaled_for(model, fitted(model, self._data, path), self._scale)
        task = data.scale
        if data.shape != self._data.shape:
            task = "x".join(map(str, (task, *data.shape)))
        if task not in self.zoo.tasks():
            self.zoo.set_task(task, {"source_data": self._fingerprint})
        self.zoo.write_data(task, data)
        training = share_correct(model, data.train, self._step)
        testing = share_correct(model, data.test, self._step) if len(data.test) else None
        record = {
            "hparams": {},
            "file": digest,
            "scale": self._scale,
            "parameters": model.count_params(),
            "metrics": {"train_acc": training, "test_acc": testing},
            "warning": accuracy_warning(training, data, recorded_accuracy(path)),
        }
        weights = {"weights.hdf5": corpus_weights(model, config)}
        numbers = [number for other in self.zoo.tasks() for number in self.zoo.records(other)]
        number = max(numbers, default=-1) + 1
        self.zoo.write_model(task, number, config, weights, record)
        return _member(name, task, number, record)


def _member(name: str, task: str, number: int, record: Mapping[str, Any]) -> Member:
    metrics = record["metrics"]
    return Member(
        name,
        task,
        f"model_{number}",
        record["parameters"],
        metrics["train_acc"],
        metrics["test_acc"],
        record["warning"],
    )


def _digest(path: Path) -> str:
    """Of a file, or of all files of a folder."""
    digest = hashlib.sha256()
    files = sorted(p for p in path.rglob("*") if not p.is_dir()) if path.is_dir() else [path]
    for file in files:
        check_file(file, "a model is ranked by its files")
        digest.update(os.fsencode(file.name))
        digest.update(hashlib.sha256(file.read_bytes()).digest())
    return digest.hexdigest()[:16]
