"""A network computes what its model does, from any layer on, and never changes the model."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow as tf
from corpora import ARCHITECTURES, examples, write_model
from kit import kit_model

from ingestion.model_files.models import load_model
from pgdl_measures.errors import MeasureError
from pgdl_measures.network.compiled import network
from pgdl_measures.network.description import describe_layers

pytestmark = pytest.mark.keras2

SHAPE = (8, 9, 4)
X = tf.constant(examples(6, SHAPE, 37)[0])


@pytest.fixture(params=ARCHITECTURES)
def folder(request, tmp_path):
    config = {"model_config": ARCHITECTURES[request.param](37), "input_shape": list(SHAPE)}
    write_model(tmp_path / "model_0", config, seed=1)
    return tmp_path / "model_0"


@pytest.mark.parametrize("load", [load_model, kit_model])
def test_a_network_entered_at_any_layer_gives_the_models_outputs(folder, load):
    model = load(folder)
    net = network(model, SHAPE)
    plain = load_model(folder)
    expected = plain(X, training=False)
    for number, described in enumerate(describe_layers(plain)[:-1]):
        last = plain.get_layer(described.name) if number else None
        x = tf.keras.Model(plain.inputs, last.output)(X, training=False) if last else X
        assert tuple(x.shape[1:]) == described.shape
        np.testing.assert_allclose(net.run(x, net.entry(number)), expected, rtol=2e-4, atol=1e-4)
    assert net.outputs == 37


def test_models_of_one_architecture_share_a_network_and_keep_their_weights(folder, tmp_path):
    config = {"model_config": ARCHITECTURES["vgg"](37), "input_shape": list(SHAPE)}
    for i in (1, 2):
        write_model(tmp_path / f"other_{i}", config, seed=i)
    one, two = (load_model(tmp_path / f"other_{i}") for i in (1, 2))
    before = [w.copy() for w in one.get_weights()]
    net = network(one, SHAPE)
    first = net.run(X).numpy()
    assert network(two, SHAPE) is net
    assert np.abs(net.run(X).numpy() - first).max() > 0.1
    network(one, SHAPE)
    np.testing.assert_array_equal(net.run(X), first)
    for got, expected in zip(one.get_weights(), before):
        np.testing.assert_array_equal(got, expected)


@pytest.mark.parametrize(
    ("name", "layer", "affine"),
    [
        ("vgg", 0, 1),  # the convolution, not its activation
        ("vgg", 1, 0),  # max pooling
        ("vgg", 2, 1),
        ("vgg", 3, 2),  # flatten, dense without its activation
        ("vgg_batch_norm", 0, 2),
        ("vgg_batch_norm", 1, 2),
        ("vgg_batch_norm", 2, 3),  # average pooling, flatten, dense
        ("nin", 3, 2),
    ],
)
def test_affine_steps_end_where_something_is_not_affine(name, layer, affine, tmp_path):
    config = {"model_config": ARCHITECTURES[name](5), "input_shape": list(SHAPE)}
    net = network(write_model(tmp_path / "m", config, seed=0), SHAPE)
    assert net.affine_steps(net.entry(layer)) == affine


def test_every_step_that_is_called_affine_is(folder):
    net = network(load_model(folder), SHAPE)
    for layer in range(len(net.layers)):
        start = net.entry(layer)
        x = net.run(X, 0, start)
        x1, x2, stop = x[:3], x[3:], start + net.affine_steps(start)
        mixed = net.run(0.7 * x1 + 0.3 * x2, start, stop)
        ends = 0.7 * net.run(x1, start, stop) + 0.3 * net.run(x2, start, stop)
        np.testing.assert_allclose(mixed, ends, rtol=1e-3, atol=1e-4)


def functional_model() -> tf.keras.Model:
    inputs = tf.keras.Input((8, 9, 4))
    x = tf.keras.layers.Conv2D(4, 3, padding="same", activation="relu")(inputs)
    x = tf.keras.layers.add([x, inputs])
    return tf.keras.Model(inputs, tf.keras.layers.Dense(5)(tf.keras.layers.Flatten()(x)))


def test_a_model_with_a_shortcut_is_cut_where_its_branches_join():
    model = functional_model()
    net = network(model, SHAPE)
    np.testing.assert_allclose(net.run(X), model(X, training=False), rtol=1e-5)
    joined = tf.keras.Model(model.input, model.layers[2].output)(X)
    np.testing.assert_allclose(net.run(joined, net.entry(1)), model(X), rtol=1e-5)
    assert [d.computes for d in describe_layers(model)] == [
        "input",
        "Conv2D + Add",
        "Flatten",
        "Dense",
    ]


def test_models_with_branches_share_a_network_whatever_keras_named_their_layers():
    one, two = functional_model(), functional_model()
    assert [la.name for la in one.layers] != [la.name for la in two.layers]
    net = network(one, SHAPE)
    assert network(two, SHAPE) is net
    np.testing.assert_allclose(net.run(X), two(X, training=False), rtol=1e-5)


def test_layers_in_another_order_are_another_architecture():
    def model(*takes: int) -> tf.keras.Model:
        """Two convolutions; each output is the sum of those that are taken."""
        outputs = [tf.keras.Input(SHAPE)]
        for n in takes:
            outputs.append(tf.keras.layers.Conv2D(4, 3, padding="same")(outputs[n]))
        x = tf.keras.layers.add(outputs[1:])
        return tf.keras.Model(outputs[0], tf.keras.layers.Flatten()(x))

    parallel, serial = model(0, 0), model(0, 1)
    assert network(parallel, SHAPE) is not network(serial, SHAPE)
    for net in (parallel, serial):
        np.testing.assert_allclose(network(net, SHAPE).run(X), net(X), rtol=1e-4, atol=1e-5)


def test_a_functional_model_of_layers_in_a_row_is_a_chain(folder):
    sequential = load_model(folder)
    inputs = x = tf.keras.Input(SHAPE)
    for layer in sequential.layers:
        if not isinstance(layer, tf.keras.layers.InputLayer):
            x = type(layer).from_config(layer.get_config())(x)
    model = tf.keras.Model(inputs, x)
    model.set_weights(sequential.get_weights())
    net = network(model, SHAPE)
    assert net is network(sequential, SHAPE)
    np.testing.assert_allclose(net.run(X), sequential(X, training=False), rtol=1e-4, atol=1e-5)


def test_a_layer_that_is_used_twice_is_run_twice():
    inputs = tf.keras.Input(SHAPE)
    flat = tf.keras.layers.Flatten()(inputs)
    dense = tf.keras.layers.Dense(flat.shape[-1])
    twice = tf.keras.Model(inputs, dense(dense(flat)))
    np.testing.assert_allclose(network(twice, SHAPE).run(X), twice(X), rtol=1e-4, atol=1e-4)


def test_a_second_input_or_output_is_refused():
    inputs = tf.keras.Input(SHAPE)
    flat = tf.keras.layers.Flatten()(inputs)
    early = tf.keras.Model(inputs, [flat, tf.keras.layers.Dense(3)(flat)])
    with pytest.raises(MeasureError, match=r"several outputs .* make tf.keras.Model"):
        network(early, SHAPE)
    other = tf.keras.Input(SHAPE)
    both = tf.keras.Model([inputs, other], tf.keras.layers.Flatten()(inputs + other))
    with pytest.raises(MeasureError, match="takes 2 inputs"):
        network(both, SHAPE)


class Doubled(tf.keras.layers.Dense):
    """A user's layer that computes something of its own."""

    def call(self, inputs):
        return 2.0 * super().call(inputs)


