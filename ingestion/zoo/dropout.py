"""Dropout whose masks are drawn from the seed of a model, in networks with branches as well.

Keras' own generators keep a state that differs between its versions and between trainings. Here the
mask of a layer depends on the seed, the step and the layer's number, and on nothing else.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import tensorflow as tf

from ingestion.errors import ZooError


class SeededDropout:
    """Takes over all dropout layers of a model; `seed` and `step` are set before a forward pass."""

    def __init__(self, model: tf.keras.Model) -> None:
        self.seed: Any = 0
        self.step: Any = 0
        layers = list(_leaves(model))
        for number, layer in enumerate(layers):
            if isinstance(layer, tf.keras.layers.Dropout):
                layer.call = self._call(layer, number, len(layers))
            elif _draws(layer):
                raise ZooError(
                    f"the layer {layer.name} ({type(layer).__name__}) draws at random in training, "
                    "and no seed can repeat that; use Dropout"
                )

    def _call(self, layer: Any, number: int, count: int) -> Callable[..., tf.Tensor]:
        def call(inputs: tf.Tensor, training: bool | None = False) -> tf.Tensor:
            if not training or not layer.rate:
                return inputs
            seed = tf.stack([self.seed, self.step * count + number])
            shape = noise_shape(layer, tf.shape(inputs))
            return tf.nn.experimental.stateless_dropout(
                inputs, rate=layer.rate, seed=seed, noise_shape=shape
            )

        return call


def noise_shape(layer: Any, shape: tf.Tensor) -> tf.Tensor | None:
    """Which elements of a layer's inputs share a mask: a spatial dropout has one per channel."""
    own = getattr(layer, "noise_shape", None)
    if isinstance(layer, tf.keras.layers.SpatialDropout2D):
        return tf.stack([shape[0], 1, 1, shape[3]])
    if own is None:
        return None
    return tf.stack([shape[i] if n is None else n for i, n in enumerate(own)])


def _leaves(model: Any) -> Any:
    """The layers of a model, those of models inside it as well, in order."""
    for layer in model.layers:
        if hasattr(layer, "layers"):
            yield from _leaves(layer)
        else:
            yield layer


def _draws(layer: Any) -> bool:
    noisy = ("GaussianNoise", "GaussianDropout", "AlphaDropout")
    return type(layer).__name__.startswith(("Random", *noisy))
