"""The linear classifiers of Section 4: density, training, and what the study finds."""

from __future__ import annotations

import argparse
import json
import math
from dataclasses import replace

import numpy as np
import pytest
import tensorflow as tf
from scipy.stats import truncnorm

from pgdl_measures.adversarial.gradient import Mixture, project
from pgdl_measures.adversarial.independence import n_model_test, pairwise_test
from pgdl_measures.adversarial.synthetic import (
    DEPENDENT,
    INDEPENDENT,
    LOSSES,
    derivatives,
    repeat,
    train,
)

PLANE = Mixture(dimension=2, deviation=1.5, margin=0.1)
# The paper's experiments at a fifth of their dimension, with everything in proportion.
SMALL = {"train": 100, "mixture": Mixture(dimension=100, deviation=math.sqrt(500))}
SMALL_DEPENDENT = replace(DEPENDENT, test=200, batch=20, **SMALL)
SMALL_INDEPENDENT = replace(INDEPENDENT, test=500, batch=20, **SMALL)


def test_the_mixture_is_truncated_at_the_margin_and_symmetric():
    x, y = PLANE.sample(200_000, np.random.default_rng(0))
    assert (np.sign(x[:, 0]) == y).all() and (np.abs(x[:, 0]) > 0.1).all()
    law = truncnorm((0.1 - 1) / 1.5, np.inf, loc=1, scale=1.5)
    first = y * x[:, 0]
    for share in (0.05, 0.5, 0.95):
        assert np.quantile(first, share) == pytest.approx(law.ppf(share), abs=0.03)
    assert abs(y.mean()) < 0.01
    assert x[:, 1].std() == pytest.approx(1.5, rel=0.01)


def _rho(x: np.ndarray) -> np.ndarray:
    """The mixture's density, up to a constant."""
    y = np.sign(x[:, 0])
    centre = np.stack([y, np.zeros(len(y))], axis=1)
    inside = np.abs(x[:, 0]) > PLANE.margin
    return inside * np.exp(-((x - centre) ** 2).sum(axis=1) / (2 * PLANE.deviation**2))


@pytest.mark.parametrize("eps", [0.05, 0.7, 3.0])
def test_losses_and_densities_are_the_papers_formula(eps):
    weights, bias = np.array([0.8, -0.5]), 0.3
    x, y = PLANE.sample(5000, np.random.default_rng(1))
    outcome = project(PLANE, weights, bias, x, y).outcome(eps)
    direction = weights / np.linalg.norm(weights)

    def loss(points):
        return np.sign(points @ weights + bias) != np.sign(points[:, 0])

    def label(points):
        return np.sign(points[:, 0])

    x = x.astype(float)
    there = x - eps * y[:, None] * direction
    moved = ~loss(x) & (label(there) == y)
    adversarial = np.where(moved[:, None], there, x)
    np.testing.assert_array_equal(outcome.loss, loss(x))
    np.testing.assert_array_equal(outcome.adversarial_loss, loss(adversarial))
    origin = adversarial + eps * y[:, None] * direction
    arriving = _rho(origin) * ~loss(origin) * (label(origin) == label(adversarial))
    density = _rho(adversarial) / (_rho(adversarial) + arriving)
    wrong = outcome.adversarial_loss
    np.testing.assert_allclose(outcome.density[wrong], density[wrong], rtol=1e-5, atol=1e-9)
    assert (wrong & ~outcome.loss).any()


@pytest.mark.parametrize("eps", [0.1, 0.5, 1.5, 5.0])
def test_the_adversarial_risk_estimate_is_unbiased(eps):
    rng = np.random.default_rng(2)
    for weights, bias in (([1.0, 1.0], 0.0), ([-0.2, 1.0], 0.5)):
        x, y = PLANE.sample(400_000, rng)
        outcome = project(PLANE, np.array(weights), bias, x, y).outcome(eps)
        error = outcome.differences.std() / math.sqrt(len(y))
        assert abs(outcome.differences.mean()) < 4 * error
        assert outcome.weighted_loss.var() < outcome.loss.var()


