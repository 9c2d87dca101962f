"""Operations between layers (`x + y`, `x[:, 0]`, `keras.ops.mean(x)`) of a saved network.

Keras 3 saves an operation as a class of `keras.src.ops`, Keras 2 as the name of a TensorFlow
function. Both are called from lists here; a function that is given another function, or that has
effects outside the network, is in none of them. The most frequent ones are known under both names,
so that a network of one Keras is built under the other.
"""

from __future__ import annotations

import importlib
import inspect
import re
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import tensorflow as tf

from ingestion.model_files.keras_names import snake_case

IS_KERAS3 = hasattr(tf.keras, "ops")

_MODULES = ("numpy", "nn", "math", "image", "linalg", "core")
# These are given functions.
# fmt: off
_HIGHER_ORDER = frozenset({
    "AssociativeScan", "Cond", "CustomGradient", "ForiLoop", "Map", "Scan", "Switch", "Vectorize",
    "VectorizedMap", "WhileLoop",
})
# fmt: on

# TensorFlow's name of a function, that of Keras 3, and arguments whose names differ.
_TRANSLATED: dict[str, tuple[str, dict[str, str]]] = {
    "__operators__.add": ("add", {"x": "x1", "y": "x2"}),
    "__operators__.getitem": ("get_item", {"slice_spec": "key"}),
    "cast": ("cast", {}),
    "clip_by_value": ("clip", {"clip_value_min": "x_min", "clip_value_max": "x_max"}),
    "concat": ("concatenate", {"values": "xs"}),
    "expand_dims": ("expand_dims", {"input": "x"}),
    "identity": ("copy", {"input": "x"}),
    "linalg.matmul": ("matmul", {"a": "x1", "b": "x2"}),
    "math.abs": ("abs", {}),
    "math.add": ("add", {"x": "x1", "y": "x2"}),
    "math.divide": ("divide", {"x": "x1", "y": "x2"}),
    "math.erf": ("erf", {}),
    "math.exp": ("exp", {}),
    "math.l2_normalize": ("normalize", {}),
    "math.log": ("log", {}),
    "math.maximum": ("maximum", {"x": "x1", "y": "x2"}),
    "math.minimum": ("minimum", {"x": "x1", "y": "x2"}),
    "math.multiply": ("multiply", {"x": "x1", "y": "x2"}),
    "math.negative": ("negative", {}),
    "math.pow": ("power", {"x": "x1", "y": "x2"}),
    "math.reduce_max": ("max", {"input_tensor": "x"}),
    "math.reduce_mean": ("mean", {"input_tensor": "x"}),
    "math.reduce_min": ("min", {"input_tensor": "x"}),
    "math.reduce_sum": ("sum", {"input_tensor": "x"}),
    "math.rsqrt": ("rsqrt", {}),
    "math.sigmoid": ("sigmoid", {}),
    "math.sqrt": ("sqrt", {}),
    "math.square": ("square", {}),
    "math.subtract": ("subtract", {"x": "x1", "y": "x2"}),
    "math.tanh": ("tanh", {}),
    "math.truediv": ("true_divide", {"x": "x1", "y": "x2"}),
    "nn.elu": ("elu", {"features": "x"}),
    "nn.gelu": ("gelu", {"features": "x"}),
    "nn.leaky_relu": ("leaky_relu", {"features": "x", "alpha": "negative_slope"}),
    "nn.relu": ("relu", {"features": "x"}),
    "nn.relu6": ("relu6", {"features": "x"}),
    "nn.silu": ("silu", {"features": "x"}),
    "nn.softmax": ("softmax", {"logits": "x"}),
    "nn.softplus": ("softplus", {"features": "x"}),
    "reshape": ("reshape", {"tensor": "x", "shape": "newshape"}),
    "squeeze": ("squeeze", {"input": "x"}),
    "stack": ("stack", {"values": "x"}),
    "transpose": ("transpose", {"a": "x", "perm": "axes"}),
}


def is_operation(module: Any, name: Any) -> bool:
    """Whether a Keras 3 configuration names an operation that may be built."""
    match = re.fullmatch(r"keras\.(src\.)?ops(\.\w+)*", str(module))
    if not match or not isinstance(name, str) or name in _HIGHER_ORDER:
        return False
    return _class(name) is not None if IS_KERAS3 else snake_case(name) in _FROM_KERAS3


def is_tensorflow_function(name: Any) -> bool:
    """Whether a Keras 2 configuration names a function that may be called."""
    return isinstance(name, str) and name in _TRANSLATED


def operation(name: str, arguments: Mapping[str, Any]) -> Callable[..., Any]:
    """The operation of a Keras 3 configuration."""
    if not IS_KERAS3:
        return _tensorflow(_FROM_KERAS3[snake_case(name)], dict(arguments))
    cls = _class(name)
    return cls(**arguments)


def tensorflow_function(name: str) -> Callable[..., Any]:
    """The function of a Keras 2 configuration."""
    if not IS_KERAS3:
        return _tensorflow(name, {})
    known, renamed = _TRANSLATED[name]
    function = getattr(tf.keras.ops, known)

    def call(*args: Any, **kwargs: Any) -> Any:
        arguments = {
            renamed.get(k, k): v for k, v in kwargs.items() if k != "name" and v is not None
        }
        if "x1" in renamed.values():
            arguments.update(zip(("x1", "x2"), args))
            return function(**_with_arrays(arguments))
        return function(*args, **arguments)

    return call


def _with_arrays(said: dict[str, Any]) -> dict[str, Any]:
    """A constant beside a tensor is a list in a file; Keras 3 takes it as an array of its type."""
    types = [value.dtype for value in said.values() if hasattr(value, "dtype")]
    return {
        key: np.asarray(value, types[0]) if isinstance(value, list) and types else value
        for key, value in said.items()
    }


def _class(name: str) -> Any:
    import keras

    for module in _MODULES:
        found = getattr(importlib.import_module(f"keras.src.ops.{module}"), name, None)
        if inspect.isclass(found) and issubclass(found, keras.Operation):
            return found
    return None


def _tensorflow(name: str, said: Mapping[str, Any]) -> Callable[..., Any]:
    _, renamed = _TRANSLATED[name]
    back = {keras: tensorflow for tensorflow, keras in renamed.items()}
    if name == "__operators__.getitem":
        return lambda x, key=None, slice_spec=None: x[_key(slice_spec if key is None else key)]
    function = tf.add if name == "__operators__.add" else _attribute(tf, name)

    def call(*args: Any, **kwargs: Any) -> Any:
        named = {back.get(k, k): v for k, v in {**said, **kwargs}.items() if v is not None}
        return function(*args, **named)

    return call


def _key(spec: Any) -> Any:
    return tuple(spec) if isinstance(spec, list) else spec


def _attribute(root: Any, path: str) -> Any:
    for part in path.split("."):
        root = getattr(root, part)
    return root


_FROM_KERAS3 = {keras: tensorflow for tensorflow, (keras, _) in _TRANSLATED.items()}
