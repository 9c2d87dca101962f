"""Odd networks are computed as Keras predicts, and a measure has a value or one sentence."""

from __future__ import annotations

import functools
import re

import numpy as np
import pytest
import tensorflow as tf
from corpora import examples
from odd_networks import CLASSES, IMAGE, ODD, TOKENS, convolutional, mean_of_two, text
from zoo_of_kinds import initialized

from pgdl_measures import complexities
from pgdl_measures.base import Subject
from pgdl_measures.norms.fused import fused_network

pytestmark = pytest.mark.keras2

LITTLE = {"batches": 1, "examples": 16, "draws": 1, "depth": 2, "graphs": 1, "steps": 1}
NORMS = ("params", "log_prod_of_spec", "log_sum_of_fro", "fro_dist", "path_norm")
OF_DATA = ("gi_intra_l0", "gi_intra_l1", "vpm", "jacobian_norm", "sharpness", "contre_fisher")
ALL = (*NORMS, *OF_DATA, "pacbayes_flatness", "inverse_margin", "adversarial_pvalue")


def data_of(model: tf.keras.Model) -> tuple[np.ndarray, np.ndarray]:
    shape = tuple(model.input_shape[1:])
    inputs, labels = examples(40, shape, CLASSES)
    if shape == TOKENS:
        inputs = np.random.default_rng(0).integers(0, 20, inputs.shape).astype(np.float32)
    return inputs, labels


@functools.cache
def computes_channels_first() -> bool:
    """TensorFlow has no such convolution on every processor; then Keras itself cannot predict."""
    try:
        convolutional("channels_first").predict(np.zeros((1, *IMAGE[::-1]), np.float32), verbose=0)
    except tf.errors.UnimplementedError:
        return False
    return True


def skip_where_keras_cannot(name: str) -> None:
    if name == "channels_first" and not computes_channels_first():
        pytest.skip("TensorFlow has no convolutions with channels first on this processor")


def softmax(x: np.ndarray) -> np.ndarray:
    powers = np.exp(x - x.max(axis=1, keepdims=True))
    return powers / powers.sum(axis=1, keepdims=True)


@pytest.mark.parametrize("name", ODD)
def test_an_odd_network_is_what_keras_predicts(name):
    skip_where_keras_cannot(name)
    model = initialized(ODD[name]())
    inputs, labels = data_of(model)
    expected = model.predict(inputs, verbose=0)
    subject = Subject(model, (inputs, labels))
    net, fused = subject.network, fused_network(subject)
    close = {"rtol": 1e-3, "atol": 1e-4}
    # In graphs, as measures run: Keras' convolutions with channels first add no bias outside them.
    for layer in range(len(net.layers)):
        entry = net.entry(layer)
        entered = tf.function(lambda x, entry=entry: net.run(net.run(x, 0, entry), entry))
        np.testing.assert_allclose(entered(inputs), expected, **close)
    is_probability = np.allclose(expected.sum(axis=1), 1)
    wanted = expected if is_probability else softmax(expected)
    for logits in (net.logits, lambda x: fused.run(x, *fused.tensors())):
        np.testing.assert_allclose(softmax(tf.function(logits)(inputs).numpy()), wanted, **close)


@pytest.mark.parametrize("name", ODD)
def test_a_measure_of_an_odd_network_has_a_value_or_one_sentence(name):
    skip_where_keras_cannot(name)
    model = initialized(ODD[name]())
    before = model.get_weights()
    found = complexities(ALL, **LITTLE)(model, data_of(model))
    for measure, reason in found.refusals.items():
        assert not re.match(r"\w+(Error|Exception):", reason), (measure, reason)
        assert "\n" not in reason, (measure, reason)
    assert set(found) >= {"params", "log_sum_of_fro", "pacbayes_flatness", "sharpness"}
    for got, kept in zip(model.get_weights(), before):
        np.testing.assert_array_equal(got, kept)


def test_tokens_are_not_mixed_but_what_is_computed_of_them():
    model = initialized(text())
    names = ("mixup", "dbi_mixup", "vpm", "mixup_margin", "gi_intra_l1", "jacobian_norm")
    little = {name: LITTLE[name] for name in ("batches", "examples", "draws", "graphs")}
    found = complexities(names, **little)(model, data_of(model))
    assert set(found) == {"gi_intra_l1"}
    assert all("token ids" in reason for reason in found.refusals.values())


def test_channels_first_have_the_norms_of_channels_last():
    skip_where_keras_cannot("channels_first")
    first, last = convolutional("channels_first"), initialized(convolutional("channels_last"))
    first.set_weights(last.get_weights())
    first.initial_weights = last.initial_weights
    inputs, labels = examples(40, IMAGE, CLASSES)
    names = (*NORMS, "pacbayes_flatness", "pacbayes_mag_init", "inverse_margin", "sharpness")
    little = {name: LITTLE[name] for name in ("examples", "draws", "depth", "steps")}
    expected = complexities(names, **little)(last, (inputs, labels))
    found = complexities(names, **little)(first, (np.moveaxis(inputs, -1, 1), labels))
    assert found.refusals == expected.refusals == {}
    assert dict(found) == pytest.approx(dict(expected), rel=1e-4)
    refused = complexities(["adversarial_pvalue", "contre_gap"])(
        first, (np.moveaxis(inputs, -1, 1), labels)
    )
    assert all("channels first" in reason for reason in refused.refusals.values())
    assert len(refused.refusals) == 2


def test_a_mean_of_probabilities_has_the_margin_of_their_logarithms():
    model = initialized(mean_of_two())
    inputs, labels = examples(40, IMAGE, CLASSES)
    logs = np.log(model.predict(inputs, verbose=0))
    own = np.eye(CLASSES, dtype=bool)[labels]
    margins = logs[own] - np.where(own, -np.inf, logs).max(axis=1)
    found = complexities(["inverse_margin", "path_norm"])(model, (inputs, labels))
    expected = 1 / (abs(np.percentile(margins, 10)) * np.sqrt(len(labels)))
    assert found["inverse_margin"] == pytest.approx(expected, rel=1e-3)
    assert "its softmax cannot be removed" in found.refusals["path_norm"]