def test_training_is_rmsprop_on_the_penalized_cross_entropy():
    """Against a plain loop; with one batch per epoch the order of examples does not matter."""
    rng = np.random.default_rng(3)
    x, y = Mixture(dimension=6).sample(40, rng)
    experiment = replace(DEPENDENT, train=40, batch=40, steps=30)
    (weights,), (bias,) = train(experiment, x[None], y[None])
    w, b, squares, bias_squares = np.zeros(6), 0.0, np.ones(6), 1.0
    for _ in range(30):
        residual = -1 / (1 + np.exp(y * (x @ w + b))) / 40
        gradient, bias_gradient = (residual * y) @ x, (residual * y).sum()
        gradient[0] += 2e4 * w[0]
        squares = 0.9 * squares + 0.1 * gradient**2
        bias_squares = 0.9 * bias_squares + 0.1 * bias_gradient**2
        w = w - 0.01 * gradient / np.sqrt(squares + 1e-10)
        b -= 0.01 * bias_gradient / np.sqrt(bias_squares + 1e-10)
    np.testing.assert_allclose(weights, w, rtol=2e-3, atol=2e-5)
    assert bias == pytest.approx(b, rel=2e-3, abs=2e-5)


def _by_tape(loss: str, z: tf.Tensor, y: tf.Tensor) -> np.ndarray:
    """-dc/dz by TensorFlow's own functions and differentiation."""
    with tf.GradientTape() as tape:
        tape.watch(z)
        logits = y * z  # of label 1
        if loss == "log_loss":
            c = tf.compat.v1.losses.log_loss(
                (y + 1) / 2, tf.sigmoid(logits), reduction=tf.compat.v1.losses.Reduction.NONE
            )
        elif loss == "logits":
            c = tf.nn.sigmoid_cross_entropy_with_logits((y + 1) / 2, logits)
        else:
            c = -tf.math.log(tf.sigmoid(z))
    return -tape.gradient(c, z).numpy()


@pytest.mark.parametrize("loss", LOSSES)
def test_derivatives_are_those_of_tensorflows_losses(loss):
    """Not where sigma is next to 1: TensorFlow's own is rounded to 1 a little earlier than IEEE."""
    z = tf.constant(np.concatenate([np.linspace(-20, 15, 60), [19.0, 30.0]]), tf.float32)
    for sign in (-1.0, 1.0):
        y = tf.fill(z.shape, sign)
        found = derivatives(z, y, loss).numpy()
        np.testing.assert_allclose(found, _by_tape(loss, z, y), rtol=1e-3, atol=3e-7)
        ends = loss == "probabilities" or (loss == "log_loss" and sign > 0)
        assert (found[-1] == 0) == ends
        if not ends:
            np.testing.assert_allclose(found[-2:], np.exp([-19.0, -30.0]), rtol=1e-3)


def test_batches_with_replacement_are_other_batches():
    rng = np.random.default_rng(3)
    x, y = Mixture(dimension=6).sample(40, rng)
    small = {"train": 40, "batch": 10, "steps": 30}
    found = [
        train(replace(DEPENDENT, batches=batches, **small), x[None], y[None])[0]
        for batches in ("epochs", "epochs", "replacement")
    ]
    np.testing.assert_array_equal(found[0], found[1])
    assert np.abs(found[0] - found[2]).max() > 1e-4


def test_training_ends_with_perfect_accuracy_and_the_papers_final_loss():
    rng = np.random.default_rng(4)
    x, y = map(np.stack, zip(*(SMALL_DEPENDENT.mixture.sample(100, rng) for _ in range(3))))
    weights, biases = train(SMALL_DEPENDENT, x, y)
    z = y * (np.einsum("rnd,rd->rn", x, weights) + biases[:, None])
    penalty = 1e4 * weights[:, 0] ** 2
    assert (z > 17).all()  # beyond what float32 tells from no loss at all
    np.testing.assert_allclose(penalty, 0.25, rtol=0.01)


@pytest.mark.keras2
def test_dependence_is_detected_and_independence_is_not_rejected():
    dependent = repeat(SMALL_DEPENDENT, 6).test
    independent = repeat(SMALL_INDEPENDENT, 6).test
    for eps in (0.1, 20.0):
        p = [pairwise_test(t, 2.0).p for t in independent.outcome(eps).differences]
        assert min(p) > 0.2
    assert n_model_test(dependent.outcome(0.1).differences, 2.0).p == 1
    assert n_model_test(dependent.outcome(20.0).differences, 2.0).p < 0.05


