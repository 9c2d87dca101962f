"""A network that the user trained joins a zoo."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ingestion.arrays import Data, Split
from ingestion.corpus import KERAS_CONFIG
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
    from ingestion.keras_names import leaf_weights, named_weights
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
        elif data is not None and data.fingerprint() != known["data"]:
            raise ZooError(
                f"{root}: task {task!r} has other data; leave --data out to use the task's own"
            )
        records = zoo.records(task)
        for record in records.values():
            if set(record["hparams"]) != set(hparams):
                raise ZooError(
                    f"the models of task {task!r} have the hyperparameters "
                    f"{_list(record['hparams'])}; found {_list(hparams)} for {path.name}"
                )
        if data is None:
            data = read_data(zoo.task_folder(task))
        else:
            zoo.write_data(task, data)
        metrics = {
            "train_acc": _accuracy(model, data.train, path),
            "test_acc": _accuracy(model, data.test, path),
        }
        number = _next_number(known or {}, records)
        named = (
            leaf_weights(model)
            if KERAS_CONFIG in config
            else named_weights(model, model.get_weights())
        )
        record = {"hparams": dict(hparams), "metrics": metrics, "added_from": path.name}
        zoo.write_model(task, number, config, {"weights.hdf5": named}, record)
        zoo.write_references(task)
    return number


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
