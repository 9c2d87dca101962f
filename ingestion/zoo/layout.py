"""The files of a zoo: the competition's layout, and beside it the builder's own records.

    DIR/input_data/<task>/dataset_<k>/{train,test}/shard_<i>.tfrecord     one, or one for each data
                                          set and number of training examples; with a validation
                                          share, `validation` beside them
    DIR/input_data/<task>/model_<id>/{config.json,weights.hdf5,weights_init.hdf5}
    DIR/input_data/<task>/model_configs.json, DIR/reference_data/<task>/model_configs.json
    DIR/zoo.json                          how each task was built
    DIR/training/<task>/model_<id>.json   how each model was trained

Folders are written under `DIR/.unfinished` and renamed when they are whole, files likewise: what
has its final name is complete. The kit takes every name with `model` in it for a model, so nothing
unfinished may lie in a task's folder.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from ingestion.corpus import FIRST_DATASET
from ingestion.datasets.arrays import Data
from ingestion.errors import ZooError
from ingestion.model_files.keras_names import NamedWeights
from ingestion.model_files.weights import write_weights
from ingestion.run.store import write_json
from scoring.files import parse_json


class Zoo:
    """The folder of a zoo."""

    def __init__(self, root: Path) -> None:
        self.root = Path(root)

    def task_folder(self, task: str) -> Path:
        """Where the models and the data of a task are."""
        if not task or Path(task).name != task or task.startswith(".") or "\0" in task:
            raise ZooError(f"{task!r} cannot name a task: it names a folder of {self.root}")
        return self.root / "input_data" / task

    def check_new(self, task: str) -> None:
        """Raises where the folder of a task that is not known is there already."""
        if self.task_folder(task).exists():
            raise ZooError(f"{self.task_folder(task)}: exists and was not built by `pgdl zoo`")

    def model_folder(self, task: str, model: int) -> Path:
        """Where one model is, once it is finished."""
        return self.task_folder(task) / f"model_{model}"

    def tasks(self) -> dict[str, dict[str, Any]]:
        """How each task was built."""
        path = self.root / "zoo.json"
        if not path.exists():
            return {}
        content = read_json(path)
        if not isinstance(content, dict) or not isinstance(content.get("tasks"), dict):
            raise ZooError(f"{path}: has no `tasks`; it was not written by `pgdl zoo`")
        return content["tasks"]

    def set_task(self, task: str, settings: Mapping[str, Any]) -> None:
        """Records how a task is built."""
        write_json(self.root / "zoo.json", {"tasks": {**self.tasks(), task: settings}})

    def records(self, task: str) -> dict[int, dict[str, Any]]:
        """What is known of each finished model, by number."""
        paths = (self.root / "training" / task).glob("model_*.json")
        numbered = sorted((int(path.stem[len("model_") :]), path) for path in paths)
        return {n: _read_record(p) for n, p in numbered if self.model_folder(task, n).is_dir()}

    def write_model(
        self,
        task: str,
        model: int,
        config: Mapping[str, Any],
        weights: Mapping[str, NamedWeights],
        record: Mapping[str, Any],
    ) -> None:
        """One model: `weights` by file name; the record comes first, the model's folder last."""
        write_json(self.root / "training" / task / f"model_{model}.json", record)
        with self._unfinished(self.model_folder(task, model)) as folder:
            write_json(folder / "config.json", config)
            for name, layers in weights.items():
                write_weights(folder / name, layers)

    def has_data(self, task: str, dataset: str = FIRST_DATASET) -> bool:
        """Whether the shards of a task's data set are there."""
        return (self.task_folder(task) / dataset).is_dir()

    def write_data(self, task: str, data: Data, dataset: str = FIRST_DATASET) -> None:
        """The shards of a task's data set, unless they are already there."""
        from ingestion.datasets.shards import write_data

        if not self.has_data(task, dataset):
            with self._unfinished(self.task_folder(task) / dataset) as folder:
                write_data(folder, data)

    def write_references(self, task: str) -> None:
        """Both `model_configs.json` of a task, from the records of its finished models.

        A task without test data has none, because no gap is known.
        """
        records = self.records(task)
        if not records or any("test_acc" not in record["metrics"] for record in records.values()):
            return
        hparams = [record["hparams"] for record in records.values()]
        for model, values in zip(records, hparams):
            if values.keys() != hparams[0].keys():
                raise ZooError(
                    f"{task}: model_{model} has the hyperparameters {', '.join(values)}; others "
                    f"have {', '.join(hparams[0])}"
                )
        possible = {name: _distinct(h[name] for h in hparams) for name in hparams[0]}
        entries = {
            str(model): {
                **record,
                "hparams": {
                    name: {"possible_values": possible[name], "current_value": value}
                    for name, value in record["hparams"].items()
                },
            }
            for model, record in records.items()
        }
        for folder in (self.root / "reference_data" / task, self.task_folder(task)):
            write_json(folder / "model_configs.json", entries)

    @contextlib.contextmanager
    def locked(self) -> Iterator[None]:
        """Keeps a second builder out; the lock ends with the process, however that ends."""
        self.root.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(self.root, os.O_RDONLY)
        try:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError as error:
                raise ZooError(f"{self.root}: another process is building this zoo") from error
            shutil.rmtree(self.root / ".unfinished", ignore_errors=True)
            yield
            shutil.rmtree(self.root / ".unfinished", ignore_errors=True)
        finally:
            os.close(descriptor)

    @contextlib.contextmanager
    def _unfinished(self, final: Path) -> Iterator[Path]:
        folder = self.root / ".unfinished" / str(os.getpid()) / final.parent.name / final.name
        shutil.rmtree(folder, ignore_errors=True)
        try:
            folder.mkdir(parents=True)
            yield folder
            final.parent.mkdir(parents=True, exist_ok=True)
            folder.rename(final)
        except OSError as error:
            raise ZooError(f"cannot write {final}: {error}") from error


def read_json(path: Path) -> Any:
    """The content of a JSON file that the builder wrote."""
    try:
        return parse_json(path.read_bytes())
    except (OSError, ValueError) as error:
        raise ZooError(f"{path}: cannot be read ({error})") from error


def _read_record(path: Path) -> dict[str, Any]:
    """The record of a finished model, with the parts that `pgdl zoo` reads."""
    record = read_json(path)
    parts = ("hparams", "metrics")
    if not isinstance(record, dict) or not all(isinstance(record.get(p), dict) for p in parts):
        raise ZooError(f"{path}: has no `hparams` and `metrics`; it was not written by `pgdl zoo`")
    for name in ("train_acc", "test_acc"):
        accuracy = record["metrics"].get(name)
        number = isinstance(accuracy, (int, float)) and not isinstance(accuracy, bool)
        if not number and (name == "train_acc" or accuracy is not None):
            raise ZooError(f"{path}: its {name} is {str(accuracy)[:60]}; expected a number")
    if not isinstance(record.get("augment", {}), dict):
        raise ZooError(f"{path}: `augment` is {str(record['augment'])[:60]}; expected an object")
    for name, value in record["hparams"].items():
        if isinstance(value, (dict, list)):
            raise ZooError(f"{path}: {name} is {str(value)[:60]}; expected a number or a word")
    return record


def _distinct(values: Iterable[Any]) -> list[Any]:
    """In order where there is one: numbers by size."""
    found = list(dict.fromkeys(values))
    return sorted(found) if all(isinstance(v, (int, float)) for v in found) else found
