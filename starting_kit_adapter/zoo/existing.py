"""A Keras file of the user's (`.keras`, `.h5`) as a configuration and weights of the corpus.

The file is read as data: JSON and arrays. Keras' own loader is not used, because what a file may
make it run differs by version; only the stock layers that a corpus may have are built anew.
"""

from __future__ import annotations

import inspect
import io
import json
import re
import zipfile
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import tensorflow as tf

from ingestion.models import LAYERS, build_model
from ingestion.weights import read_weights
from starting_kit_adapter.zoo.errors import ZooError
from starting_kit_adapter.zoo.keras_names import layer_names

# Of no consequence for a trained network: how it was made, and how Keras keeps it.
_IGNORED = re.compile(
    r"name|trainable|dtype|seed|noise_shape|batch_(input_)?shape|.*_(initializer|regularizer|constraint)"
)


def read_existing(path: Path) -> tuple[dict[str, Any], tf.keras.Model]:
    """The `config.json` of a saved Sequential model, and the model built from it."""
    if path.suffix not in (".keras", ".h5", ".hdf5") or not path.is_file():
        raise ZooError(f"{path}: expected the file of a Keras model, .keras or .h5")
    try:
        saved, arrays = _read_zip(path) if path.suffix == ".keras" else _read_h5(path)
    except (OSError, KeyError, ValueError, zipfile.BadZipFile) as error:
        raise ZooError(f"{path}: is not a whole Keras model ({error})") from error
    config = _corpus_config(path, saved)
    model = build_model(config, path)
    if arrays is None:
        arrays = _zip_weights(path, model)
    shapes = [tuple(w.shape) for w in model.weights]
    if [a.shape for a in arrays] != shapes:
        raise ZooError(f"{path}: has weights {[a.shape for a in arrays]}; its layers need {shapes}")
    if not all(np.isfinite(a).all() for a in arrays):
        raise ZooError(f"{path}: has weights that are NaN or infinite")
    model.set_weights(arrays)
    return config, model


def _read_zip(path: Path) -> tuple[Any, None]:
    with zipfile.ZipFile(path) as file:
        return json.loads(file.read("config.json")), None


def _zip_weights(path: Path, model: tf.keras.Model) -> list[np.ndarray]:
    """`layers/<name>/vars/<i>`, where names are counted as Keras 2 counts its own."""
    with zipfile.ZipFile(path) as file, h5py.File(io.BytesIO(file.read("model.weights.h5"))) as h5:
        arrays = []
        for name, layer in zip(layer_names(model), model.layers):
            for i in range(len(layer.weights)):
                key = f"layers/{name}/vars/{i}"
                if key not in h5:
                    raise ZooError(f"{path}: its weights have no {key}")
                arrays.append(np.asarray(h5[key]))
        return arrays


def _read_h5(path: Path) -> tuple[Any, list[np.ndarray]]:
    with h5py.File(path, "r") as file:
        if "model_config" not in file.attrs:
            raise ZooError(f"{path}: has weights but no model; save it with model.save(…)")
        saved = json.loads(file.attrs["model_config"])
    return saved, [array for _, layer in read_weights(path) for array in layer]


def _corpus_config(path: Path, saved: Any) -> dict[str, Any]:
    if not isinstance(saved, dict) or saved.get("class_name") != "Sequential":
        kind = saved.get("class_name") if isinstance(saved, dict) else type(saved).__name__
        raise ZooError(f"{path}: is a {kind}; the corpus holds Sequential models only")
    layers, shape = [], None
    for i, entry in enumerate(saved["config"]["layers"]):
        kind, arguments = entry["class_name"], entry["config"]
        batch_shape = arguments.get("batch_shape") or arguments.get("batch_input_shape")
        if shape is None and batch_shape:
            shape = batch_shape[1:]
        if kind == "InputLayer":
            continue
        if kind not in LAYERS:
            raise ZooError(
                f"{path}: layer {i} is a {kind}; a corpus may have {', '.join(sorted(LAYERS))}"
            )
        layers.append({"layer_name": kind, **_arguments(kind, arguments)})
    if shape is None:
        raise ZooError(f"{path}: does not say its input shape; build the model before saving it")
    return {"model_config": layers, "input_shape": list(shape)}


def _arguments(kind: str, saved: dict[str, Any]) -> dict[str, Any]:
    """What the layer needs to be told: what differs from its defaults."""
    defaults = {
        name: parameter.default
        for name, parameter in inspect.signature(getattr(tf.keras.layers, kind)).parameters.items()
    }
    return {
        name: value
        for name, value in saved.items()
        if value is not None
        and not _IGNORED.fullmatch(name)
        and (name, value) != ("data_format", "channels_last")
        and value != defaults.get(name, inspect.Parameter.empty)
    }
