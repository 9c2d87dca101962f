"""A checked Keras configuration as a model, built by calling its layers ourselves.

Keras' own `from_config` is called for one layer at a time, on arguments that were checked.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import tensorflow as tf

from ingestion.errors import CorpusError, first_line
from ingestion.model_files.custom import Custom
from ingestion.model_files.keras_calls import MODELS, first_calls, output_of, resolved, values_of
from ingestion.model_files.keras_config import CUSTOM, OPERATION_LAYERS, checked_config
from ingestion.model_files.keras_names import counted, snake_case
from ingestion.model_files.keras_operations import IS_KERAS3, operation, tensorflow_function
from ingestion.model_files.stock_layers import stock_class


@dataclass(frozen=True)
class Leaf:
    """A layer that is no model itself, and where it stands among models in models."""

    path: tuple[str, ...]  # names, from the outermost
    counted: tuple[str, ...]  # the same, each as the class of the layer with its number
    layer: tf.keras.layers.Layer


@dataclass(frozen=True)
class Graph:
    """A built model and its layers, models in it opened."""

    model: tf.keras.Model
    leaves: tuple[Leaf, ...]


def build_graph(saved: Any, path: Path, custom: Custom | None = None) -> Graph:
    """Checks a Keras configuration and builds its model; `path` is named in errors."""
    custom = custom or Custom()
    builder = _Builder(path, custom)
    try:
        config = checked_config(saved, path, custom)
        with custom.scope():
            model = builder.model(config)
    except CorpusError:
        raise
    except Exception as error:  # whatever Keras says to arguments that do not fit
        raise CorpusError(path, f"does not build ({first_line(error)})") from error
    return Graph(model, tuple(builder.leaves(config, model)))


class _Builder:
    def __init__(self, path: Path, custom: Custom) -> None:
        self._path, self._custom = path, custom
        self._objects: dict[int, Any] = {}  # what was built, by the entry that it was built from

    def model(self, entry: Mapping[str, Any]) -> tf.keras.Model:
        config = entry["config"]
        build = self._sequential if entry["class_name"] == "Sequential" else self._functional
        model = build(config)
        if not config["trainable"]:
            model.trainable = False
        return model

    def leaves(
        self,
        entry: Mapping[str, Any],
        model: Any,
        path: tuple[str, ...] = (),
        numbers: tuple[str, ...] = (),
    ) -> list[Leaf]:
        """All layers of the model and of the models in it, in the order of the configuration."""
        entries = [e for e in entry["config"]["layers"] if not _is_operation(e)]
        names = counted([snake_case(e["class_name"]) for e in entries])
        found: dict[int, Leaf] = {}
        for inner, number in zip(entries, names):
            layer = self._objects.get(id(inner))
            where, numbered = (*path, inner["config"]["name"]), (*numbers, number)
            if layer is None or inner["class_name"] in OPERATION_LAYERS:
                continue
            inside = [Leaf(where, numbered, layer)]
            if inner["class_name"] in MODELS:
                inside = self.leaves(inner, layer, where, numbered)
            for leaf in inside:
                found.setdefault(id(leaf.layer), leaf)
        return list(found.values())

    def _layer(self, entry: Mapping[str, Any]) -> Callable[..., Any]:
        if id(entry) not in self._objects:
            self._objects[id(entry)] = self._build(entry)
        return self._objects[id(entry)]

    def _build(self, entry: Mapping[str, Any]) -> Callable[..., Any]:
        kind, module, config = entry["class_name"], entry["module"], entry["config"]
        if kind in MODELS:
            return self.model(entry)
        if kind in OPERATION_LAYERS:
            return tensorflow_function(config["function"])
        if _is_operation(entry):
            return operation(kind, values_of(config))
        cls = (
            self._custom.objects[entry["registered_name"]]
            if module == CUSTOM
            else stock_class(kind)
        )
        # Keras 2 writes the axis of a batch normalization as a list of one.
        axis = config.get("axis")
        if kind == "BatchNormalization" and isinstance(axis, list) and len(axis) == 1:
            config = {**config, "axis": axis[0]}
        if IS_KERAS3 and module != CUSTOM:  # Keras 2 writes the input shape into the first layer
            config = {k: v for k, v in config.items() if k != "batch_input_shape"}
        try:
            arguments = values_of(config)
            if module == CUSTOM and not _takes_name(cls):
                return _named(cls.from_config(_without_name(arguments)), config["name"])
            if module == CUSTOM or _has_objects(list(config.values())):
                return cls.from_config(arguments)
            return cls(**arguments)
        except Exception as error:
            name = config["name"]
            raise CorpusError(self._path, f"layer {name} ({kind}): {first_line(error)}") from error

    def _input(self, entry: Mapping[str, Any]) -> Any:
        config = entry["config"]
        shape = config.get("batch_shape") or config.get("batch_input_shape")
        if config.get("sparse") or config.get("ragged") or not isinstance(shape, list):
            raise CorpusError(self._path, f"layer {config['name']} is a sparse or ragged input")
        return tf.keras.Input(tuple(shape[1:]), dtype=config.get("dtype"), name=config["name"])

    def _sequential(self, config: Mapping[str, Any]) -> tf.keras.Model:
        entries = [e for e in config["layers"] if e["class_name"] != "InputLayer"]
        if not entries:
            raise CorpusError(self._path, f"model {config['name']} has no layers")
        inputs = [e for e in config["layers"] if e["class_name"] == "InputLayer"]
        if inputs:
            start = self._input(inputs[0])
        else:
            shape = config.get("build_input_shape") or _first_shape(entries[0])
            if not isinstance(shape, list) or len(shape) < 2:
                raise CorpusError(
                    self._path, "does not say its input shape; build the model before saving it"
                )
            start = tf.keras.Input(tuple(shape[1:]))
        return tf.keras.Sequential([start, *map(self._layer, entries)], name=config["name"])

    def _functional(self, config: Mapping[str, Any]) -> tf.keras.Model:
        tensors: dict[str, list[list[Any]]] = {}  # per layer, per call, its outputs
        for entry in config["layers"]:
            if entry["config"]["name"] in tensors:
                raise CorpusError(self._path, f"has two layers named {entry['config']['name']!r}")
            is_input = entry["class_name"] == "InputLayer"
            tensors[entry["config"]["name"]] = [[self._input(entry)]] if is_input else []
        first = first_calls(config)
        waiting = [(e, node) for e in config["layers"] for node in e["inbound_nodes"]]
        while waiting:
            left, begun = [], set()
            for entry, node in waiting:
                name = entry["config"]["name"]
                try:
                    # Calls of one layer come in their order, and each after what it takes.
                    ready = None if name in begun else resolved(node, tensors, first)
                except KeyError as error:
                    raise CorpusError(
                        self._path, f"layer {name} takes {error}, which is not a layer"
                    ) from error
                if ready is None:
                    left.append((entry, node))
                    begun.add(name)
                else:
                    tensors[name].append(self._call(entry, *ready))
            if len(left) == len(waiting):
                names = ", ".join(sorted(begun)[:8])
                raise CorpusError(self._path, f"layers take outputs that do not exist: {names}")
            waiting = left
        ends = [
            [output_of(end, tensors, first) for end in config[ends]]
            for ends in ("input_layers", "output_layers")
        ]
        if any(tensor is None for end in ends for tensor in end):
            raise CorpusError(self._path, "names inputs or outputs that no layer has")
        inputs, outputs = (end[0] if len(end) == 1 else end for end in ends)
        return tf.keras.Model(inputs, outputs, name=config["name"])

    def _call(self, entry: Mapping[str, Any], args: list[Any], kwargs: dict[str, Any]) -> list[Any]:
        layer = self._layer(entry)
        if entry["class_name"] in MODELS:
            kwargs = {k: v for k, v in kwargs.items() if v is not None}
        try:
            outputs = layer(*args, **kwargs)
        except Exception as error:
            name = entry["config"]["name"]
            raise CorpusError(
                self._path, f"layer {name} ({entry['class_name']}): {first_line(error)}"
            ) from error
        found = list(outputs) if isinstance(outputs, (list, tuple)) else [outputs]
        if IS_KERAS3 and (entry["class_name"] in OPERATION_LAYERS or _is_operation(entry)):
            for output in found:  # the name that Keras makes up may be that of a layer in the file
                if isinstance(output, tf.keras.KerasTensor):
                    output._keras_history.operation.name = entry["config"]["name"]
        return found


def _takes_name(cls: Any) -> bool:
    parameters = inspect.signature(cls.__init__).parameters.values()
    return any(p.name == "name" or p.kind is p.VAR_KEYWORD for p in parameters)


def _without_name(arguments: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in arguments.items() if key != "name"}


def _named(layer: Any, name: str) -> Any:
    """The layer with the name under which its weights are stored."""
    if hasattr(layer, "_name"):  # Keras 2
        layer._name = name
    else:
        layer.name = name
    return layer


def _is_operation(entry: Mapping[str, Any]) -> bool:
    return ".ops" in entry["module"]


def _has_objects(value: Any) -> bool:
    """Whether there are layers among the arguments."""
    if isinstance(value, list):
        return any(map(_has_objects, value))
    return isinstance(value, dict) and not str(value.get("class_name", "__")).startswith("__")


def _first_shape(entry: Mapping[str, Any]) -> Any:
    config = entry["config"]
    inner = config.get("layer", entry).get("config", {})
    return (
        config.get("batch_input_shape")
        or config.get("batch_shape")
        or (_first_shape(inner["layers"][0]) if inner.get("layers") else None)
    )
