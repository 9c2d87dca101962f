"""Folded batch norms change no output, and are folded only where that is so."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow as tf

from pgdl_measures.network.compiled import network
from pgdl_measures.network.folding import Folded, folded

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


def _shared_layer(x):
    layer = L.Conv2D(2, 3, padding="same")
    return L.BatchNormalization()(layer(L.ReLU()(L.BatchNormalization()(layer(x)))))


def _shared_norm(x):
    norm = L.BatchNormalization()
    return norm(L.Conv2D(4, 3)(L.ReLU()(norm(L.Conv2D(4, 3, padding="same")(x)))))


def _also_an_output_of_the_block(x):
    y = L.Conv2D(4, 3, padding="same")(x)
    return L.Concatenate()([L.BatchNormalization()(y), L.BatchNormalization()(y), x])


def _in_half(policy):
    return lambda x: L.BatchNormalization(dtype=policy)(L.Conv2D(4, 3, dtype=policy)(x))


class StandardizedConv(L.Conv2D):
    """Weight standardization: a scale of the kernel has no effect."""

    def call(self, inputs):
        kernel = tf.convert_to_tensor(self.kernel)
        mean, variance = tf.nn.moments(kernel, [0, 1, 2])
        y = tf.nn.conv2d(inputs, (kernel - mean) / tf.sqrt(variance + 1e-5), 1, "VALID")
        return y + tf.convert_to_tensor(self.bias)


class Doubling(L.BatchNormalization):
    def call(self, inputs, training=None, mask=None):
        return 2 * super().call(inputs, training=training)


class Renamed(L.Conv2D):
    """Computes what a convolution does, as the layers that the starting kit wraps."""


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
    "shared layer": (IMAGE, _shared_layer, 2),
    "shared batch norm": (IMAGE, _shared_norm, 2),
    "two batch norms of one": (IMAGE, _also_an_output_of_the_block, 0),
    "two batch norms": (
        IMAGE,
        lambda x: L.BatchNormalization()(L.BatchNormalization()(L.Conv2D(4, 3)(x))),
        1,
    ),
    "same padding after it": (
        IMAGE,
        lambda x: L.Conv2D(4, 3, padding="same")(L.BatchNormalization()(x)),
        0,
    ),
    "neither scale nor centre": (
        IMAGE,
        lambda x: L.BatchNormalization(scale=False, center=False)(L.Conv2D(4, 3)(x)),
        1,
    ),
    "dropout between": (
        IMAGE,
        lambda x: L.BatchNormalization()(L.Dropout(0.5)(L.Conv2D(4, 3)(x))),
        0,
    ),
    "causal": ((7, 2), lambda x: L.BatchNormalization()(L.Conv1D(4, 3, padding="causal")(x)), 1),
    "groups": (IMAGE, lambda x: L.BatchNormalization()(L.Conv2D(4, 3, groups=2)(x)), 1),
    "dilated": (IMAGE, lambda x: L.BatchNormalization()(L.Conv2D(4, 3, dilation_rate=2)(x)), 1),
    "three dimensions": ((4, 4, 4, 2), lambda x: L.BatchNormalization()(L.Conv3D(3, 2)(x)), 0),
    "separable": (IMAGE, lambda x: L.BatchNormalization()(L.SeparableConv2D(4, 3)(x)), 0),
    "transposed, one dimension": (
        (7, 2),
        lambda x: L.BatchNormalization()(L.Conv1DTranspose(4, 3)(x)),
        0,
    ),
    "dense over pixels": (IMAGE, lambda x: L.BatchNormalization()(L.Dense(4)(x)), 1),
    "double precision": (IMAGE, _in_half("float64"), 0),
    "mixed precision": (IMAGE, _in_half("mixed_bfloat16"), 0),
    "a convolution of one's own": (
        IMAGE,
        lambda x: L.BatchNormalization()(StandardizedConv(4, 3)(x)),
        0,
    ),
    "a batch norm of one's own": (IMAGE, lambda x: Doubling()(L.Conv2D(4, 3)(x)), 0),
    "a class without a change": (IMAGE, lambda x: L.BatchNormalization()(Renamed(4, 3)(x)), 1),
    "transposed": (IMAGE, lambda x: L.BatchNormalization()(L.Conv2DTranspose(4, 3)(x)), 0),
}


@pytest.mark.parametrize("kind", FOLDED)
def test_the_outputs_are_those_of_keras(kind):
    shape, connect, count = FOLDED[kind]
    model = _model(shape, connect)
    net = network(model, shape)
    x = tf.constant(np.random.default_rng(1).normal(size=(5, *shape)), tf.float32)
    close = {"rtol": 2e-2, "atol": 1e-1} if "mixed" in kind else {"rtol": 2e-5, "atol": 2e-5}
    expected = model.predict(x, verbose=0)
    np.testing.assert_allclose(net.run(x), expected, **close)
    for layer in range(1, len(net.layers)):
        entry = net.entry(layer)
        np.testing.assert_allclose(net.run(net.run(x, 0, entry), entry), expected, **close)
    in_chain = sum(isinstance(step, Folded) for step in folded(net.steps))
    in_blocks = sum(
        isinstance(call.operation, Folded)
        for step in net.steps
        for call in getattr(step, "quick_calls", [])
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


@pytest.mark.skipif(not hasattr(L.Dense, "quantize"), reason="Keras 2 has no quantization")
@pytest.mark.parametrize("how", ["int8", "lora"])
def test_a_layer_with_more_weights_than_its_kernel_is_not_folded(how):
    model = _model((7,), lambda x: L.ReLU()(L.BatchNormalization()(L.Dense(4)(x))))
    dense = model.layers[1]
    if how == "lora":
        dense.enable_lora(2)
        dense.lora_kernel_b.assign(tf.ones_like(dense.lora_kernel_b))
    else:
        dense.quantize("int8")
    x = np.random.default_rng(1).normal(size=(5, 7)).astype(np.float32)
    net = network(model, (7,))
    assert not any(isinstance(step, Folded) for step in folded(net.steps))
    np.testing.assert_allclose(net.run(x), model.predict(x, verbose=0), rtol=1e-4, atol=1e-4)
