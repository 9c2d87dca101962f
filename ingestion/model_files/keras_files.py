"""A Keras model of the user's - a `.keras` or `.h5` file, a SavedModel - for the corpus.

The file is read as data: JSON and arrays. Keras' own loader is not used, because what a file may
make it run differs by version; the network is built anew by `ingestion.model_files.keras_graph`.
"""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import tensorflow as tf

from ingestion.corpus import KERAS_CONFIG
from ingestion.errors import CorpusError, first_line
from ingestion.model_files.custom import Custom
from ingestion.model_files.hdf5 import member, opened, read_array
from ingestion.model_files.keras_config import checked_config
from ingestion.model_files.keras_graph import Graph
from ingestion.model_files.keras_names import counted, last_name, snake_case
from ingestion.model_files.kit_config import kit_config
from ingestion.model_files.model_paths import KERAS_FILES
from ingestion.model_files.models import build_classifier, build_model
from ingestion.model_files.saved_model import read_saved_model, saved_model_config
from ingestion.model_files.subclassed import as_functional, is_subclassed
from ingestion.model_files.weights import read_named_weights
from scoring.files import parse_json

_LARGEST_CONFIG = 64 * 2**20  # bytes
_LARGEST_WEIGHTS = 16 * 2**30
_MOST_COMPRESSED = 200  # times; arrays of a trained network compress less than twofold


def read_existing(
    path: Path, custom: Custom | None = None
) -> tuple[dict[str, Any], tf.keras.Model]:
    """The `config.json` of a saved Sequential or functional model, and the model built from it."""
    saved = _saved_config(path)
    subclassed = is_subclassed(saved, custom or Custom())
    if subclassed:
        saved = as_functional(saved)
    graph = build_classifier(saved, path, custom)
    _reader(path)(path, _of_the_file(graph) if subclassed else graph)
    config = _corpus_config(checked_config(saved, path, custom), graph.model)
    if KERAS_CONFIG in config:
        return config, graph.model
    model = build_model(config, path)
    model.set_weights(graph.model.get_weights())
    return config, model


def read_existing_config(path: Path, custom: Custom | None = None) -> dict[str, Any]:
    """The `config.json` of a saved model; its weights are not read."""
    saved = _saved_config(path)
    if is_subclassed(saved, custom or Custom()):
        saved = as_functional(saved)
    graph = build_classifier(saved, path, custom)
    return _corpus_config(checked_config(saved, path, custom), graph.model)


def config_of(model: tf.keras.Model, name: str) -> dict[str, Any]:
    """The `config.json` of a model in memory; `name` is for errors."""
    saved = parse_json(model.to_json())
    return _corpus_config(checked_config(saved, Path(name)), model)


def _of_the_file(graph: Graph) -> Graph:
    """The one layer of the functional model around a user's: in the file it is the whole model."""
    return Graph(graph.model, tuple(replace(leaf, path=(), counted=()) for leaf in graph.leaves))


def _corpus_config(checked: dict[str, Any], model: tf.keras.Model) -> dict[str, Any]:
    shape = list(model.inputs[0].shape[1:])
    return kit_config(checked, shape) or {KERAS_CONFIG: checked, "input_shape": shape}


def _reader(path: Path) -> Callable[[Path, Graph], None]:
    if path.is_dir():
        return read_saved_model
    return _read_zip if _is_zip(path) else _read_h5


def _saved_config(path: Path) -> Any:
    if path.is_dir():
        return saved_model_config(path)
    if path.suffix not in KERAS_FILES or not path.is_file():
        problem = "no such file" if not path.exists() else "is not the file of a Keras model"
        raise CorpusError(path, f"{problem}; expected .keras, .h5 or the folder of a SavedModel")
    text = _zip_member(path, "config.json", _LARGEST_CONFIG) if _is_zip(path) else _h5_json(path)
    try:
        return parse_json(text)
    except ValueError as error:
        raise CorpusError(path, f"has a configuration that is not JSON ({error})") from error


def _is_zip(path: Path) -> bool:
    return path.suffix == ".keras"