def test_independence_is_rejected_in_fewer_than_5_percent_of_400_independent_tests():
    """Classifiers of all kinds, each on a test set of its own, with a strong attack."""
    rng = np.random.default_rng(5)
    mixture = Mixture(dimension=10, deviation=2.0)
    rejected = []
    for _ in range(400):
        x, y = mixture.sample(500, rng)
        weights, bias = rng.normal(size=10) + 2 * np.eye(10)[0], rng.normal()
        differences = project(mixture, weights, bias, x, y).outcome(1.5).differences
        assert differences.any()
        rejected.append(pairwise_test(differences, 2.0).p < 0.05)
    assert np.mean(rejected) < 0.05


def test_the_study_takes_seeds_from_0_on(capsys):
    from starting_kit_adapter.studies import adversarial

    parser = argparse.ArgumentParser()
    adversarial.add_arguments(parser)
    with pytest.raises(SystemExit):
        parser.parse_args(["-o", "out", "--seed=-1"])
    assert "expected an integer from 0 to 2^31 - 1, found '-1'" in capsys.readouterr().err


def test_the_study_draws_its_figures_and_stands_beside_the_paper(tmp_path):
    pytest.importorskip("matplotlib")
    from starting_kit_adapter.studies.adversarial import plots
    from starting_kit_adapter.studies.adversarial.findings import beside_the_paper, find
    from starting_kit_adapter.terminal.figures import save

    found = {e.name: find(e, 3, seed=0) for e in (SMALL_INDEPENDENT, SMALL_DEPENDENT)}
    rows = beside_the_paper(found)
    assert [row[1] for row in rows if row[0].endswith(": mean p")] == ["0.5984", "0.5984"]
    assert all(len(row) == 5 for row in rows)
    text = json.dumps({name: f.to_json() for name, f in found.items()}, allow_nan=False)
    assert np.shape(json.loads(text)["dependent"]["p"]["1"]) == (3, 23)
    for name, figure in (("a", plots.figure5(found)), ("b", plots.figure6(found))):
        save(figure, tmp_path / name)
        assert (tmp_path / f"{name}.svg").stat().st_size > 5000
        assert (tmp_path / f"{name}.png").is_file()


def test_the_interval_of_the_difference_is_that_of_two_samples():
    """Of a mean: against the normal interval of a difference of two independent means."""
    from starting_kit_adapter.studies.adversarial.findings import compared

    runs = np.random.default_rng(0).normal(1.0, 2.0, size=400)
    *_, here, difference, interval = compared("mean", "0.7", runs, np.mean)
    assert float(here) == pytest.approx(runs.mean(), abs=1e-4)
    assert float(difference) == pytest.approx(runs.mean() - 0.7, abs=1e-4)
    half = 1.96 * runs.std() * math.sqrt(1 / 400 + 1 / 100)
    low, high = map(float, interval.split(" to "))
    assert low == pytest.approx(runs.mean() - 0.7 - half, abs=0.12 * half)
    assert high == pytest.approx(runs.mean() - 0.7 + half, abs=0.12 * half)


@pytest.mark.slow
def test_the_whole_study_finds_the_papers_numbers():
    """Each interval of a difference holds 0. They are of 100 runs on either side, and so wide."""
    from starting_kit_adapter.studies.adversarial.findings import EPSILONS, beside_the_paper, find

    dependent, independent = find(DEPENDENT, 100, seed=0), find(INDEPENDENT, 100, seed=0)
    strong = [i for i, e in enumerate(EPSILONS) if 10 <= e <= 50]
    assert independent.p[1].mean(axis=0).min() > 0.9
    assert dependent.p[1][:, strong].mean(axis=0).max() < 0.01
    assert abs(dependent.risk.mean() - 0.5) < 0.01
    rows = beside_the_paper({"independent": independent, "dependent": dependent})
    found = {
        what.partition("eps = 6: ")[2]: interval
        for what, *_, interval in rows
        if "eps = 6:" in what
    }
    for what in ("mean p", "median p", "p of 25 models", "p of 100 models"):
        low, high = map(float, found[what].split(" to "))
        assert low <= 0 <= high, (what, low, high)
