"""Small networks and their subjects for the tests of norms and competition measures."""

from __future__ import annotations

import numpy as np
import tensorflow as tf
from corpora import dataset, examples

from pgdl_measures.base import Subject

layers = tf.keras.layers


def randomized(model: tf.keras.Model, shape: tuple[int, ...], seed: int = 0) -> tf.keras.Model:
    """The model built, with random weights that batch norm can take as variances, and others as
    its initial weights."""
    model.build((None, *shape))
    rng = np.random.default_rng(seed)

    def draw() -> list[np.ndarray]:
        shapes = [tuple(weight.shape) for weight in model.weights]
        return [rng.uniform(0.2, 1.0, s) - 0.6 * (len(s) > 1) for s in shapes]

    model.initial_weights = draw()
    model.set_weights(draw())
    return model


def conv_net(seed: int = 0, classes: int = 3) -> tf.keras.Model:
    """Batch norm after a kernel, after a bias-free one, after an activation and on its own."""
    chain = [
        layers.Conv2D(4, 3, padding="same"),
        layers.BatchNormalization(),
        layers.ReLU(),
        layers.Conv2D(5, 3, strides=2, use_bias=False),
        layers.Dropout(0.5),
        layers.BatchNormalization(scale=False),
        layers.Activation("relu"),
        layers.BatchNormalization(center=False),
        layers.Flatten(),
        layers.Dense(classes),
    ]
    return randomized(tf.keras.Sequential(chain), (7, 8, 2), seed)


# The Keras layers with which the layers of the papers begin in `conv_net`.
CONV_NET_STARTS = (0, 3, 8, 9)


def dense_net(seed: int = 0, **last: str) -> tf.keras.Model:
    chain = [layers.Dense(5, activation="relu"), layers.Dense(3, **last)]
    return randomized(tf.keras.Sequential(chain), (4,), seed)


def subject(model: tf.keras.Model, count: int = 60, seed: int = 0) -> Subject:
    shape, classes = tuple(model.input_shape[1:]), int(model.output_shape[-1])
    return Subject(model, dataset(*examples(count, shape, classes, seed)))
