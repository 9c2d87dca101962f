"""A Keras file of the user's (`.keras`, `.h5`) as a configuration and weights of the corpus.

The file is read as data: JSON and arrays. Keras' own loader is not used, because what a file may
make it run differs by version; only the stock layers that a corpus may have are built anew.
"""

from __future__ import annotations

import inspect
import io
import re
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import tensorflow as tf

from ingestion.corpus import is_chain
from ingestion.errors import ZooError
from ingestion.keras_names import counted, snake_case
from ingestion.models import INPUT, LAYERS, MERGES, build_model
from ingestion.weights import read_weights
from scoring.files import parse_json

# Of no consequence for a trained network: how it was made, and how Keras keeps it.
_IGNORED = re.compile(
    r"name|trainable|dtype|seed|noise_shape|batch_(input_)?shape|.*_(initializer|regularizer|constraint)"
)


def read_existing(path: Path) -> tuple[dict[str, Any], tf.keras.Model]:
    """The `config.json` of a saved Sequential or functional model, and the model built from it."""
    config, entries = _read_config(path)
    try:
        weights = (_zip_weights if path.suffix == ".keras" else _h5_weights)(path)
    except (OSError, KeyError, TypeError, ValueError, zipfile.BadZipFile) as error:
        raise ZooError(f"{path}: is not a whole Keras model ({error})") from error
    model = build_model(config, path)
    layers = [layer for layer in model.layers if not isinstance(layer, tf.keras.layers.InputLayer)]
    if not is_chain(config):
        layers = [model.get_layer(entry["config"]["name"]) for entry in entries]
    for name, layer in zip(_names(path, entries), layers):
        _set_weights(path, name, layer, weights)
    return config, model


def read_existing_config(path: Path) -> dict[str, Any]:
    """The `config.json` of a saved model; its weights are not read."""
    return _read_config(path)[0]


# Arrays of a file: of a layer by its name, as many as are asked for.
Weights = Callable[[str, int], list[np.ndarray]]


def _read_config(path: Path) -> tuple[dict[str, Any], list[Any]]:
    """The `config.json`, and the saved entries of the layers other than inputs."""
    if path.suffix not in (".keras", ".h5", ".hdf5") or not path.is_file():
        raise ZooError(f"{path}: expected the file of a Keras model, .keras or .h5")
    try:
        saved = parse_json(_zip_json(path) if path.suffix == ".keras" else _h5_json(path))
        entries = [e for e in saved["config"]["layers"] if e["class_name"] != "InputLayer"]
        return _corpus_config(path, saved, entries), entries
    except (OSError, KeyError, TypeError, ValueError, zipfile.BadZipFile) as error:
        raise ZooError(f"{path}: is not a whole Keras model ({error})") from error


def _zip_json(path: Path) -> bytes:
    with zipfile.ZipFile(path) as file:
        return file.read("config.json")


def _zip_weights(path: Path) -> Weights:
    with zipfile.ZipFile(path) as file:
        content = h5py.File(io.BytesIO(file.read("model.weights.h5")))
    return lambda name, n: [np.asarray(content[f"layers/{name}/vars/{i}"]) for i in range(n)]


def _h5_json(path: Path) -> bytes | str:
    with h5py.File(path, "r") as file:
        if "model_config" not in file.attrs:
            raise ZooError(f"{path}: has weights but no model; save it with model.save(…)")
        return file.attrs["model_config"]


def _h5_weights(path: Path) -> Weights:
    found = dict(read_weights(path))
    return lambda name, n: found[name]


def _names(path: Path, entries: Sequence[Any]) -> list[str]:
    """Under which the layers' weights stand: in a .keras file, classes as they are counted there
    (`conv2d`, `conv2d_1`, …), in the other the layers' own names."""
    if path.suffix != ".keras":
        return [entry["config"]["name"] for entry in entries]
    return counted([snake_case(entry["class_name"]) for entry in entries])


def _set_weights(path: Path, name: str, layer: tf.keras.layers.Layer, weights: Weights) -> None:
    expected = [tuple(weight.shape) for weight in layer.weights]
    if not expected:
        return
    try:
        arrays = weights(name, len(expected))
    except KeyError as error:
        raise ZooError(f"{path}: has no weights of the layer {name} ({error})") from error
    if [array.shape for array in arrays] != expected:
        raise ZooError(
            f"{path}: layer {name} has weights {[a.shape for a in arrays]}; it needs {expected}"
        )
    if not all(np.isfinite(array).all() for array in arrays):
        raise ZooError(f"{path}: has weights that are NaN or infinite")
    layer.set_weights(arrays)


def _corpus_config(path: Path, saved: Any, entries: Sequence[Any]) -> dict[str, Any]:
    kind = saved["class_name"]
    if kind not in ("Sequential", "Functional"):
        raise ZooError(f"{path}: is a {kind}; Sequential and functional models can be read")
    known = LAYERS | MERGES if kind == "Functional" else LAYERS
    layers = []
    for i, entry in enumerate(entries):
        if entry["class_name"] not in known:
            raise ZooError(
                f"{path}: layer {i} is a {entry['class_name']}; "
                f"a corpus may have {', '.join(sorted(known))}"
            )
        arguments = _arguments(entry["class_name"], entry["config"])
        layers.append({"layer_name": entry["class_name"], **arguments})
    shapes = [
        e["config"].get("batch_shape") or e["config"].get("batch_input_shape")
        for e in saved["config"]["layers"]
    ]
    shape = next((shape for shape in shapes if shape), None)
    if shape is None:
        raise ZooError(f"{path}: does not say its input shape; build the model before saving it")
    if kind == "Functional":
        _add_branches(path, saved["config"], entries, layers)
    return {"model_config": layers, "input_shape": list(shape[1:])}


def _add_branches(
    path: Path, config: Any, entries: Sequence[Any], layers: Sequence[dict[str, Any]]
) -> None:
    """Tells layers their names and what they take, unless each takes the one before it."""
    inputs = [e["config"]["name"] for e in config["layers"] if e["class_name"] == "InputLayer"]
    outputs = _taken(config["output_layers"])
    names = [entry["config"]["name"] for entry in entries]
    if len(inputs) != 1 or outputs != names[-1:]:
        raise ZooError(
            f"{path}: has the inputs {', '.join(inputs)} and the outputs {', '.join(outputs)}; "
            "a classifier has one of each"
        )
    taken = []
    for name, entry in zip(names, entries):
        if len(entry["inbound_nodes"]) != 1:
            raise ZooError(f"{path}: layer {name} is used {len(entry['inbound_nodes'])} times")
        taken.append([INPUT if n == inputs[0] else n for n in _taken(entry["inbound_nodes"])])
    if taken == [[INPUT], *([name] for name in names[:-1])]:
        return
    for name, before, layer in zip(names, taken, layers):
        layer.update(name=name, inputs=before)


def _taken(node: Any) -> list[str]:
    """The names of the layers behind the tensors of a node, as Keras 2 or Keras 3 writes it."""
    if isinstance(node, dict):
        if node.get("class_name") == "__keras_tensor__":
            return [node["config"]["keras_history"][0]]
        return _taken(node.get("args", []))
    if not isinstance(node, list) or not node:
        return []
    return [node[0]] if isinstance(node[0], str) else [name for n in node for name in _taken(n)]


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
