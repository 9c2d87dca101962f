"""A Keras configuration from outside, checked so that nothing in it can run code.

Keras builds whatever a configuration names: a `module` is imported, a `Lambda` is unpickled, a
vocabulary is read from a path. Here every object of a configuration is looked up in a list of what
a network is made of - Keras' own layers, operations, activations and types - and written anew with
names that we chose; anything else is refused by name. What matters in training only (initializers,
regularizers, constraints) is left out. The result has the same form whether Keras 2 or 3 wrote it:
calls of layers are `{"args": […], "kwargs": {…}}`, types are names, tuples are lists. Checking it
once more changes nothing.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ingestion.model_files.custom import Custom
from ingestion.model_files.keras_calls import MODELS, keras2_call
from ingestion.model_files.keras_operations import is_operation, is_tensorflow_function
from ingestion.model_files.keras_values import DEEPEST, ValueChecker, written
from ingestion.model_files.stock_layers import REFUSED, is_stock_module, parameters, stock_class
from scoring.files import short

OPERATION_LAYERS = ("TFOpLambda", "SlicingOpLambda")  # in which Keras 2 wraps functions
CUSTOM = "custom"  # the module of what the user's own module defines

_OPS = "keras.src.ops"
# Of no consequence for a trained network: how it was made.
_TRAINING = re.compile(
    r"seed|(query|key|value)_shape|synchronized|.*_(initializer|regularizer|constraint)"
)
# Arguments that a class has under another name in the other Keras: Keras 2's, and Keras 3's.
_RENAMED = {"LeakyReLU": ("alpha", "negative_slope")}
_HARMLESS = (
    "renorm_momentum",
    "implementation",
    "build_input_shape",
    "fused",
    "zero_output_for_mask",
    "input_length",
)
_NOTHING = {"groups": 1}  # values that change nothing where a class of this Keras has no such thing


def checked_config(saved: Any, path: Path, custom: Custom | None = None) -> dict[str, Any]:
    """The configuration of a `Sequential` or functional model, checked; `path` is for errors."""
    return _Checker(path, custom or Custom()).model(saved, "the model", 0)


class _Checker(ValueChecker):
    def model(self, saved: Any, where: str, depth: int) -> dict[str, Any]:
        if not isinstance(saved, dict) or not isinstance(saved.get("config"), (dict, list)):
            raise self._error(f"{where} has no configuration; found {short(saved)}")
        kind, config = saved.get("class_name"), saved["config"]
        if isinstance(config, list):  # Keras 1 and early 2
            config = {"layers": config}
        kind = "Functional" if kind == "Model" else kind
        if kind not in MODELS or not isinstance(config.get("layers"), list):
            raise self._error(
                f"{where} is a {short(saved.get('class_name'))}, neither Sequential nor "
                "functional; if it is a class of yours, name the Python module that defines it "
                "(--custom MODULE)"
            )
        if depth > DEEPEST:
            raise self._error(f"{where} is nested more than {DEEPEST} models deep")
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
            return written("keras", kind, checked)
        return written("keras.src.models.functional", kind, checked, kind)

    def _entry(self, entry: Any, index: int, where: str, depth: int) -> dict[str, Any]:
        """One layer of a model, with its name and its calls."""
        inside = "" if where == "the model" else f" of {where}"
        if not isinstance(entry, dict) or not isinstance(entry.get("config"), dict):
            raise self._error(f"layer {index}{inside} has no configuration; found {short(entry)}")
        name = self._name(entry["config"].get("name", entry.get("name")), f"layer {index}{inside}")
        where = f"layer {name}{inside}"
        checked = self._object(entry, where, depth + 1, f"layer {index}{inside}")
        checked["config"]["name"] = checked["name"] = name
        nodes = entry.get("inbound_nodes", [])
        if not isinstance(nodes, list):
            raise self._error(f"{where} has the calls {short(nodes)}; expected a list")
        checked["inbound_nodes"] = [self._node(node, where, depth) for node in nodes]
        return checked

    def _object(self, saved: Any, where: str, depth: int, label: str = "") -> dict[str, Any]:
        """A layer, model or operation: its class is known and its arguments are plain."""
        kind, module = saved.get("class_name"), saved.get("module")
        registered = saved.get("registered_name") or kind
        if not isinstance(kind, str) or not isinstance(saved.get("config"), dict):
            raise self._error(f"{label or where} is {short(saved)}; expected a layer")
        own = self._custom.find(registered, kind, module)
        if own is not None:
            config = self._arguments(saved["config"], where, depth)
            return written(CUSTOM, kind, config, own)
        if module == CUSTOM or (registered != kind and is_stock_module(module) is False):
            raise self._error(self._unknown(label or where, kind, saved))
        if kind in (*MODELS, "Model"):
            return self.model(saved, where, depth)
        if kind in OPERATION_LAYERS:
            function = saved["config"].get("function")
            if not is_tensorflow_function(function):
                raise self._error(
                    f"{label or where} calls the function {short(function)}, which is not "
                    "known to be safe; only plain mathematical functions are called"
                )
            return written("keras.layers", kind, {"function": function})
        if module is None and "trainable" not in saved["config"] and is_operation(_OPS, kind):
            module = _OPS  # an .h5 file of Keras 3 does not say; a layer says whether it trains
        if isinstance(module, str) and ".ops" in module:
            if not is_operation(module, kind):
                raise self._error(self._unknown(label or where, kind, saved))
            config = self._arguments(saved["config"], where, depth)
            return written(module, kind, config, kind)
        cls = stock_class(kind) if is_stock_module(module) and registered == kind else None
        if cls is None:
            raise self._error(self._unknown(label or where, kind, saved))
        config = self._stock_arguments(saved["config"], cls, where, depth)
        return written("keras.layers", kind, config)

    def _unknown(self, where: str, kind: Any, saved: Mapping[str, Any]) -> str:
        if kind in REFUSED:
            return (
                f"{where} is a {kind}, which could run code or read files of its own; replace it "
                "by Keras' other layers and save the model again"
            )
        module = saved.get("module")
        of = f" of {short(module)}" if isinstance(module, str) else ""
        return (
            f"{where} is a {short(kind)}{of}, which is not one of Keras' own layers; if it is "
            "yours, name the Python module that defines it (--custom MODULE)"
        )

    def _stock_arguments(self, saved: Any, cls: Any, where: str, depth: int) -> dict[str, Any]:
        known = parameters(cls)
        arguments = {}
        for key, value in saved.items():
            if _TRAINING.fullmatch(str(key)):
                continue
            if known and key not in known and key in _RENAMED.get(cls.__name__, ()):
                (key,) = (name for name in _RENAMED[cls.__name__] if name in known)
            if known and key not in known:
                # Of another version of Keras: harmless where it says that something is not so.
                is_default = value in (None, False, [], {}, "channels_last")
                if not (is_default or key in _HARMLESS or _NOTHING.get(key) == value):
                    raise self._error(
                        f"{where}: {short(key)} is not an argument of {cls.__name__} in this "
                        f"version of Keras; found {short(value)}"
                    )
                continue
            arguments[key] = self._argument(key, value, f"{where}: {short(key)}", depth)
        return arguments

    def _ends(self, ends: Any, where: str) -> list[Any]:
        """Inputs or outputs of a functional model: always a list."""
        if isinstance(ends, dict):  # each by a name of the user's
            ends = list(ends.values())
        if isinstance(ends, list) and len(ends) == 3 and isinstance(ends[0], str):
            ends = [ends]
        if not isinstance(ends, list) or not ends:
            raise self._error(f"{where} are {short(ends)}; expected a list of layers")
        return [self._history(end, where) for end in ends]

    def _node(self, node: Any, where: str, depth: int) -> dict[str, Any]:
        """A call of a layer."""
        if isinstance(node, dict):
            args, kwargs = node.get("args"), node.get("kwargs", {})
            if not isinstance(args, list) or not isinstance(kwargs, dict):
                raise self._error(f"{where} has the call {short(node)}; expected its arguments")
        else:
            call = keras2_call(node)
            if call is None:
                raise self._error(f"{where} has the call {short(node)}; expected [[layer, 0, 0]]")
            args, kwargs = call
        return {
            "args": [self._value(arg, where, depth) for arg in args],
            # Whether it is training, the caller of the model says: Keras 3 writes what it was.
            "kwargs": {
                str(k): self._value(v, where, depth) for k, v in kwargs.items() if k != "training"
            },
        }
