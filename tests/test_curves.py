"""Response curves against a literal Algorithm 1, an analytic curve, and themselves."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow as tf
from corpora import ARCHITECTURES, dataset, examples, write_model

from pgdl_measures.data import TrainingData, training_data
from pgdl_measures.errors import MeasureError
from pgdl_measures.network.compiled import network
from pgdl_measures.perturbations.mixup import draw_batches, draw_pairs
from pgdl_measures.response_curves import statistics
from pgdl_measures.response_curves.curves import mixup_curve

pytestmark = pytest.mark.keras2

SHAPE, CLASSES = (8, 8, 4), 5
MAGNITUDES = [0.0, 0.1, 0.25, 0.4, 0.5]


@pytest.fixture(scope="module")
def data() -> TrainingData:
    return training_data(dataset(*examples(150, SHAPE, CLASSES)))


@pytest.fixture(scope="module", params=ARCHITECTURES)
def model(request, tmp_path_factory) -> tf.keras.Model:
    config = {"model_config": ARCHITECTURES[request.param](CLASSES), "input_shape": list(SHAPE)}
    return write_model(tmp_path_factory.mktemp("m") / request.param, config, seed=2)


def literal(model, data, pairing, layer, batches, batch_size, salts=None):
    """Algorithms 1 and 3: loops over magnitudes and batches, the model's own layers, one by one."""
    counts = np.zeros((2, len(MAGNITUDES)))
    for i, alpha in enumerate(MAGNITUDES):
        seed = [0, salts[i] if salts else 0]
        order = draw_batches(
            tf.constant(len(data)), tf.constant(batches), tf.constant(batch_size), tf.constant(seed)
        )
        for k in range(batches):
            pairs = draw_pairs(data.labels, order[k : k + 1], pairing)
            x1, x2 = (tf.gather(data.inputs, index) for index in (pairs.first, pairs.second))
            for keras_layer in model.layers[:layer]:
                x1, x2 = keras_layer(x1), keras_layer(x2)
            x = (1 - alpha) * x1 + alpha * x2
            for keras_layer in model.layers[layer:]:
                x = keras_layer(x)
            hits = np.argmax(x, axis=1) == tf.gather(data.labels, pairs.first).numpy()
            counts[:, i] += hits.sum(), len(hits)
    return counts


@pytest.mark.parametrize("pairing", ["intra", "inter"])
@pytest.mark.parametrize("layer", [0, 1, 2])
@pytest.mark.parametrize("hoist", [True, False])
def test_a_curve_is_that_of_the_literal_algorithm(model, data, pairing, layer, hoist):
    settings = {"pairing": pairing, "layer": layer, "batches": 6, "batch_size": 31}
    curve = mixup_curve(network(model, SHAPE), data, MAGNITUDES, **settings, hoist=hoist)
    correct, pairs = literal(model, data, **settings)
    np.testing.assert_array_equal(curve.pairs.sum(axis=0), pairs)
    # A logit may tie up to rounding; one pair of about sixty may flip.
    assert np.abs(curve.correct.sum(axis=0) - correct).max() <= 1
    assert curve.accuracy[0] > curve.accuracy[-1] - 0.5  # and it is not all zeros or ones
    assert 0 < curve.accuracy.mean() < 1


def test_reshuffling_draws_new_pairs_for_every_magnitude(model, data):
    settings = {"pairing": "inter", "layer": 0, "batches": 6, "batch_size": 31}
    curve = mixup_curve(network(model, SHAPE), data, MAGNITUDES, **settings, reshuffle=True)
    salts = [round(alpha * 1e6) for alpha in MAGNITUDES]
    correct, pairs = literal(model, data, **settings, salts=salts)
    np.testing.assert_array_equal(curve.pairs.sum(axis=0), pairs)
    assert np.abs(curve.correct.sum(axis=0) - correct).max() <= 1


@pytest.mark.parametrize("layer", [0, 1])
def test_the_number_of_pairs_per_forward_pass_decides_nothing(model, data, layer):
    net = network(model, SHAPE)
    curves = [
        mixup_curve(
            net, data, MAGNITUDES, pairing="intra", layer=layer, batches=9, forward_batch=size
        )
        for size in (32, 128, 500)
    ]
    for curve in curves[1:]:
        np.testing.assert_array_equal(curve.pairs, curves[0].pairs)
        assert np.abs(curve.correct - curves[0].correct).sum() <= 1


