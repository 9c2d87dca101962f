"""Calls a Keras layer with other weights than its own, without changing its variables."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import tensorflow as tf


def with_weights(call: Callable[[], Any], layer: Any, weights: Mapping[int, tf.Tensor]) -> Any:
    """What `call` gives while weights of the layer, by their numbers, are these tensors."""
    variables = {id(layer.weights[number]): tensor for number, tensor in weights.items()}
    if hasattr(tf.keras, "StatelessScope"):  # Keras 3
        pairs = [(layer.weights[number], tensor) for number, tensor in weights.items()]
        with tf.keras.StatelessScope(state_mapping=pairs):
            return call()
    with _attributes_replaced(layer, variables):
        return call()


@contextmanager
def _attributes_replaced(layer: Any, tensors: Mapping[int, tf.Tensor]) -> Iterator[None]:
    """Keras 2 has no such scope: its layers read their weights from their attributes."""
    before = []
    try:
        for part in layer._flatten_layers():
            for name, value in list(vars(part).items()):
                if id(value) in tensors:
                    before.append((part, name, value))
                    vars(part)[name] = tf.cast(tensors[id(value)], part.compute_dtype)
        yield
    finally:
        for part, name, value in before:
            vars(part)[name] = value
