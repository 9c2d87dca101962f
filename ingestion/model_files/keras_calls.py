"""How layers call each other in a Keras configuration: tensors by [layer, call, output].

Keras 3 writes a call as `{"args": […], "kwargs": {…}}` with a tensor as an object of the class
`__keras_tensor__`; Keras 2 writes lists. Here both become the first.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

MODELS = ("Functional", "Sequential")


def tensor_of(history: list[Any]) -> dict[str, Any]:
    """What stands for a tensor."""
    return {"class_name": "__keras_tensor__", "config": {"keras_history": history}}


def _keras2_tensors(value: Any) -> Any:
    """Tensors among the keyword arguments of a call: [layer, call, output]."""
    if isinstance(value, dict):
        return {key: _keras2_tensors(item) for key, item in value.items()}
    if not isinstance(value, list):
        return value
    if len(value) == 3 and isinstance(value[0], str) and all(type(i) is int for i in value[1:]):
        return tensor_of(value)
    return [_keras2_tensors(item) for item in value]


def keras2_call(node: Any) -> tuple[list[Any], dict[str, Any]] | None:
    """The arguments of a call by Keras 2: [[layer, call, output, kwargs], …], without the outer
    list for an operation on one tensor. None where it is no such list."""
    if isinstance(node, list) and len(node) == 4 and isinstance(node[0], str):
        node, alone = [node], True
    else:
        alone = isinstance(node, list) and len(node) == 1
    if not isinstance(node, list) or not all(
        isinstance(t, list) and len(t) in (3, 4) for t in node
    ):
        return None
    kwargs: dict[str, Any] = {}
    tensors = []
    for taken in node:
        tensors.append(taken[2] if taken[0] == "_CONSTANT_VALUE" else tensor_of(taken[:3]))
        if len(taken) == 4 and isinstance(taken[3], dict):
            kwargs.update({key: _keras2_tensors(value) for key, value in taken[3].items()})
    return [tensors[0] if alone else tensors], kwargs


def first_calls(config: Mapping[str, Any]) -> dict[str, int]:
    """The number of each layer's first call: Keras 2 counts the making of an inner model as one."""
    last: dict[str, int] = {}

    def look(value: Any) -> None:
        if isinstance(value, dict):
            if value.get("class_name") == "__keras_tensor__":
                name, node, _ = value["config"]["keras_history"]
                last[name] = max(last.get(name, 0), node)
            else:
                for item in value.values():
                    look(item)
        elif isinstance(value, list):
            for item in value:
                look(item)

    for entry in config["layers"]:
        look(entry["inbound_nodes"])
    for name, node, _ in config["output_layers"]:
        last[name] = max(last.get(name, 0), node)
    return {
        e["config"]["name"]: 1
        for e in config["layers"]
        if e["class_name"] in MODELS and last.get(e["config"]["name"], 0) == len(e["inbound_nodes"])
    }


def output_of(
    history: list[Any], tensors: Mapping[str, list[list[Any]]], first: Mapping[str, int]
) -> Any:
    """A tensor, or None where its layer was not called so far; KeyError where there is no layer."""
    name, node, output = history
    calls, node = tensors[name], node - first.get(name, 0)
    return calls[node][output] if 0 <= node < len(calls) and output < len(calls[node]) else None


def resolved(
    node: Mapping[str, Any], tensors: Mapping[str, list[list[Any]]], first: Mapping[str, int]
) -> tuple[list[Any], dict[str, Any]] | None:
    """The arguments of a call with tensors in place; None where one is not there yet."""
    missing = False

    def tensor(history: list[Any]) -> Any:
        nonlocal missing
        found = output_of(history, tensors, first)
        missing = missing or found is None
        return found

    args, kwargs = values_of(node["args"], tensor), values_of(node["kwargs"], tensor)
    return None if missing else (args, kwargs)


def values_of(value: Any, tensor: Callable[[list[Any]], Any] | None = None) -> Any:
    """Plain values of what stands for tensors, arrays and slices; layers stay as they are."""
    if isinstance(value, list):
        return [values_of(item, tensor) for item in value]
    if not isinstance(value, dict):
        return value
    kind, config = value.get("class_name"), value.get("config", {})
    if kind == "__keras_tensor__" and tensor is not None:
        return tensor(config["keras_history"])
    if kind == "__numpy__":
        return np.asarray(config["value"], dtype=config["dtype"])
    if kind == "__slice__":
        return slice(*(config[key] for key in ("start", "stop", "step")))
    if set(value) == {"start", "stop", "step"}:  # Keras 2
        return slice(value["start"], value["stop"], value["step"])
    return {key: values_of(item, tensor) for key, item in value.items()}