def test_the_same_seed_gives_the_same_curve_whatever_ran_before(model, data):
    def run(seed: int):
        return mixup_curve(
            network(model, SHAPE), data, MAGNITUDES, pairing="intra", layer=0, seed=seed, batches=9
        ).correct

    first = run(0)
    assert (run(1) != first).any()
    tf.random.set_seed(5)
    tf.keras.backend.clear_session()
    np.testing.assert_array_equal(run(0), first)


def test_the_analytic_curve_of_a_linear_model():
    """On the line with f(x) = (0, x): class 1 is x > 0, and mixing x1 with x2 flips at a known
    magnitude, so the curve is a count of thresholds."""
    rng = np.random.default_rng(0)
    labels = np.tile([0, 1], 500).astype(np.int32)
    inputs = (np.abs(rng.normal(size=1000)) * (2 * labels - 1)).astype(np.float32)[:, None]
    model = tf.keras.Sequential([tf.keras.layers.Dense(2)])
    model.build((None, 1))
    model.set_weights([np.array([[0.0, 1.0]]), np.zeros(2)])
    data = training_data(dataset(inputs, labels))
    settings = {"layer": 0, "batches": 4, "batch_size": 200}
    net = network(model, (1,))

    intra = mixup_curve(net, data, np.arange(11) / 20, pairing="intra", **settings)
    np.testing.assert_array_equal(intra.accuracy, 1)  # a class is convex
    assert intra.statistic(statistics.gi) == pytest.approx(0, abs=1e-12)
    assert intra.standard_error(statistics.gi) == 0

    magnitudes = np.arange(10) / 20
    inter = mixup_curve(net, data, magnitudes, pairing="inter", **settings)
    order = draw_batches(tf.constant(1000), tf.constant(4), tf.constant(200), tf.constant([0, 0]))
    pairs = draw_pairs(data.labels, order, "inter")
    x1, x2 = (np.abs(inputs[index.numpy(), 0]) for index in (pairs.first, pairs.second))
    flips = x1 / (x1 + x2)  # |x1| (1 - a) = |x2| a
    expected = [(flips > alpha).mean() for alpha in magnitudes]
    np.testing.assert_allclose(inter.accuracy, expected, atol=2 / len(x1))


def linear_model(outputs: int) -> tf.keras.Model:
    model = tf.keras.Sequential([tf.keras.layers.Dense(outputs)])
    model.build((None, 3))
    return model


@pytest.mark.parametrize(
    ("labels", "settings", "message"),
    [
        ([1, 1, 1, 1], {}, "all labels are 1; expected at least two classes"),
        ([0, 1, 2, 3], {}, "every class has a single example"),
        ([0, 0, 1, 1], {"batch_size": 1}, "have no pair in them"),
        ([0, 0, 1, 1], {"layer": 1}, "layer 1 is past the end"),
        ([0, 0, 1, 1], {"pairing": "extra"}, "the pairing is 'extra'"),
        ([0, 0, 1, 1], {"magnitudes": [0.5, 0.1]}, "expected increasing numbers"),
    ],
)
def test_what_cannot_be_measured_is_named(labels, settings, message):
    data = training_data(dataset(np.ones((4, 3)), np.array(labels)))
    settings = {"pairing": "intra", "layer": 0, "magnitudes": [0.0, 0.5], **settings}
    with pytest.raises(MeasureError, match=message):
        mixup_curve(network(linear_model(4), (3,)), data, **settings)


def test_batches_without_any_pair_are_named():
    labels = np.arange(60) % 30  # each batch of two has a pair with probability 1/59
    data = training_data(dataset(np.ones((60, 3)), labels))
    with pytest.raises(MeasureError, match="no batch has a pair for intra-class mixup"):
        mixup_curve(
            network(linear_model(30), (3,)),
            data,
            [0.5],
            pairing="intra",
            layer=0,
            batches=2,
            batch_size=2,
        )


def test_nan_outputs_are_named():
    model = linear_model(4)
    model.set_weights([np.full((3, 4), 3e38), np.full(4, -3e38)])
    data = training_data(dataset(3e38 * np.array([[1, 1, -1]] * 8), np.arange(8) % 2))
    with pytest.raises(MeasureError, match="outputs are NaN"):
        mixup_curve(network(model, (3,)), data, [0.5], pairing="intra", layer=0)
