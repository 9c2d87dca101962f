"""Folded batch norms change no output, and are folded only where that is so."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow as tf

from pgdl_measures.network.compiled import network
from pgdl_measures.network.folding import Folded, folded, folded_calls

pytestmark = pytest.mark.keras2
L = tf.keras.layers


def _model(shape, connect):
    x = L.Input(shape)
    model = tf.keras.Model(x, L.Dense(3)(L.Flatten()(connect(x))))
    rng = np.random.default_rng(0)
    weights = [rng.normal(0.3, 1, w.shape).astype(np.float32) for w in model.get_weights()]
    # variances are positive
    model.set_weights([np.abs(w) if w.ndim == 1 else w for w in weights])
    return model


def _residual(x):
    y = L.BatchNormalization()(L.Conv2D(4, 3, padding="same")(x))
    y = L.BatchNormalization()(L.Conv2D(4, 3, padding="same", use_bias=False)(L.ReLU()(y)))
    return L.ReLU()(L.Add()([L.BatchNormalization()(L.Conv2D(4, 1)(x)), y]))


def _read_twice(x):
    y = L.Conv2D(4, 3, padding="same")(x)
    return L.Add()([y, L.BatchNormalization()(y)])


IMAGE = (6, 5, 2)
FOLDED = {
    "convolution": (IMAGE, lambda x: L.BatchNormalization()(L.Conv2D(4, 3, strides=2)(x)), 1),
    "no bias": (IMAGE, lambda x: L.BatchNormalization()(L.Conv2D(4, 3, use_bias=False)(x)), 1),
    "no scale": (IMAGE, lambda x: L.BatchNormalization(scale=False)(L.Conv2D(4, 3)(x)), 1),
    "no centre": (IMAGE, lambda x: L.BatchNormalization(center=False)(L.Conv2D(4, 3)(x)), 1),
    "of dense": ((7,), lambda x: L.ReLU()(L.BatchNormalization()(L.Dense(4)(x))), 1),
    "one dimension": ((7, 2), lambda x: L.BatchNormalization()(L.Conv1D(4, 3)(x)), 1),
    "axis by number": (IMAGE, lambda x: L.BatchNormalization(axis=3)(L.Conv2D(4, 3)(x)), 1),
    "residual block": (IMAGE, _residual, 3),
    "read twice": (IMAGE, _read_twice, 0),
    "another axis": (IMAGE, lambda x: L.BatchNormalization(axis=1)(L.Conv2D(4, 3)(x)), 0),
    "after an activation": (
        IMAGE,
        lambda x: L.BatchNormalization()(L.Conv2D(4, 3, activation="relu")(x)),
        0,
    ),
    "depthwise": (IMAGE, lambda x: L.BatchNormalization()(L.DepthwiseConv2D(3)(x)), 0),
    "transposed": (IMAGE, lambda x: L.BatchNormalization()(L.Conv2DTranspose(4, 3)(x)), 0),
}


@pytest.mark.parametrize("kind", FOLDED)
def test_the_outputs_are_those_of_keras(kind):
    shape, connect, count = FOLDED[kind]
    model = _model(shape, connect)
    net = network(model, shape)
    x = tf.constant(np.random.default_rng(1).normal(size=(5, *shape)), tf.float32)
    np.testing.assert_allclose(net.run(x), model(x, training=False), rtol=2e-5, atol=2e-5)
    in_chain = sum(isinstance(step, Folded) for step in folded(net.steps))
    in_blocks = sum(
        isinstance(call.operation, Folded)
        for step in net.steps
        for call in folded_calls(getattr(step, "calls", []), -1)
    )
    assert in_chain + in_blocks == count


def test_a_traced_graph_follows_the_weights_of_the_next_model():
    models = [_model(IMAGE, _residual), _model(IMAGE, _residual)]
    models[1].set_weights([w * 0.5 for w in models[1].get_weights()])
    x = tf.ones([2, *IMAGE])
    for model in models:
        net = network(model, IMAGE)
        run = net.graph(
            "test",
            lambda net=net: tf.function(net.run, input_signature=[tf.TensorSpec([None, *IMAGE])]),
        )
        np.testing.assert_allclose(run(x), model(x, training=False), rtol=1e-5, atol=1e-5)
