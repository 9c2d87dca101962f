"""A convolution on packed columns gives what Keras gives, and the gradients too."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import tensorflow as tf

from pgdl_measures.network.compiled import network
from pgdl_measures.network.folding import Folded, folded
from pgdl_measures.network.packing import Packed, packed_columns, packed_convolution

pytestmark = pytest.mark.keras2
L = tf.keras.layers

SHAPES = [(8, 1, 5), (8, 3, 7), (6, 4, 3), (7, 2, 3), (10, 9, 16), (8, 17, 4)]  # w, c, filters


@pytest.mark.parametrize(("size", "shape"), itertools.product([1, 2, 3, 5, (1, 4), (7, 2)], SHAPES))
def test_a_packed_convolution_is_the_convolution(size, shape):
    width, channels, filters = shape
    height_of_kernel, width_of_kernel = size if isinstance(size, tuple) else (size, size)
    rng = np.random.default_rng(0)
    x = tf.constant(rng.normal(size=(3, 5, width, channels)), tf.float32)
    kernel = rng.normal(size=(height_of_kernel, width_of_kernel, channels, filters))
    kernel = tf.constant(kernel, tf.float32)
    found, expected = [], []
    for convolution, into in (
        (lambda: packed_convolution(x, kernel), found),
        (lambda: tf.nn.conv2d(x, kernel, 1, "SAME"), expected),
    ):
        with tf.GradientTape() as tape:
            tape.watch([x, kernel])
            y = convolution()
            loss = tf.reduce_sum(y**2)
        into += [y, *tape.gradient(loss, [x, kernel])]
    for one, other in zip(found, expected):
        np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-3)


class Doubled(L.Conv2D):
    def call(self, inputs):
        return 2 * super().call(inputs)


@pytest.mark.parametrize(
    ("layer", "packed"),
    [
        (lambda: L.Conv2D(4, 3, padding="same"), True),
        (lambda: L.Conv2D(4, 3, padding="same", use_bias=False, activation="relu"), True),
        (lambda: L.Conv2D(4, 3, padding="valid"), False),
        (lambda: L.Conv2D(4, 3, padding="same", strides=2), False),
        (lambda: L.Conv2D(4, 3, padding="same", dilation_rate=2), False),
        (lambda: L.Conv2D(4, 3, padding="same", groups=2), False),
        (lambda: L.Conv2D(4, 3, padding="same", dtype="mixed_bfloat16"), False),
        (lambda: L.DepthwiseConv2D(3, padding="same"), False),
        (lambda: Doubled(4, 3, padding="same"), False),
    ],
)
def test_a_network_packs_only_plain_convolutions(layer, packed):
    model = tf.keras.Sequential([layer(), L.BatchNormalization(), L.Flatten(), L.Dense(3)])
    model.build((None, 6, 8, 2))
    model.set_weights([np.abs(w) + 0.1 for w in model.get_weights()])
    net = network(model, (6, 8, 2))
    x = np.random.default_rng(1).normal(size=(5, 6, 8, 2)).astype(np.float32)
    close = {"rtol": 1e-4, "atol": 1e-4}
    if model.layers[0].compute_dtype != "float32":
        close = {"rtol": 5e-2, "atol": 1e-1}
    np.testing.assert_allclose(net.run(x), model(x), **close)
    first = next(folded(net.steps))
    first = first._step if isinstance(first, Folded) else first
    assert isinstance(first, Packed) == packed


def test_convolutions_of_a_residual_block_are_packed_too():
    x = L.Input((6, 8, 2))
    y = L.BatchNormalization()(L.Conv2D(4, 3, padding="same")(x))
    y = L.Conv2D(4, 3, padding="same", use_bias=False)(L.ReLU()(y))
    y = L.Add()([L.Conv2D(4, 1, padding="same")(x), y])
    model = tf.keras.Model(x, L.Dense(3)(L.Flatten()(L.ReLU()(y))))
    model.set_weights([np.abs(w) + 0.1 for w in model.get_weights()])
    net = network(model, (6, 8, 2))
    images = np.random.default_rng(1).normal(size=(5, 6, 8, 2)).astype(np.float32)
    np.testing.assert_allclose(net.run(images), model(images), rtol=1e-4, atol=1e-4)
    calls = [call.operation for call in net.steps[0].quick_calls]
    steps = [call._step if isinstance(call, Folded) else call for call in calls]
    assert sum(isinstance(step, Packed) for step in steps) == 3


def test_columns_divide_the_width():
    assert packed_columns(28, 1, 16) == 4
    assert packed_columns(30, 3, 64) == 2
    assert packed_columns(33, 3, 64) == 1
    assert packed_columns(32, 16, 16) == 2
    assert packed_columns(32, 16, 32) == 1
    assert packed_columns(None, 3, 16) == 1
