"""A Keras configuration from outside, checked: what it says, without what could run code.

Keras builds whatever a configuration names: a `module` is imported, a `Lambda` is unpickled, a
vocabulary is read from a path. Here every object of a configuration is looked up in a list of what
a network is made of - Keras' own layers, operations, activations and types - and written anew with
names that we chose; anything else is refused by name. What matters in training only (initializers,
regularizers, constraints) is left out. The result has the same form whether Keras 2 or 3 wrote it:
calls of layers are `{"args": […], "kwargs": {…}}`, types are names, tuples are lists. Checking it
once more changes nothing.
"""

from __future__ import annotations

import inspect
import math
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import tensorflow as tf

from ingestion.custom import Custom
from ingestion.errors import CorpusError
from ingestion.keras_calls import MODELS, keras2_call, tensor_of
from ingestion.keras_operations import is_operation, is_tensorflow_function
from ingestion.stock_layers import REFUSED, is_stock_module, parameters, stock_class

OPERATION_LAYERS = ("TFOpLambda", "SlicingOpLambda")  # in which Keras 2 wraps functions
CUSTOM = "custom"  # the module of what the user's own module defines

_OPS = "keras.src.ops"
# fmt: off
_TYPES = frozenset({
    "bfloat16", "bool", "float16", "float32", "float64", "int8", "int16", "int32", "int64",
    "mixed_bfloat16", "mixed_float16", "uint8", "uint16",
})
# fmt: on
# Of no consequence for a trained network: how it was made.
_TRAINING = re.compile(
    r"seed|(query|key|value)_shape|synchronized|.*_(initializer|regularizer|constraint)"
)
_TRAINING_OBJECTS = ("initializers", "regularizers", "constraints")
_HARMLESS = (
    "renorm_momentum",
    "implementation",
    "build_input_shape",
    "fused",
    "zero_output_for_mask",
)
_LARGEST = 10**7  # of a number that says how large a layer is
_DEEPEST = 64  # models in models, lists in lists


def checked_config(saved: Any, path: Path, custom: Custom | None = None) -> dict[str, Any]:
    """The configuration of a `Sequential` or functional model, checked; `path` is for errors."""
    return _Checker(path, custom or Custom()).model(saved, "the model", 0)


