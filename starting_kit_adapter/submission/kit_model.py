"""Models as the starting kit makes them, for submissions that use what the kit adds to Keras.

Every layer remembers its last input as `_last_seen_input`, and the model takes a `tape` that then
watches the input of every layer: the kit's own baselines take Jacobians with these. The kit's
models are chains of layers; networks with branches get the same.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import tensorflow as tf

from ingestion.model_files.models import load_model


def load_kit_model(folder: Path) -> tf.keras.Model:
    """The trained model of a `model_<id>` folder, with what the kit adds."""
    model = load_model(folder)
    for layer in model.layers:
        if not isinstance(layer, tf.keras.layers.InputLayer):  # it is never called
            layer.__class__ = _remembering(layer.__class__)
    model.__class__ = _taking_tape(model.__class__)
    return model


@functools.cache
def _taking_tape(stock: Any) -> Any:
    """The subclass of a model class that can be called with a gradient tape."""

    def call(self: Any, x: tf.Tensor, *args: Any, tape: Any = None, **kwargs: Any) -> tf.Tensor:
        with _watched_by(tape, self.layers):
            return stock.__call__(self, x, *args, **kwargs)

    return _subclass(stock, call)


@functools.cache
def _remembering(stock: Any) -> Any:
    """The subclass of a layer class that remembers its last input."""

    def call(self: Any, x: tf.Tensor, *args: Any, **kwargs: Any) -> tf.Tensor:
        self._last_seen_input = x
        tape = getattr(self, "_tape", None)
        if tape is not None:
            tf.nest.map_structure(tape.watch, x)  # a layer that joins branches takes a list
        return stock.__call__(self, x, *args, **kwargs)

    return _subclass(stock, call)


def _subclass(stock: Any, call: Any) -> Any:
    return type(stock.__name__, (stock,), {"__call__": call, "__module__": __name__})


@contextlib.contextmanager
def _watched_by(tape: Any, layers: Sequence[Any]) -> Iterator[None]:
    for layer in layers:
        layer._tape = tape
    try:
        yield
    finally:
        for layer in layers:
            layer._tape = None
