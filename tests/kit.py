"""How the competition's starting kit builds and calls, written anew for tests.

Every layer is an instance of a subclass that remembers its last input, the model is a subclass of
`Sequential` that takes a `tape`, and it is built with a batch of none.
"""

from __future__ import annotations

from pathlib import Path

import tensorflow as tf

from ingestion.model_files.models import load_model


def wrapped(layer: tf.keras.layers.Layer) -> tf.keras.layers.Layer:
    class Wrapped(type(layer)):
        def __call__(self, x, *args, **kwargs):
            self._last_seen_input = x
            return super().__call__(x, *args, **kwargs)

    return Wrapped.from_config(layer.get_config())


class KitSequential(tf.keras.Sequential):
    def __call__(self, x, tape=None):
        if tape is not None:
            tape.watch(x)
        return super().__call__(x)


def kit_model(folder: Path) -> tf.keras.Model:
    """The model of a folder as the kit would hand it to a submission."""
    plain = load_model(folder)
    model = KitSequential([wrapped(layer) for layer in plain.layers])
    model.build([0, *plain.input_shape[1:]])
    if hasattr(plain, "initial_weights"):
        model.initial_weights = plain.initial_weights
    model.set_weights(plain.get_weights())
    return model
