"""Adds a network that the user trained to a zoo."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from ingestion.corpus import FIRST_DATASET
from ingestion.datasets.arrays import Data
from ingestion.datasets.scale import (
    WORDS,
    accuracy_warning,
    class_count,
    recorded_accuracy,
    scaled_for,
    share_correct,
)
from ingestion.errors import ZooError
from ingestion.zoo.layout import Zoo
from pgdl_measures.data import check_labels
from pgdl_measures.errors import PgdlError


def add(
    root: Path,
    task: str,
    path: Path,
    data: Data | None,
    hparams: Mapping[str, Any],
    custom: Sequence[str] = (),
    scale: str = "auto",
    warn: Callable[[str], None] = warnings.warn,
) -> int:
    """Writes the model of a Keras file or a model folder into a task and returns its number.

    `data` may be left out where the task has its data already, and its test part may be empty. A
    task that is new has the data, the input shape and the names of the hyperparameters of its first
    model; later ones must agree.
    Images of bytes in `data` are not divided yet: they are taken in the `scale` of the model.
    `warn` is called where the model does not know its training data.
    """
    from ingestion.datasets.shards import read_data
    from ingestion.model_files.any_model import read_model
    from ingestion.model_files.keras_names import corpus_weights

    config, model = read_model(path, custom)
    if data is not None:
        data = scaled_for(model, fitted(model, data, path), scale)
    zoo = Zoo(root)
    with zoo.locked():
        known = zoo.tasks().get(task)
        if data is None and (known is None or not zoo.has_data(task)):
            raise ZooError(f"{root}: has no data of task {task!r} yet; give its --data")
        if known is None:
            zoo.check_new(task)
            assert data is not None
            zoo.set_task(task, {"data": data.fingerprint(), "scale": data.scale})
        dataset = _dataset(known, data, path.name, f"{root}: task {task!r}")
        records = zoo.records(task)
        for record in records.values():
            if set(record["hparams"]) != set(hparams):
                raise ZooError(
                    f"the models of task {task!r} have the hyperparameters "
                    f"{_list(record['hparams'])}; found {_list(hparams)} for {path.name}"
                )
        if data is None:
            assert known is not None
            data = read_data(zoo.task_folder(task), dataset)
            data = replace(data, scale=known.get("scale", "floats"))
            data = fitted(model, data, path)
        else:
            zoo.write_data(task, data, dataset)
        if dataset != FIRST_DATASET:
            config = {**config, "dataset": dataset}
        metrics = {"train_acc": share_correct(model, data.train)}
        if len(data.test):
            metrics["test_acc"] = share_correct(model, data.test)
        number = next_number(known or {}, records)
        weights = {"weights.hdf5": corpus_weights(model, config)}
        record = {
            "hparams": dict(hparams),
            "metrics": metrics,
            "dataset": dataset,
            "added_from": path.name,
        }
        warning = accuracy_warning(metrics["train_acc"], data, recorded_accuracy(path))
        if warning:
            warn(f"{path.name}: {warning}")
        zoo.write_model(task, number, config, weights, record)
        zoo.write_references(task)
    return number


def _dataset(known: Mapping[str, Any] | None, data: Data | None, model: str, where: str) -> str:
    """The data set of the task that the model was trained on."""
    if known is None:
        return FIRST_DATASET
    there = known["data"] if isinstance(known["data"], list) else [known["data"]]
    if data is None and len(there) > 1:
        raise ZooError(f"{where} has {len(there)} data sets; name the model's with --data")
    if data is None:
        return FIRST_DATASET
    if data.fingerprint() not in there:
        scale = known.get("scale", data.scale)
        if scale != data.scale:
            raise ZooError(
                f"{where} has its images as {WORDS[scale]}, and {model} takes "
                f"{WORDS[data.scale]}; give another --task"
            )
        own = "" if len(there) > 1 else "; leave --data out to use the task's own"
        raise ZooError(f"{where} has other data{own}")
    return f"dataset_{there.index(data.fingerprint()) + 1}"


def next_number(settings: Mapping[str, Any], records: Mapping[int, Any]) -> int:
    """The next number after all models of the task and all that its grid has yet to train."""
    augment = settings.get("augment") or {"levels": [None]}
    lists = [*settings.get("grid.hparams", {}).values(), augment["levels"]]
    planned = settings.get("repeats", 0) * math.prod(map(len, lists))
    return max([planned, *(n + 1 for n in records)])


def fitted(model: Any, data: Data, path: Path) -> Data:
    """The data in the shape in which the model takes them: grey images may have no channels.

    Raises where a model does not take these inputs, or has fewer outputs than classes.
    """
    from pgdl_measures.network.compiled import network

    expected, outputs = tuple(model.input_shape[1:]), model.output_shape[1:]
    if len(expected) == 2 and len(data.shape) == 3 and data.shape[-1] == 1:
        data = data.without_channels()
    found = data.shape
    if len(expected) != len(found) or any(n not in (None, m) for n, m in zip(expected, found)):
        raise ZooError(f"{path}: takes inputs of shape {expected}; the data has {found}")
    if len(outputs) != 1:
        raise ZooError(f"{path}: has outputs of shape {outputs}; a classifier has one per class")
    labels = np.concatenate([split.labels for split in (data.train, data.test)])
    try:
        check_labels(np.unique(labels).tolist(), class_count(model))
        if outputs[0] == 1:
            network(model, found)  # which knows a sigmoid from a regression
    except PgdlError as error:
        raise ZooError(f"{path}: {error}") from error
    return data


def _list(names: Mapping[str, Any]) -> str:
    return ", ".join(sorted(names)) or "none"