def _zip_member(path: Path, name: str, largest: int) -> bytes:
    """The content of a member, unless it is more than a model needs."""
    try:
        with zipfile.ZipFile(path) as file:
            info = file.getinfo(name)
            if info.is_dir():
                raise CorpusError(path, f"has a folder named {name}")
            if info.file_size > largest or info.file_size > _MOST_COMPRESSED * (
                info.compress_size + 1000
            ):
                raise CorpusError(
                    path,
                    f"{name} unpacks from {info.compress_size} bytes to {info.file_size}, more "
                    "than a model needs",
                )
            with file.open(info) as content:
                return content.read(info.file_size + 1)
    except CorpusError:
        raise
    except KeyError as error:
        raise CorpusError(path, f"is damaged or not a Keras model: it has no {name}") from error
    except Exception as error:  # zipfile raises most kinds of errors on damaged files
        raise CorpusError(
            path,
            f"is damaged or not a Keras model ({first_line(error)}); save it again with model.save",
        ) from error


def _h5_json(path: Path) -> bytes | str:
    with opened(path) as file:
        text = file.attrs.get("model_config")
        if text is None:
            raise CorpusError(path, "has weights but no model; save it with model.save(…)")
        if not isinstance(text, (str, bytes)) or len(text) > _LARGEST_CONFIG:
            raise CorpusError(path, f"has a model_config that is a {type(text).__name__}")
        return text


def _read_h5(path: Path, graph: Graph) -> None:
    """Weights stand by outermost layer, trainable ones first."""
    for layer in graph.model.layers:
        weights = [*layer.trainable_weights, *layer.non_trainable_weights]
        if weights:
            expected = [(last_name(w), tuple(w.shape)) for w in weights]
            arrays = read_named_weights(path, layer.name, expected)
            for weight, array in zip(weights, arrays):
                weight.assign(np.asarray(array))
    _finalize(graph)


def _read_zip(path: Path, graph: Graph) -> None:
    """Weights stand by layer, classes counted, and in it by the attribute that holds a layer."""
    content = io.BytesIO(_zip_member(path, "model.weights.h5", _LARGEST_WEIGHTS))
    with opened(path, content) as file:
        for leaf in graph.leaves:
            if leaf.layer.weights:
                group = "/".join(f"layers/{number}" for number in leaf.counted)
                owner = f"layer {'/'.join(leaf.path)}" if leaf.path else "the model"
                _load(file, group, leaf.layer, path, owner, set())


def _load(file: Any, group: str, layer: Any, path: Path, owner: str, visited: set[int]) -> None:
    """Loads a layer's own variables, then those of the layers that it holds."""
    visited.add(id(layer))
    own: dict[str, Any] = {}
    layer.save_own_variables(own)
    if own:
        shapes = {key: tuple(value.shape) for key, value in own.items()}
        layer.load_own_variables(
            {
                key: read_array(file, _inside(group, f"vars/{key}"), shape, path, owner)
                for key, shape in shapes.items()
            }
        )
    for names, inner in _held(layer):
        if inner.weights and id(inner) not in visited:
            places = [_inside(group, name) for name in names]
            place = next((p for p in places if member(file, p, path) is not None), places[0])
            _load(file, place, inner, path, owner, visited)


def _inside(group: str, name: str) -> str:
    return f"{group}/{name}" if group else name


def _held(layer: Any) -> list[tuple[list[str], Any]]:
    """The layers among a layer's attributes, each with all names under which it may be saved."""
    found: dict[int, tuple[list[str], Any]] = {}
    attributes = dict(vars(layer))
    if isinstance(layer, tf.keras.Model):
        attributes["layers"] = layer.layers
    for attribute, value in attributes.items():
        values = list(value.values()) if isinstance(value, dict) else value
        if isinstance(value, tf.keras.layers.Layer):
            held = [("", value)]
        elif isinstance(values, (list, tuple)):
            inside = [v for v in values if isinstance(v, tf.keras.layers.Layer)]
            numbers = counted([snake_case(type(v).__name__) for v in inside])
            held = [(f"/{number}", v) for number, v in zip(numbers, inside)]
        else:
            continue
        for number, inner in held:
            # Keras 3 prefers the property of a private attribute.
            names = [f"{attribute.lstrip('_')}{number}", f"{attribute}{number}"]
            found.setdefault(id(inner), ([], inner))[0].extend(names)
    return list(found.values())


def _finalize(graph: Graph) -> None:
    for leaf in graph.leaves:
        if hasattr(leaf.layer, "finalize_state"):
            leaf.layer.finalize_state()