class _Checker:
    def __init__(self, path: Path, custom: Custom) -> None:
        self._path, self._custom = path, custom

    def _error(self, problem: str) -> CorpusError:
        return CorpusError(self._path, problem)

    def model(self, saved: Any, where: str, depth: int) -> dict[str, Any]:
        if not isinstance(saved, dict) or not isinstance(saved.get("config"), (dict, list)):
            raise self._error(f"{where} has no configuration; found {_short(saved)}")
        kind, config = saved.get("class_name"), saved["config"]
        if isinstance(config, list):  # Keras 1 and early 2
            config = {"layers": config}
        kind = "Functional" if kind == "Model" else kind
        if kind not in MODELS or not isinstance(config.get("layers"), list):
            raise self._error(
                f"{where} is a {_short(saved.get('class_name'))}; Sequential and functional models "
                "can be read"
            )
        if depth > _DEEPEST:
            raise self._error(f"{where} is nested more than {_DEEPEST} models deep")
        name = config.get("name", kind.lower())
        checked: dict[str, Any] = {
            "name": self._name(name, where),
            "trainable": config.get("trainable", True) is not False,
            "layers": [
                self._entry(entry, i, where, depth) for i, entry in enumerate(config["layers"])
            ],
        }
        if kind == "Functional":
            for ends in ("input_layers", "output_layers"):
                checked[ends] = self._ends(config.get(ends), f"{where}: {ends}")
        elif "build_input_shape" in config or "build_config" in saved:
            shape = config.get("build_input_shape") or saved["build_config"].get("input_shape")
            checked["build_input_shape"] = self._value(shape, f"{where}: its input shape", depth)
        if kind == "Sequential":
            return _written("keras", kind, checked)
        return _written("keras.src.models.functional", kind, checked, kind)

    def _entry(self, entry: Any, index: int, where: str, depth: int) -> dict[str, Any]:
        """One layer of a model, with its name and its calls."""
        inside = "" if where == "the model" else f" of {where}"
        if not isinstance(entry, dict) or not isinstance(entry.get("config"), dict):
            raise self._error(f"layer {index}{inside} has no configuration; found {_short(entry)}")
        name = self._name(entry["config"].get("name", entry.get("name")), f"layer {index}{inside}")
        where = f"layer {name}{inside}"
        checked = self._object(entry, where, depth + 1, f"layer {index}{inside}")
        checked["config"]["name"] = checked["name"] = name
        nodes = entry.get("inbound_nodes", [])
        if not isinstance(nodes, list):
            raise self._error(f"{where} has the calls {_short(nodes)}; expected a list")
        checked["inbound_nodes"] = [self._node(node, where, depth) for node in nodes]
        return checked

    def _object(self, saved: Any, where: str, depth: int, label: str = "") -> dict[str, Any]:
        """A layer, model or operation: its class is known and its arguments are plain."""
        kind, module = saved.get("class_name"), saved.get("module")
        registered = saved.get("registered_name") or kind
        if not isinstance(kind, str) or not isinstance(saved.get("config"), dict):
            raise self._error(f"{label or where} is {_short(saved)}; expected a layer")
        own = self._custom.find(registered, kind, module)
        if own is not None:
            config = self._arguments(saved["config"], where, depth)
            return _written(CUSTOM, kind, config, own)
        if module == CUSTOM or (registered != kind and is_stock_module(module) is False):
            raise self._error(self._unknown(label or where, kind, saved))
        if kind in (*MODELS, "Model"):
            return self.model(saved, where, depth)
        if kind in OPERATION_LAYERS:
            function = saved["config"].get("function")
            if not is_tensorflow_function(function):
                raise self._error(
                    f"{label or where} calls the function {_short(function)}, which is not "
                    "known to be safe; only plain mathematical functions are called"
                )
            return _written("keras.layers", kind, {"function": function})
        if module is None and "trainable" not in saved["config"] and is_operation(_OPS, kind):
            module = _OPS  # an .h5 file of Keras 3 does not say; a layer says whether it trains
        if isinstance(module, str) and ".ops" in module:
            if not is_operation(module, kind):
                raise self._error(self._unknown(label or where, kind, saved))
            config = self._arguments(saved["config"], where, depth)
            return _written(module, kind, config, kind)
        cls = stock_class(kind) if is_stock_module(module) and registered == kind else None
        if cls is None:
            raise self._error(self._unknown(label or where, kind, saved))
        config = self._stock_arguments(saved["config"], cls, where, depth)
        return _written("keras.layers", kind, config)

    def _unknown(self, where: str, kind: Any, saved: Mapping[str, Any]) -> str:
        if kind in REFUSED:
            return (
                f"{where} is a {kind}, which could run code or read files of its own; replace it "
                "by Keras' other layers and save the model again"
            )
        module = saved.get("module")
        of = f" of {_short(module)}" if isinstance(module, str) else ""
        return (
            f"{where} is a {_short(kind)}{of}, which is not one of Keras' own layers; if it is "
            "yours, name the Python module that defines it (--custom MODULE)"
        )

    def _stock_arguments(self, saved: Any, cls: Any, where: str, depth: int) -> dict[str, Any]:
        known = parameters(cls)
        arguments = {}
        for key, value in saved.items():
            if _TRAINING.fullmatch(str(key)):
                continue
            if known and key not in known:
                # Of another version of Keras: harmless where it says that something is not so.
                if value not in (None, False, [], {}, "channels_last") and key not in _HARMLESS:
                    raise self._error(
                        f"{where}: {_short(key)} is not an argument of {cls.__name__} in this "
                        f"version of Keras; found {_short(value)}"
                    )
                continue
            arguments[key] = self._argument(key, value, f"{where}: {_short(key)}", depth)
        return arguments

    def _arguments(self, saved: Any, where: str, depth: int) -> dict[str, Any]:
        if not isinstance(saved, dict):
            raise self._error(f"{where} has the configuration {_short(saved)}; expected arguments")
        return {
            str(k): self._argument(k, v, f"{where}: {_short(k)}", depth) for k, v in saved.items()
        }

    def _argument(self, key: Any, value: Any, where: str, depth: int) -> Any:
        if key == "dtype" and value is not None:
            return self._type(value, where)
        return self._value(value, where, depth)

    def _value(self, value: Any, where: str, depth: int) -> Any:
        """Numbers, text, lists of them; and objects that are known."""
        if depth > _DEEPEST:
            raise self._error(f"{where} is nested more than {_DEEPEST} deep")
        if value is None or isinstance(value, (bool, str)):
            return value
        if isinstance(value, (int, float)):
            if abs(value) > _LARGEST if isinstance(value, int) else not math.isfinite(value):
                raise self._error(f"{where} is {_short(value)}, which no network has")
            return value
        if isinstance(value, list):
            return [self._value(item, where, depth + 1) for item in value]
        if not isinstance(value, dict):
            raise self._error(f"{where} is {_short(value)}, not a number, text, list or layer")
        if "class_name" not in value:
            return {
                str(key): self._value(item, f"{where}: {_short(key)}", depth + 1)
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
            raise self._error(f"{where} is a {_short(kind)}, which is not known")
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
                raise self._error(f"{where} is a {_short(kind)}, which is not known")
            return _written(value["module"], kind, self._arguments(config, where, depth))
        return self._object(value, where, depth)

    def _function(self, value: dict[str, Any], where: str) -> Any:
        """An activation of Keras by its name, or a function of the user's module."""
        name = value.get("config")
        stock = isinstance(name, str) and is_stock_module(value.get("module"), "activations")
        if stock and inspect.isfunction(getattr(tf.keras.activations, str(name), None)):
            return name
        own = self._custom.find(name, value.get("registered_name"), None)
        if own is not None:
            return {**_written("builtins", "function", {}, own), "config": own}
        raise self._error(
            f"{where} is the function {_short(name)}, which is not one of Keras' activations; if "
            "it is yours, name the Python module that defines it (--custom MODULE)"
        )

    def _type(self, value: Any, where: str) -> str:
        if isinstance(value, dict) and value.get("class_name") in ("DTypePolicy", "Policy"):
            inner = value.get("config")
            value = inner.get("name") if isinstance(inner, dict) else inner
        if not isinstance(value, str) or value not in _TYPES:
            raise self._error(
                f"{where} is {_short(value)}; expected one of {', '.join(sorted(_TYPES))}"
            )
        return str(value)

    def _name(self, name: Any, where: str) -> str:
        if not isinstance(name, str) or not re.fullmatch(r"[\w.:\- ]+(/[\w.:\- ]+)*", name):
            raise self._error(f"{where} has the name {_short(name)}; expected letters and digits")
        if len(name) > 200 or {".", ".."} & set(name.split("/")):
            raise self._error(f"{where} has the name {_short(name)}, which is no name of a layer")
        return name

    def _history(self, history: Any, where: str) -> list[Any]:
        """Which output of which call of which layer a tensor is."""
        if isinstance(history, (list, tuple)) and len(history) == 3:
            name, node, tensor = history
            if isinstance(name, str) and all(
                type(i) is int and 0 <= i < 1000 for i in (node, tensor)
            ):
                return [name, node, tensor]
        raise self._error(f"{where} takes {_short(history)}; expected [layer, call, output]")

    def _ends(self, ends: Any, where: str) -> list[Any]:
        """Inputs or outputs of a functional model: always a list."""
        if isinstance(ends, list) and len(ends) == 3 and isinstance(ends[0], str):
            ends = [ends]
        if not isinstance(ends, list) or not ends:
            raise self._error(f"{where} are {_short(ends)}; expected a list of layers")
        return [self._history(end, where) for end in ends]

    def _node(self, node: Any, where: str, depth: int) -> dict[str, Any]:
        """A call of a layer."""
        if isinstance(node, dict):
            args, kwargs = node.get("args"), node.get("kwargs", {})
            if not isinstance(args, list) or not isinstance(kwargs, dict):
                raise self._error(f"{where} has the call {_short(node)}; expected its arguments")
        else:
            call = keras2_call(node)
            if call is None:
                raise self._error(f"{where} has the call {_short(node)}; expected [[layer, 0, 0]]")
            args, kwargs = call
        return {
            "args": [self._value(arg, where, depth) for arg in args],
            # Whether it is training, the caller of the model says: Keras 3 writes what it was.
            "kwargs": {
                str(k): self._value(v, where, depth) for k, v in kwargs.items() if k != "training"
            },
        }


def _written(module: str, kind: Any, config: Any, registered: str | None = None) -> dict[str, Any]:
    return {"module": module, "class_name": kind, "config": config, "registered_name": registered}


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:77]}..."
