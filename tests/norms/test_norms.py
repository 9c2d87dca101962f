"""The measures of Dziugaite et al. 2020 against NumPy, enumeration and closed forms."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
import tensorflow as tf
from corpora import dataset
from nets import conv_net, dense_net, layers, randomized, subject

from pgdl_measures import MeasureError, complexity, measures
from pgdl_measures.base import Subject
from pgdl_measures.norms import sigma as sigma_module
from pgdl_measures.norms.margin import margins

pytestmark = pytest.mark.keras2

NORMS = [measure.name for measure in measures() if ".norms." in measure.target]
M = 60
QUICK = {"examples": 40, "draws": 3, "depth": 8}


def value(name: str, model: tf.keras.Model, **options: object) -> float:
    known = complexity(name).defaults()
    return complexity(name, **{k: v for k, v in options.items() if k in known}).on(subject(model))


def test_the_24_measures_of_the_paper_are_registered():
    assert len(NORMS) == 24


def test_the_measures_are_their_equations():
    model = dense_net()
    w, w0 = [model.get_weights()[i] for i in (0, 2)], [model.initial_weights[i] for i in (0, 2)]
    spec = [np.linalg.svd(k, compute_uv=False)[0] ** 2 for k in w]
    fro = [np.sum(k**2) for k in w]
    away = [np.sum((k - k0) ** 2) for k, k0 in zip(w, w0)]
    away_spec = [np.linalg.svd(k - k0, compute_uv=False)[0] ** 2 for k, k0 in zip(w, w0)]
    data = subject(model).data
    scores = model(data.inputs).numpy()
    others = scores.copy()
    others[np.arange(M), data.labels] = -np.inf
    gamma = np.percentile(scores[np.arange(M), data.labels] - others.max(axis=1), 10)
    prod, prod_fro, d = np.prod(spec), np.prod(fro), 2
    expected = {
        "params": math.sqrt((4 * (5 + 1) + 5 * (3 + 1)) / M),
        "inverse_margin": math.sqrt(1 / (gamma**2 * M)),
        "log_spec_init_main": np.log(np.sqrt(prod * np.sum(np.divide(away, spec)) / gamma**2 / M)),
        "log_spec_orig_main": np.log(np.sqrt(prod * np.sum(np.divide(fro, spec)) / gamma**2 / M)),
        "log_prod_of_spec_over_margin": np.log(np.sqrt(prod / gamma**2 / M)),
        "log_prod_of_spec": np.log(np.sqrt(prod / M)),
        "fro_over_spec": np.sqrt(np.sum(np.divide(fro, spec)) / M),
        "log_sum_of_spec_over_margin": np.log(np.sqrt(d * (prod / gamma**2) ** (1 / d) / M)),
        "log_sum_of_spec": np.log(np.sqrt(d * prod ** (1 / d) / M)),
        "log_prod_of_fro_over_margin": np.log(np.sqrt(prod_fro / gamma**2 / M)),
        "log_prod_of_fro": np.log(np.sqrt(prod_fro / M)),
        "log_sum_of_fro_over_margin": np.log(np.sqrt(d * (prod_fro / gamma**2) ** (1 / d) / M)),
        "log_sum_of_fro": np.log(np.sqrt(d * prod_fro ** (1 / d) / M)),
        "fro_dist": np.sqrt(np.sum(away) / M),
        "dist_spec_init": np.sqrt(np.sum(away_spec) / M),
        "param_norm": np.sqrt(np.sum(fro) / M),
    }
    for name, number in expected.items():
        assert value(name, model) == pytest.approx(number, rel=1e-5), name


def test_the_inverse_margin_as_printed_is_computed_beside_the_corrected_one():
    model = dense_net()
    corrected = value("inverse_margin", model)
    printed = value("inverse_margin", model, form="printed")
    assert printed == pytest.approx(1 / (corrected * M))  # gamma / sqrt(m), 1 / (gamma sqrt(m))
    with pytest.raises(MeasureError, match="form is 'print'; expected inverse or printed"):
        value("inverse_margin", model, form="print")


def test_margins_are_of_the_label_against_the_best_other():
    tested = subject(conv_net())
    scores = tested.model(tested.data.inputs, training=False).numpy()
    found = margins(tested, tested.data.inputs, tested.data.labels)
    for x, label, margin in zip(scores, tested.data.labels.numpy(), found):
        assert margin == pytest.approx(x[label] - max(np.delete(x, label)), abs=1e-4)


def test_a_margin_of_zero_is_an_error():
    model = dense_net()
    model.set_weights([np.zeros_like(w) for w in model.get_weights()])
    with pytest.raises(MeasureError, match="10th percentile of the output margins is 0"):
        value("inverse_margin", model)


def test_params_of_a_convolution_count_as_printed():
    chain = [layers.Conv2D(4, 3), layers.Flatten(), layers.Dense(3)]
    model = randomized(tf.keras.Sequential(chain), (5, 5, 2))
    assert value("params", model) == pytest.approx(math.sqrt((9 * 2 * (4 + 1) + 36 * (3 + 1)) / M))


def test_the_path_norm_is_the_sum_over_all_paths():
    model = dense_net()
    w1, b1, w2, b2 = model.get_weights()
    total = np.sum(b2**2)
    for hidden, output in itertools.product(range(5), range(3)):
        total += (b1[hidden] * w2[hidden, output]) ** 2
        for unit in range(4):
            total += (w1[unit, hidden] * w2[hidden, output]) ** 2
    assert value("path_norm", model) == pytest.approx(math.sqrt(total / M), rel=1e-5)


def test_pac_bayes_measures_are_their_equations():
    model = dense_net()
    tested = subject(model)
    sigma, mag = (
        sigma_module.perturbation_size(tested, aware, *QUICK.values(), 0) for aware in (False, True)
    )
    w = np.concatenate([model.get_weights()[i].ravel() for i in (0, 2)])
    away = w - np.concatenate([model.initial_weights[i].ravel() for i in (0, 2)])

    def bound(term, size):
        return math.sqrt((term + math.log(M / size) + 10) / M)

    def mag_term(reference):
        ratio = (1e-6 + (mag**2 + 1) * np.sum(reference**2) / w.size) / (1e-6 + mag**2 * away**2)
        return np.log(ratio).sum() / 4

    expected = {
        "pacbayes_init": bound(np.sum(away**2) / (4 * sigma**2), sigma),
        "pacbayes_orig": bound(np.sum(w**2) / (4 * sigma**2), sigma),
        "pacbayes_flatness": math.sqrt(1 / (sigma**2 * M)),
        "pacbayes_mag_init": bound(mag_term(away), mag),
        "pacbayes_mag_orig": bound(mag_term(w), mag),
        "pacbayes_mag_flatness": math.sqrt(1 / (mag**2 * M)),
    }
    for name, number in expected.items():
        assert value(name, model, **QUICK) == pytest.approx(number, rel=1e-5), name


def test_a_bound_that_has_no_root_is_an_error():
    model = dense_net()
    model.initial_weights = [1e6 * w for w in model.initial_weights]
    with pytest.raises(
        MeasureError, match=r"square root of -\d.*farther from their initial values"
    ):
        value("pacbayes_mag_orig", model, **QUICK)


@pytest.mark.parametrize("aware", [False, True])
def test_sigma_adds_a_tenth_of_errors(aware):
    """With the perturbation that was found, errors rise by about a tenth - by independent draws."""
    rng = np.random.default_rng(0)
    inputs = rng.normal(size=(400, 4)).astype(np.float32)
    model = dense_net()
    labels = np.argmax(model(inputs), axis=1).astype(np.int32)  # no errors to begin with
    size = sigma_module.perturbation_size(
        Subject(model, dataset(inputs, labels)), aware, 400, 60, 15, 0
    )
    weights = model.get_weights()
    wrong = []
    for _ in range(60):
        spread = [np.sqrt((size * w) ** 2 + 1e-6) if aware else size for w in weights]
        model.set_weights([w + s * rng.normal(size=w.shape) for w, s in zip(weights, spread)])
        wrong.append(np.mean(np.argmax(model(inputs), axis=1) != labels))
    assert np.mean(wrong) == pytest.approx(0.1, abs=0.03)


@pytest.mark.parametrize("aware", [False, True])
def test_without_biases_sigma_does_not_depend_on_the_scale_of_the_inputs(aware):
    """Rectified networks without biases predict the same for x and x / 1000."""
    chain = [layers.Dense(5, activation="relu", use_bias=False), layers.Dense(3, use_bias=False)]
    model = randomized(tf.keras.Sequential(chain), (4,))
    inputs = np.random.default_rng(0).normal(size=(100, 4)).astype(np.float32)
    labels = np.argmax(model(inputs), axis=1).astype(np.int32)
    large, small = (
        sigma_module.perturbation_size(Subject(model, dataset(x, labels)), aware, 100, 5, 8, 0)
        for x in (inputs, inputs / 1000)
    )
    assert small == pytest.approx(large, rel=0.02)


def test_norms_are_deterministic_and_leave_the_model_unchanged_even_after_an_error(monkeypatch):
    model = conv_net()
    before = [w.copy() for w in model.get_weights()]
    names = [m.name for m in measures() if m.target.startswith("pgdl_measures.norms.flatness")]
    first = [value(name, model, **QUICK) for name in names]
    assert [value(name, model, **QUICK) for name in names] == first
    assert value("pacbayes_flatness", model, **QUICK, seed=1) != first[2]
    with pytest.raises(MeasureError, match="draws is 0"):
        value("pacbayes_flatness", model, draws=0)

    def broken(*_: object) -> None:
        raise RuntimeError("out of memory")

    monkeypatch.setattr("pgdl_measures.norms.flatness.bayes_bound", broken)
    with pytest.raises(RuntimeError):
        value("pacbayes_orig", model, **QUICK)
    for got, expected in zip(model.get_weights(), before):
        np.testing.assert_array_equal(got, expected)
