"""The starting kit's baselines against closed forms and brute force."""

from __future__ import annotations

import math

import numpy as np
import pytest
import tensorflow as tf
from corpora import dataset
from nets import CONV_NET_STARTS, conv_net, dense_net, subject

from pgdl_measures import MeasureError, complexity
from pgdl_measures.base import Subject

pytestmark = pytest.mark.keras2


def test_the_parameter_count_is_of_trainable_weights():
    assert complexity("parameter_count").on(subject(dense_net())) == 4 * 5 + 5 + 5 * 3 + 3
    batch_norms = 2 * 4 + 5 + 5  # scale and shift; shift; scale
    kernels = 9 * 2 * 4 + 4 + 9 * 4 * 5 + (3 * 3 * 5) * 3 + 3
    assert complexity("parameter_count").on(subject(conv_net())) == kernels + batch_norms


def test_the_distance_from_init_leaves_moving_averages_out():
    model = conv_net()
    squares = [
        np.sum((now - start) ** 2)
        for weight, now, start in zip(model.weights, model.get_weights(), model.initial_weights)
        if "moving" not in weight.name
    ]
    expected = pytest.approx(math.sqrt(sum(squares)), rel=1e-6)
    assert complexity("distance_from_init").on(subject(model)) == expected
    del model.initial_weights
    with pytest.raises(MeasureError, match="needs the initial weights"):
        complexity("distance_from_init").on(subject(model))


def test_the_jacobian_norm_is_that_of_a_loop_over_layers_outputs_and_examples():
    tested = subject(conv_net(), count=3)
    layers = tested.model.layers
    means = []
    for number in CONV_NET_STARTS:
        for example in tested.data.inputs:
            x = example[None]
            for layer in layers[:number]:
                x = layer(x)
            for output in range(3):
                with tf.GradientTape() as tape:
                    tape.watch(x)
                    y = x
                    for layer in layers[number:]:
                        y = layer(y)
                    y = y[0, output]
                means.append(np.mean(tape.gradient(y, x).numpy() ** 2))
    assert complexity("jacobian_norm").on(tested) == pytest.approx(np.mean(means), rel=1e-4)


def sharpness(model: tf.keras.Model, data: tf.data.Dataset, **options: int) -> float:
    return complexity("sharpness", **options).on(Subject(model, data))


def test_sharpness_is_where_a_tenth_of_the_accuracy_is_lost():
    """Without steps of the gradient, the accuracy at alpha is that of the random start."""
    model = dense_net()
    inputs = np.random.default_rng(0).normal(size=(397, 4)).astype(np.float32)
    labels = np.argmax(model(inputs), axis=1).astype(np.int32)
    alpha = -sharpness(model, dataset(inputs, labels), steps=0, depth=12)
    weights = model.get_weights()
    order = [0, 2, 1, 3]  # kernels, then biases

    def accuracy(size: float) -> float:
        moved = list(weights)
        for stream, number in enumerate(order):
            w = weights[number]
            noise = tf.random.stateless_uniform(w.shape, [0, stream], -0.5, 0.5, alg="philox")
            moved[number] = w + size * noise.numpy() * np.abs(w)
        model.set_weights(moved)
        return float(np.mean(np.argmax(model(inputs), axis=1) == labels))

    assert accuracy(alpha * 0.99) >= 0.9 > accuracy(alpha * 1.01)


def test_sharpness_is_found_by_climbing_and_leaves_the_model_unchanged():
    model = dense_net()
    inputs = np.random.default_rng(0).normal(size=(200, 4)).astype(np.float32)
    data = dataset(inputs, np.argmax(model(inputs), axis=1).astype(np.int32))
    before = [w.copy() for w in model.get_weights()]
    found = sharpness(model, data)
    assert sharpness(model, data) == found
    assert sharpness(model, data, seed=1) != found
    # More steps find worse weights, so that less is borne.
    assert sharpness(model, data, steps=200) >= found >= sharpness(model, data, steps=0)
    with pytest.raises(MeasureError, match="labels go from 7 to 7; the model is of 3 classes"):
        sharpness(model, dataset(inputs, np.full(200, 7, np.int32)))
    for got, expected in zip(model.get_weights(), before):
        np.testing.assert_array_equal(got, expected)
