"""Arguments in a Keras configuration from outside: numbers, text, lists, types, known objects.

A configuration nests: an argument may be a layer, whose arguments are checked in turn. What a layer
may be is decided by `keras_config`.
"""

from __future__ import annotations

import inspect
import math
import re
from abc import ABC, abstractmethod
from pathlib import Path
from typing import Any

import tensorflow as tf

from ingestion.errors import CorpusError
from ingestion.model_files.custom import Custom
from ingestion.model_files.keras_calls import tensor_of
from ingestion.model_files.keras_names import safe_name
from ingestion.model_files.stock_layers import is_stock_module
from scoring.files import short

DEEPEST = 64  # models in models, lists in lists
_LARGEST = 10**7  # of a number that says how large a layer is
# fmt: off
_TYPES = frozenset({
    "bfloat16", "bool", "float16", "float32", "float64", "int8", "int16", "int32", "int64",
    "mixed_bfloat16", "mixed_float16", "uint8", "uint16",
})
# fmt: on
_TRAINING_OBJECTS = ("initializers", "regularizers", "constraints")


class ValueChecker(ABC):
    """Checks arguments and writes them anew; `path` is the file that errors name."""

    def __init__(self, path: Path, custom: Custom) -> None:
        self._path, self._custom = path, custom

    def _error(self, problem: str) -> CorpusError:
        return CorpusError(self._path, problem)

    @abstractmethod
    def _object(self, saved: Any, where: str, depth: int, label: str = "") -> dict[str, Any]:
        """A layer, model or operation."""

    def _arguments(self, saved: Any, where: str, depth: int) -> dict[str, Any]:
        if not isinstance(saved, dict):
            raise self._error(f"{where} has the configuration {short(saved)}; expected arguments")
        return {
            str(k): self._argument(k, v, f"{where}: {short(k)}", depth) for k, v in saved.items()
        }

    def _argument(self, key: Any, value: Any, where: str, depth: int) -> Any:
        if key == "dtype" and value is not None:
            return self._type(value, where)
        return self._value(value, where, depth)

    def _value(self, value: Any, where: str, depth: int) -> Any:
        """Numbers, text, lists of them; and objects that are known."""
        if depth > DEEPEST:
            raise self._error(f"{where} is nested more than {DEEPEST} deep")
        if value is None or isinstance(value, (bool, str)):
            return value
        if isinstance(value, (int, float)):
            if abs(value) > _LARGEST if isinstance(value, int) else not math.isfinite(value):
                raise self._error(f"{where} is {short(value)}, a number that no network needs")
            return value
        if isinstance(value, list):
            return [self._value(item, where, depth + 1) for item in value]
        if not isinstance(value, dict):
            raise self._error(f"{where} is {short(value)}, not a number, text, list or layer")
        if "class_name" not in value:
            return {
                str(key): self._value(item, f"{where}: {short(key)}", depth + 1)
                for key, item in value.items()
            }
        return self._known_object(value, where, depth + 1)

    def _known_object(self, value: dict[str, Any], where: str, depth: int) -> Any:
        kind, config = value["class_name"], value.get("config")
        if kind in ("__tuple__", "TensorShape"):
            return self._value(value.get("items"), where, depth)
        if kind in ("DTypePolicy", "Policy"):
            return self._type(value, where)
        if kind == "function":
            return self._function(value, where)
        if not isinstance(config, dict):
            raise self._error(f"{where} is a {short(kind)}, which is not known")
        if kind == "__keras_tensor__":
            tensor = tensor_of(self._history(config.get("keras_history"), where))
            if "shape" in config and "dtype" in config:  # for Keras; they follow from the rest
                tensor["config"]["shape"] = self._value(config["shape"], where, depth)
                tensor["config"]["dtype"] = self._type(config["dtype"], where)
            return tensor
        if kind in ("__tensor__", "__numpy__"):
            values, dtype = config.get("value"), self._type(config.get("dtype"), where)
            checked = self._value(values, where, depth)
            return {"class_name": "__numpy__", "config": {"value": checked, "dtype": dtype}}
        if kind == "__slice__":
            checked = {
                k: self._value(config.get(k), where, depth) for k in ("start", "stop", "step")
            }
            return {"class_name": "__slice__", "config": checked}
        if value.get("module") in [f"keras.{module}" for module in _TRAINING_OBJECTS]:
            module = value["module"].split(".")[1]
            if not inspect.isclass(getattr(getattr(tf.keras, module), str(kind), None)):
                raise self._error(f"{where} is a {short(kind)}, which is not known")
            return written(value["module"], kind, self._arguments(config, where, depth))
        return self._object(value, where, depth)

    def _function(self, value: dict[str, Any], where: str) -> Any:
        """An activation of Keras by its name, or a function of the user's module."""
        name = value.get("config")
        stock = isinstance(name, str) and is_stock_module(value.get("module"), "activations")
        if stock and inspect.isfunction(getattr(tf.keras.activations, str(name), None)):
            return name
        own = self._custom.find(name, value.get("registered_name"), None)
        if own is not None:
            return {**written("builtins", "function", {}, own), "config": own}
        raise self._error(
            f"{where} is the function {short(name)}, which is not one of Keras' activations; if "
            "it is yours, name the Python module that defines it (--custom MODULE)"
        )

    def _type(self, value: Any, where: str) -> str:
        if isinstance(value, dict) and value.get("class_name") in ("DTypePolicy", "Policy"):
            inner = value.get("config")
            value = inner.get("name") if isinstance(inner, dict) else inner
        if not isinstance(value, str) or value not in _TYPES:
            raise self._error(
                f"{where} is {short(value)}; expected one of {', '.join(sorted(_TYPES))}"
            )
        return str(value)

    def _name(self, name: Any, where: str) -> str:
        if not isinstance(name, str) or not re.fullmatch(r"[\w.:\- ]+(/[\w.:\- ]+)*", name):
            raise self._error(f"{where} has the name {short(name)}; expected letters and digits")
        if len(name) > 200 or {".", ".."} & set(name.split("/")):
            raise self._error(f"{where} has the name {short(name)}, which is no name of a layer")
        return safe_name(name)

    def _history(self, history: Any, where: str) -> list[Any]:
        """Which output of which call of which layer a tensor is."""
        if isinstance(history, (list, tuple)) and len(history) == 3:
            name, node, tensor = history
            if isinstance(name, str) and all(
                type(i) is int and 0 <= i < 1000 for i in (node, tensor)
            ):
                return [safe_name(name), node, tensor]
        raise self._error(f"{where} takes {short(history)}; expected [layer, call, output]")


def written(module: str, kind: Any, config: Any, registered: str | None = None) -> dict[str, Any]:
    """An object as Keras 3 writes it."""
    return {"module": module, "class_name": kind, "config": config, "registered_name": registered}
