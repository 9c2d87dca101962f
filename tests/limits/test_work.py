"""Operations and bytes of a layer equal closed forms, and TensorFlow's own count."""

from __future__ import annotations

import pytest
import tensorflow as tf

from ingestion.cost.work import step_work

pytestmark = pytest.mark.keras2

LAYERS = tf.keras.layers

# layer, shape of one input, operations for one example
CASES = {
    "dense": (LAYERS.Dense(7, use_bias=False), (5,), 2 * 5 * 7),
    "dense with bias": (LAYERS.Dense(7), (5,), 2 * 5 * 7 + 7),
    "dense on images": (LAYERS.Dense(7, use_bias=False), (4, 4, 5), 16 * 2 * 5 * 7),
    "conv same": (
        LAYERS.Conv2D(6, 3, padding="same", use_bias=False),
        (8, 10, 3),
        2 * (8 * 10 * 6) * (3 * 3 * 3),
    ),
    "conv valid with bias": (
        LAYERS.Conv2D(6, 3),
        (8, 10, 3),
        2 * (6 * 8 * 6) * (3 * 3 * 3) + 6 * 8 * 6,
    ),
    "conv with strides": (
        LAYERS.Conv2D(6, (3, 5), strides=2, padding="same", use_bias=False),
        (8, 10, 3),
        2 * (4 * 5 * 6) * (3 * 5 * 3),
    ),
    "conv of sequences": (
        LAYERS.Conv1D(6, 3, use_bias=False),
        (12, 4),
        2 * (10 * 6) * (3 * 4),
    ),
    "depthwise": (
        LAYERS.DepthwiseConv2D(3, use_bias=False, depth_multiplier=2),
        (8, 8, 4),
        2 * (6 * 6 * 8) * 9,
    ),
    "separable": (
        LAYERS.SeparableConv2D(5, 3, use_bias=False),
        (8, 8, 4),
        2 * (6 * 6 * 4) * 9 + 2 * (6 * 6 * 5) * 4,
    ),
    "pooling": (LAYERS.MaxPooling2D(2), (8, 8, 4), (4 * 4 * 4) * 4),
    "relu": (LAYERS.ReLU(), (8, 8, 4), 8 * 8 * 4),
    "flatten": (LAYERS.Flatten(), (8, 8, 4), 0),
}


@pytest.mark.parametrize("name", CASES)
def test_operations_of_a_layer_equal_the_closed_form(name):
    layer, shape, expected = CASES[name]
    layer(tf.zeros([1, *shape]))
    work, _ = step_work(layer, shape)
    assert work.flops == expected


def test_bytes_are_activations_per_example_and_weights_per_call():
    layer = LAYERS.Dense(7)
    layer(tf.zeros([1, 5]))
    work, shape = step_work(layer, (5,))
    # The product reads 5 and writes 7; adding the bias reads these 7 and writes 7.
    assert work.bytes == 4 * (5 + 7 + 7 + 7)
    assert work.call_bytes == 4 * (5 * 7 + 7)
    assert shape == (7,)


def test_operations_of_a_network_equal_those_of_the_tensorflow_profiler():
    model = tf.keras.Sequential(
        [
            LAYERS.Conv2D(8, 3, strides=2, padding="same", use_bias=False),
            LAYERS.Conv2D(4, 1, use_bias=False),
            LAYERS.Flatten(),
            LAYERS.Dense(10, use_bias=False),
        ]
    )
    model.build((None, 16, 16, 3))
    graph = tf.function(model).get_concrete_function(tf.TensorSpec([1, 16, 16, 3])).graph
    builder = tf.compat.v1.profiler.ProfileOptionBuilder
    options = builder(builder.float_operation()).with_empty_output().build()
    profiled = tf.compat.v1.profiler.profile(graph, options=options).total_float_ops
    work, _ = step_work(model, (16, 16, 3))
    assert work.flops == profiled > 0