def test_a_chain_with_a_users_own_layer_runs_as_it_is():
    layers = [tf.keras.layers.Flatten(), Doubled(7, activation="relu"), tf.keras.layers.Dense(5)]
    model = tf.keras.Sequential(layers)
    model.build((None, *SHAPE))
    net = network(model, SHAPE)
    np.testing.assert_allclose(net.run(X), model(X), rtol=1e-5)
    hidden = model.layers[1](model.layers[0](X))
    np.testing.assert_allclose(net.run(hidden, net.entry(1)), model(X), rtol=1e-5)
    assert net.affine_steps(0) == 0  # nothing is assumed of layers that are not Keras' own


class Standardized(tf.keras.layers.Conv2D):
    """A user's convolution whose `call` is Keras', but not what it calls."""

    def convolution_op(self, inputs, kernel):
        return super().convolution_op(inputs, kernel - tf.reduce_mean(kernel))


def _activations():
    """Two functions of one name."""

    def double():
        def act(x):
            return 2.0 * x

        return act

    def square():
        def act(x):
            return x * x

        return act

    return double(), square()


@pytest.mark.parametrize(
    "layers",
    [
        lambda: [Standardized(3, 3)],
        lambda: [tf.keras.layers.Lambda(lambda x: x + 1.0)],
        *(
            lambda act=act, kind=kind: [kind(act)]
            for act in _activations()
            for kind in (
                tf.keras.layers.Activation,
                lambda act: tf.keras.layers.Conv2D(3, 3, activation=act),
                lambda act: tf.keras.layers.Conv2DTranspose(3, 3, activation=act),
            )
        ),
    ],
)
def test_what_a_user_has_written_is_computed_as_written(layers):
    model = tf.keras.Sequential([*layers(), tf.keras.layers.Flatten()])
    model.build((None, *SHAPE))
    np.testing.assert_allclose(network(model, SHAPE).run(X), model(X), rtol=1e-4, atol=1e-4)


