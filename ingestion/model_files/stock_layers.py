"""Keras' own layers: which of them a network from outside may have, and their arguments."""

from __future__ import annotations

import inspect
import re
from typing import Any

import tensorflow as tf

_layers = tf.keras.layers
# These run a function or another program, read files by name, or do nothing by themselves.
# fmt: off
REFUSED = frozenset({
    "AbstractRNNCell", "DenseFeatures", "FlaxLayer", "IntegerLookup", "JaxLayer", "Lambda", "Layer",
    "StringLookup", "TFSMLayer", "TextVectorization", "TorchModuleWrapper", "Wrapper",
})
# fmt: on


def stock_class(name: Any) -> Any:
    """Keras' own layer class of that name; None where a network may not have it."""
    found = getattr(_layers, name, None) if isinstance(name, str) else None
    if found is None or not inspect.isclass(found) or name in REFUSED:
        return _convnext_class(name)
    return found if issubclass(found, _layers.Layer) else None


def _convnext_class(name: Any) -> Any:
    """The two layers that Keras defines for one of its `keras.applications` alone."""
    if name not in ("LayerScale", "StochasticDepth"):
        return None
    module = inspect.getmodule(inspect.unwrap(tf.keras.applications.ConvNeXtTiny))
    return getattr(module, name, None)


def is_stock_module(module: Any, kind: str = "layers") -> bool:
    """Whether that is where Keras keeps its own; some versions do not say."""
    if module is None or module in ("builtins", "keras"):
        return True
    pattern = rf"(tf_)?keras(\.src)?(\.{kind}|\.engine|\.applications\.convnext)(\.\w+)*"
    return isinstance(module, str) and re.fullmatch(pattern, module) is not None


def parameters(cls: Any) -> set[str]:
    """The arguments of a layer class and of the layers that it is a kind of."""
    names = {"name", "dtype", "trainable", "batch_input_shape", "batch_shape", "input_shape"}
    for base in inspect.getmro(cls):
        init = vars(base).get("__init__")
        if init is not None:
            parameters = inspect.signature(init).parameters
            names |= set(parameters)
            if not any(p.kind is p.VAR_KEYWORD for p in parameters.values()):
                break
    return names
