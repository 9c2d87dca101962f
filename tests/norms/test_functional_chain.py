"""A chain written functionally has the norms of the same chain written as Sequential."""

from __future__ import annotations

import pytest
import tensorflow as tf
from corpora import examples
from nets import randomized

from pgdl_measures import complexities

pytestmark = pytest.mark.keras2
layers = tf.keras.layers
SHAPE, CLASSES = (8, 8, 3), 4
NAMES = (
    *("param_norm", "log_sum_of_fro", "log_prod_of_fro", "log_prod_of_spec", "path_norm"),
    *("fro_dist", "dist_spec_init", "inverse_margin", "sharpness", "jacobian_norm"),
    *("pacbayes_init", "pacbayes_orig", "pacbayes_flatness", "pacbayes_mag_init"),
    *("pacbayes_mag_orig", "pacbayes_mag_flatness"),
)


def chain() -> list[tf.keras.layers.Layer]:
    return [
        layers.Rescaling(0.5),
        layers.Conv2D(6, 3, padding="same", use_bias=False),
        layers.BatchNormalization(),
        layers.ReLU(),
        layers.MaxPooling2D(2),
        layers.Conv2D(5, 3, activation="relu"),
        layers.BatchNormalization(),
        layers.Flatten(),
        layers.Dropout(0.5),
        layers.Dense(CLASSES, activation="softmax"),
    ]


def test_pac_bayes_and_norms_of_a_functional_chain_are_those_of_the_sequential_one():
    sequential = randomized(tf.keras.Sequential(chain()), SHAPE)
    x = inputs = tf.keras.Input(SHAPE)
    for layer in chain():
        x = layer(x)
    functional = tf.keras.Model(inputs, x)
    functional.set_weights(sequential.get_weights())
    functional.initial_weights = sequential.initial_weights
    data = examples(60, SHAPE, CLASSES)
    options = {"draws": 2, "depth": 4, "steps": 2, "examples": 40}
    first, second = (complexities(NAMES, **options)(m, data) for m in (sequential, functional))
    assert first.refusals == second.refusals == {}
    assert dict(first) == dict(second)
