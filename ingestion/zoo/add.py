"""A network that the user trained joins a zoo."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ingestion.arrays import Data, Split
from ingestion.corpus import FIRST_DATASET
from ingestion.errors import ZooError
from ingestion.zoo.layout import Zoo


def add(
    root: Path,
    task: str,
    path: Path,
    data: Data | None,
    hparams: Mapping[str, Any],
    custom: Sequence[str] = (),
) -> int:
    """Writes the model of a Keras file or a model folder into a task and returns its number.

    `data` may be left out where the task has its data already. A task that is new has the data, the
    input shape and the names of the hyperparameters of its first model; later ones must agree.
    """
    from ingestion.any_model import read_model
    from ingestion.keras_names import corpus_weights
    from ingestion.shards import read_data

    config, model = read_model(path, custom)
    zoo = Zoo(root)
    with zoo.locked():
        known = zoo.tasks().get(task)
        if data is None and (known is None or not zoo.has_data(task)):
            raise ZooError(f"{root}: has no data of task {task!r} yet; give its --data")
        if known is None:
            if zoo.task_folder(task).exists():
                raise ZooError(f"{zoo.task_folder(task)}: exists and was not built by `pgdl zoo`")
            assert data is not None
            _accuracy(model, data.train, path)  # so that an unfit model leaves no empty task
            zoo.set_task(task, {"data": data.fingerprint()})
        dataset = _dataset(known, data, f"{root}: task {task!r}")
        records = zoo.records(task)
        for record in records.values():
            if set(record["hparams"]) != set(hparams):
                raise ZooError(
                    f"the models of task {task!r} have the hyperparameters "
                    f"{_list(record['hparams'])}; found {_list(hparams)} for {path.name}"
                )
        if data is None:
            data = read_data(zoo.task_folder(task), dataset)
        else:
            zoo.write_data(task, data, dataset)
        if dataset != FIRST_DATASET:
            config = {**config, "dataset": dataset}
        metrics = {
            "train_acc": _accuracy(model, data.train, path),
            "test_acc": _accuracy(model, data.test, path),
        }
        number = _next_number(known or {}, records)
        weights = {"weights.hdf5": corpus_weights(model, config)}
        record = {
            "hparams": dict(hparams),
            "metrics": metrics,
            "dataset": dataset,
            "added_from": path.name,
        }
        zoo.write_model(task, number, config, weights, record)
        zoo.write_references(task)
    return number


def _dataset(known: Mapping[str, Any] | None, data: Data | None, where: str) -> str:
    """The data set of the task that is the model's."""
    if known is None:
        return FIRST_DATASET
    there = known["data"] if isinstance(known["data"], list) else [known["data"]]
    if data is None and len(there) > 1:
        raise ZooError(f"{where} has {len(there)} data sets; name the model's with --data")
    if data is None:
        return FIRST_DATASET
    if data.fingerprint() not in there:
        own = "" if len(there) > 1 else "; leave --data out to use the task's own"
        raise ZooError(f"{where} has other data{own}")
    return f"dataset_{there.index(data.fingerprint()) + 1}"


def _next_number(settings: Mapping[str, Any], records: Mapping[int, Any]) -> int:
    """After all models there are, and all that the task's grid has yet to train."""
    augment = settings.get("augment") or {"levels": [None]}
    lists = [*settings.get("grid.hparams", {}).values(), augment["levels"]]
    planned = settings.get("repeats", 0) * math.prod(map(len, lists))
    return max([planned, *(n + 1 for n in records)])


def _accuracy(model: Any, split: Split, path: Path) -> float:
    expected, outputs = tuple(model.input_shape[1:]), model.output_shape[1:]
    found = split.images.shape[1:]
    if len(expected) != len(found) or any(n not in (None, m) for n, m in zip(expected, found)):
        raise ZooError(f"{path}: takes inputs of shape {expected}; the data has {found}")
    if len(outputs) != 1 or outputs[0] <= split.labels.max():
        raise ZooError(
            f"{path}: has outputs of shape {outputs}; the data has {split.labels.max() + 1} classes"
        )
    predictions = model.predict(split.images, batch_size=500, verbose=0).argmax(axis=-1)
    return float((predictions == split.labels).mean())


def _list(names: Mapping[str, Any]) -> str:
    return ", ".join(sorted(names)) or "none"