def test_what_matters_in_training_only_is_not_traced_again():
    def model(rate: float, momentum: float, initializer: str) -> tf.keras.Model:
        layers = tf.keras.layers
        chain = [
            layers.Flatten(),
            layers.Dense(6, kernel_initializer=initializer, kernel_regularizer="l2"),
            layers.BatchNormalization(momentum=momentum),
            layers.Dropout(rate),
            layers.Dense(5),
        ]
        found = tf.keras.Sequential(chain)
        found.build((None, *SHAPE))
        return found

    one, two = model(0.1, 0.9, "he_normal"), model(0.6, 0.99, "glorot_uniform")
    assert network(one, SHAPE) is network(two, SHAPE)
    np.testing.assert_allclose(
        network(two, SHAPE).run(X), two(X, training=False), rtol=1e-4, atol=1e-5
    )


def test_outputs_are_one_number_per_class():
    model = tf.keras.Sequential([tf.keras.layers.Conv2D(4, (8, 9))])
    model.build((None, *SHAPE))
    with pytest.raises(MeasureError, match=r"outputs have shape \[1, 1, 4\] for an example"):
        network(model, SHAPE)


def test_weights_that_are_not_numbers_are_named():
    model = tf.keras.Sequential([tf.keras.layers.Flatten(), tf.keras.layers.Dense(4)])
    model.build((None, *SHAPE))
    model.set_weights([w * np.nan for w in model.get_weights()])
    with pytest.raises(MeasureError, match=r"weights .* are NaN or infinite"):
        network(model, SHAPE)


def test_bad_layers_and_shapes_are_named(folder):
    model = load_model(folder)
    depth = len(network(model, SHAPE).layers)
    with pytest.raises(MeasureError, match=rf"layer {depth} is past the end: .* 0 to {depth - 1}"):
        network(model, SHAPE).entry(depth)
    with pytest.raises(MeasureError, match=r"inputs have shape \[8, 9, 3\]; the model takes"):
        network(model, (8, 9, 3))


@pytest.mark.parametrize("end", ["fused", "layer", "activation", "functional", "own"])
def test_logits_are_the_outputs_before_a_softmax(end):
    class Own(tf.keras.layers.Dense):  # cannot be split: it computes what its class does not say
        def call(self, inputs):
            return super().call(inputs)

    layers = tf.keras.layers
    kind = Own if end == "own" else layers.Dense
    dense = kind(4, activation="softmax" if end in ("fused", "functional", "own") else None)
    chain = [layers.Flatten(), dense]
    chain += {"layer": [layers.Softmax()], "activation": [layers.Activation("softmax")]}.get(
        end, []
    )
    model = tf.keras.Sequential(chain)
    model.build((None, *SHAPE))
    if end == "functional":
        inputs = tf.keras.Input(SHAPE)
        model = tf.keras.Model(inputs, dense(layers.Flatten()(inputs)))
    expected = tf.reshape(X, [len(X), -1]) @ dense.kernel + dense.bias
    logits = network(model, SHAPE).logits(X)
    # Up to a constant per example.
    np.testing.assert_allclose(
        logits - logits[:, :1], expected - expected[:, :1], rtol=1e-3, atol=1e-4
    )


def test_few_large_inputs_are_in_a_forward_pass_though_the_layers_are_narrow():
    def batch(side: int) -> int:
        layers = [tf.keras.layers.Flatten(), tf.keras.layers.Dense(3)]
        model = tf.keras.Sequential([tf.keras.layers.MaxPooling2D(8), *layers])
        model.build((None, side, side, 3))
        return network(model, (side, side, 3)).forward_batch

    assert batch(128) * 128 * 128 * 3 <= 4 * 2**20 and batch(8) == 4096
