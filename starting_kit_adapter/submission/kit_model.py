"""Models as the starting kit makes them, for submissions that use what the kit adds to Keras.

Every layer remembers its last input as `_last_seen_input`, and the model takes a `tape` that then
watches the input of every layer: the kit's own baselines take Jacobians with these.
"""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any

import tensorflow as tf

from ingestion.models import load_model
from starting_kit_adapter.submission.errors import SubmissionError


def load_kit_model(folder: Path) -> tf.keras.Model:
    """The trained model of a `model_<id>` folder, with what the kit adds."""
    model = load_model(folder)
    if not isinstance(model, tf.keras.Sequential):
        raise SubmissionError(f"{folder}: has branches; the kit's models are chains of layers")
    for layer in model.layers:
        layer.__class__ = _remembering(layer.__class__)
    model.__class__ = KitSequential
    return model


class KitSequential(tf.keras.Sequential):
    """A `Sequential` that can be called with a gradient tape."""

    def __call__(self, x: tf.Tensor, *args: Any, tape: Any = None, **kwargs: Any) -> tf.Tensor:
        if tape is None:
            return super().__call__(x, *args, **kwargs)
        for layer in self.layers:
            tape.watch(x)
            x = layer(x)
        return x


@functools.cache
def _remembering(stock: Any) -> Any:
    """The subclass of a layer class that remembers its last input."""

    def call(self: Any, x: tf.Tensor, *args: Any, **kwargs: Any) -> tf.Tensor:
        self._last_seen_input = x
        return stock.__call__(self, x, *args, **kwargs)

    return type(stock.__name__, (stock,), {"__call__": call, "__module__": __name__})
