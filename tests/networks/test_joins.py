"""Networks with every kind of join are entered, cut and measured as Keras computes them."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
import tensorflow as tf
from corpora import dataset, examples
from zoo_of_kinds import (
    CLASSES,
    JOINS,
    concatenated,
    conv,
    functional,
    initialized,
    layers,
    residual,
)

from pgdl_measures import complexities, complexity
from pgdl_measures.base import Subject
from pgdl_measures.errors import MeasureError
from pgdl_measures.network.compiled import Network, network
from pgdl_measures.network.description import describe_layers
from pgdl_measures.norms.fused import fused_network
from pgdl_measures.norms.spectral import spectral_norm

pytestmark = pytest.mark.keras2

SHAPE = (8, 8, 3)
INPUTS, LABELS = examples(80, SHAPE, CLASSES)
SOME = (
    *("gi_intra_l1", "contre_fisher", "vpm", "wcv", "dbi", "mixup_margin", "jacobian_norm"),
    *("sharpness", "pacbayes_mag_flatness", "log_prod_of_spec", "dist_spec_init", "path_norm"),
)
LITTLE = {"batches": 2, "examples": 30, "draws": 2, "depth": 3, "graphs": 2, "steps": 2}


def subject_of(model: tf.keras.Model) -> Subject:
    return Subject(model, dataset(INPUTS, LABELS))


@pytest.mark.parametrize("join", JOINS)
def test_a_network_with_any_join_is_computed_and_measured(join):
    model = initialized(JOINS[join](SHAPE))
    before = model.get_weights()
    tested = subject_of(model)
    expected = model(INPUTS, training=False).numpy()
    np.testing.assert_allclose(tested.network.run(INPUTS), expected, rtol=1e-4, atol=1e-5)
    for layer in range(1, len(tested.network.layers)):
        entry = tested.network.entry(layer)
        x = tested.network.run(INPUTS, 0, entry)
        np.testing.assert_allclose(tested.network.run(x, entry), expected, rtol=1e-4, atol=1e-5)
    fused = fused_network(tested)
    logits, again = tested.network.logits(INPUTS), fused.run(INPUTS, *fused.tensors())
    # Up to a constant per example.
    np.testing.assert_allclose(again - again[:, :1], logits - logits[:, :1], rtol=1e-3, atol=1e-3)
    found = complexities(SOME, **LITTLE)(model, dataset(INPUTS, LABELS))
    refused = {"path_norm"} if join in ("Multiply", "attention") else set()
    assert set(found.refusals) == refused, found.refusals
    if refused:
        assert "is not defined for the layer" in found.refusals["path_norm"]
    assert all(map(math.isfinite, found.values()))
    for got, kept in zip(model.get_weights(), before):
        np.testing.assert_array_equal(got, kept)


def test_a_resnet_is_cut_where_keras_says_that_its_blocks_end():
    model = initialized(residual(SHAPE))
    net = network(model, SHAPE)
    described = describe_layers(model)
    assert len(described) == 6  # input, stem, two blocks, pooling, classifier
    for layer in described[1:-1]:
        there = tf.keras.Model(model.inputs, model.get_layer(layer.name).output)(INPUTS)
        assert tuple(there.shape[1:]) == layer.shape
        entry = net.entry(layer.number)
        np.testing.assert_allclose(net.run(INPUTS, 0, entry), there, rtol=1e-4, atol=1e-5)
        np.testing.assert_allclose(net.run(there, entry), model(INPUTS), rtol=1e-4, atol=1e-5)
    before = tf.keras.Model(model.inputs, model.layers[-1].input)(INPUTS)
    np.testing.assert_allclose(net.features(INPUTS), before, rtol=1e-4, atol=1e-5)


def test_the_path_norm_of_a_graph_is_the_sum_over_its_paths():
    """x -> a -> Add(a, b(a)) -> Concatenate(that, c(that)) -> d, each without a bias."""

    def dense(units: int) -> tf.keras.layers.Layer:
        return layers.Dense(units, use_bias=False)

    a, b, c, d = dense(3), dense(3), dense(2), dense(CLASSES)
    inputs = tf.keras.Input((4,))
    first = a(inputs)
    added = layers.Add()([first, layers.ReLU()(b(first))])
    model = tf.keras.Model(inputs, d(layers.Concatenate()([added, c(added)])))
    rng = np.random.default_rng(0)
    model.set_weights([rng.normal(size=w.shape) for w in model.get_weights()])
    wa, wb, wc, wd = (layer.get_weights()[0] for layer in (a, b, c, d))
    total = 0.0
    for i, j, k, out in itertools.product(range(4), range(3), range(3), range(CLASSES)):
        for to_added in [wb[j, k], *([1.0] if j == k else [])]:
            for to_end in [wd[k, out], *(wc[k, n] * wd[3 + n, out] for n in range(2))]:
                total += (wa[i, j] * to_added * to_end) ** 2
    data = dataset(*examples(50, (4,), CLASSES))
    assert complexity("path_norm")(model, data) == pytest.approx(math.sqrt(total / 50), rel=1e-5)


def test_a_batch_norm_and_an_activation_belong_to_the_layer_before_them():
    """l = 1 of Conv -> BatchNorm -> ReLU is l = 1 of the same network folded by hand."""
    apart = initialized(functional(SHAPE))
    net = Subject(apart, dataset(INPUTS, LABELS))
    fused = fused_network(net)
    folded = tf.keras.Sequential(
        [
            layers.Rescaling(0.5),
            layers.Conv2D(8, 3, padding="same", activation="relu"),
            layers.Conv2D(8, 3, padding="same", activation="relu", strides=2),
            layers.GlobalAveragePooling2D(),
            layers.Dense(CLASSES),
        ]
    )
    folded.build((None, *SHAPE))
    folded.set_weights([w for pair in zip(fused.kernels, fused.biases) for w in pair])
    names = ("gi_intra_l1", "gi_inter_l2", "manifold_mixup", "vpm", "contre_fisher")
    options = {"batches": 4, "graphs": 2, "examples": 60}
    first, second = (
        complexities(names, **options)(model, dataset(INPUTS, LABELS)) for model in (apart, folded)
    )
    for name in names:
        assert first[name] == pytest.approx(second[name], rel=1e-3), name
    network, (one, other) = net.network, (INPUTS[:40], INPUTS[40:])
    entry = network.entry(1)
    mixed = (network.run(one, stop=entry) + network.run(other, stop=entry)) / 2
    at_input, at_layer = network.run((one + other) / 2), network.run(mixed, entry)
    assert np.abs(at_input - at_layer).max() > 1e-3


def test_a_flatten_in_front_is_no_layer():
    """l = 1 of a dense network on images is that of the same network on vectors."""
    names = ("gi_intra_l1", "manifold_mixup", "vpm")

    def values(inputs: np.ndarray, *front: tf.keras.layers.Layer) -> dict[str, float]:
        model = tf.keras.Sequential(
            [*front, layers.Dense(16, activation="relu"), layers.Dense(CLASSES)]
        )
        model.build((None, *inputs.shape[1:]))
        rng = np.random.default_rng(0)
        model.set_weights([rng.normal(size=w.shape) for w in model.get_weights()])
        found = complexities(names, batches=4, graphs=2, examples=60)(
            model, dataset(inputs, LABELS)
        )
        return {name: found[name] for name in names}

    images = values(INPUTS, layers.Flatten())
    assert images == pytest.approx(values(INPUTS.reshape(len(INPUTS), -1)), rel=1e-5)


def folded_by_hand(model: tf.keras.Model) -> tuple[tf.keras.Model, list[np.ndarray]]:
    """The network with each kernel times the scale of its batch norm, which then only shifts.

    And all kernels: what a batch norm x -> gamma (x - mean) / sqrt(variance + epsilon) + beta does
    to the output x of a kernel and a bias, in NumPy.
    """
    other = tf.keras.models.clone_model(model)
    other.set_weights(model.get_weights())
    norms = {
        id(layer.input): layer
        for layer in other.layers
        if isinstance(layer, layers.BatchNormalization)
    }
    kernels = []
    for layer in other.layers:
        if not isinstance(layer, (layers.Conv2D, layers.Dense)):
            continue
        kernel, *biases = layer.get_weights()
        norm = norms.get(id(layer.output))
        if norm is not None:
            gamma, beta, mean, variance = norm.get_weights()
            scale = gamma / np.sqrt(variance + norm.epsilon)
            kernel = kernel * scale
            beta = beta - mean * scale + sum(bias * scale for bias in biases)
            layer.set_weights([kernel, *(np.zeros_like(bias) for bias in biases)])
            one = np.ones_like(gamma)
            norm.set_weights([one, beta, 0 * one, one - norm.epsilon])
        kernels.append(kernel)
    return other, kernels


@pytest.mark.parametrize("join", [residual, concatenated])
def test_norms_of_networks_with_joins_are_those_of_kernels_folded_by_hand(join):
    model = initialized(join(SHAPE))
    folded, kernels = folded_by_hand(model)
    np.testing.assert_allclose(folded(INPUTS), model(INPUTS), rtol=1e-4, atol=1e-4)
    squares = np.array([np.square(kernel.astype(np.float64)).sum() for kernel in kernels])
    spectral = ("log_prod_of_spec", "fro_over_spec", "log_sum_of_spec")
    names = ("params", "param_norm", "log_prod_of_fro", "path_norm", "inverse_margin", *spectral)
    data = dataset(INPUTS, LABELS)
    found, by_hand = (complexities(names)(network, data) for network in (model, folded))
    assert found.refusals == {}
    expected = {name: pytest.approx(by_hand[name], rel=1e-4) for name in names}
    assert {name: found[name] for name in names} == expected
    m = len(LABELS)
    assert found["param_norm"] == pytest.approx(math.sqrt(squares.sum() / m), rel=1e-5)
    product = 0.5 * (np.log(squares).sum() - math.log(m))
    assert found["log_prod_of_fro"] == pytest.approx(product, rel=1e-5)


def test_twelve_resnets_are_traced_once_for_each_measure(monkeypatch):
    made, traced, graph, init = [], [], Network.graph, Network.__init__

    def counted(self, key, build):
        return graph(self, key, lambda: traced.append(key) or build())

    def counted_init(self, *arguments):
        made.append(self)
        init(self, *arguments)

    monkeypatch.setattr(Network, "graph", counted)
    monkeypatch.setattr(Network, "__init__", counted_init)
    names = ("gi_intra_l1", "contre_accuracy", "inverse_margin")
    found, after = [], []
    for seed in range(12):
        model = initialized(residual(SHAPE), seed)
        found.append(complexities(names, batches=1)(model, dataset(INPUTS, LABELS)))
        after.append(len(traced))
    assert len(set(after)) == 1  # the first model's, or none where another test had them
    assert len(made) <= 1
    assert len(traced) == len(set(traced))
    assert all(len({values[name] for values in found}) > 1 for name in names)


@pytest.mark.parametrize(
    "layer",
    [
        lambda: layers.DepthwiseConv2D(3, depth_multiplier=2, padding="same"),
        lambda: layers.Conv2D(4, 3, groups=2, strides=2, padding="same"),
        lambda: layers.Conv2DTranspose(3, 3, strides=2, padding="same"),
    ],
)
def test_the_spectral_norm_of_any_convolution_is_that_of_its_matrix(layer):
    model = tf.keras.Sequential([layer(), layers.Flatten(), layers.Dense(CLASSES)])
    model.build((None, 4, 4, 4))
    tested = Subject(model, dataset(*examples(20, (4, 4, 4), CLASSES)))
    fused = fused_network(tested)
    units = np.eye(64, dtype=np.float32).reshape(64, 4, 4, 4)
    moved = model.layers[0](units) - model.layers[0](np.zeros_like(units))
    expected = np.linalg.norm(np.asarray(moved).reshape(64, -1), 2)
    found = spectral_norm(fused.kernels[0], fused.geometries[0], "zero")
    assert found == pytest.approx(expected, rel=1e-5)
    circular = spectral_norm(fused.kernels[0], fused.geometries[0])
    assert 0.7 * expected < circular < 1.5 * expected


def test_one_sigmoid_is_two_classes():
    x = tf.keras.Input(SHAPE)
    hidden = layers.GlobalAveragePooling2D()(conv(x, 8))
    logit = layers.Dense(1)
    single = tf.keras.Model(x, layers.Activation("sigmoid")(logit(hidden)))
    net = network(initialized(single), SHAPE)
    p = single(INPUTS).numpy()
    assert net.outputs == 2
    np.testing.assert_allclose(net.run(INPUTS), np.concatenate([1 - p, p], axis=1), atol=1e-6)
    odds = np.log(p / (1 - p))[:, 0]
    logits = net.logits(INPUTS).numpy()
    np.testing.assert_allclose(logits[:, 1] - logits[:, 0], odds, rtol=1e-3, atol=1e-4)
    data = dataset(INPUTS, LABELS % 2)
    found = complexities(["mixup", "sharpness", "vpm", "dbi"], **LITTLE)(single, data)
    assert found.refusals == {}
    with pytest.raises(MeasureError, match="one output without a sigmoid"):
        network(tf.keras.Model(x, logit(hidden)), SHAPE)


@pytest.mark.parametrize("policy", ["mixed_float16", "mixed_bfloat16", "bfloat16", "float64"])
def test_measures_take_models_of_any_precision(policy):
    try:
        tf.keras.mixed_precision.set_global_policy(policy)
        model = initialized(residual(SHAPE))
    finally:
        tf.keras.mixed_precision.set_global_policy("float32")
    names = ("gi_intra_l1", "contre_fisher", "vpm", "mixup_margin", "jacobian_norm", "dbi")
    names += ("sharpness", "pacbayes_flatness", "path_norm", "inverse_margin", "gi_noise")
    found = complexities(names, **LITTLE)(model, dataset(INPUTS, LABELS))
    assert found.refusals == {}
    tested = network(model, SHAPE)
    assert tested.run(INPUTS).dtype == tf.float32
    expected = tf.cast(model(INPUTS), tf.float32)
    np.testing.assert_allclose(tested.run(INPUTS), expected, rtol=1e-2, atol=1e-2)


def test_autograph_reads_all_that_is_traced(caplog):
    """It warns of what it cannot read, such as assignments in expressions."""
    model = initialized(functional((10, 10, 3)))
    inputs, labels = examples(80, (10, 10, 3), CLASSES)
    logger = tf.get_logger()
    logger.addHandler(caplog.handler)
    try:
        found = complexities(SOME, **LITTLE)(model, dataset(inputs, labels))
    finally:
        logger.removeHandler(caplog.handler)
    assert "contre_fisher" in found
    assert "AutoGraph" not in caplog.text
