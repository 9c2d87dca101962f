"""Generators and their densities: lazily evaluated, equal to enumeration of all translations."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow as tf
from translated_networks import (
    all_scores,
    all_windows,
    brute_force,
    predicted,
    random_images,
    random_model,
)

from pgdl_measures.adversarial.examination import examine, shift_errors
from pgdl_measures.adversarial.generators import GENERATORS
from pgdl_measures.adversarial.independence import pairwise_test
from pgdl_measures.adversarial.translations import translations
from pgdl_measures.adversarial.windows import Windows
from pgdl_measures.errors import MeasureError, UnknownNameError
from pgdl_measures.network.compiled import network

NAMES = list(GENERATORS)


def assert_equal_to_brute_force(model, images, labels, eps, padding):
    found = examine(
        network(model, model.input_shape[1:]),
        tf.constant(images),
        tf.constant(labels),
        generators=NAMES,
        eps=eps,
        padding="circular" if padding == "circular" else "upsample",
    )
    everything = len(images) * (6 * eps + 1) ** 2
    assert 0 < found.evaluated < everything
    for name, expected in brute_force(model, images, labels, eps, padding).items():
        outcome, wrong = found.outcomes[name], expected.adversarial_loss
        np.testing.assert_array_equal(outcome.loss, expected.loss)
        np.testing.assert_array_equal(outcome.adversarial_loss, wrong)
        n = 1 / expected.density[wrong] - 1
        np.testing.assert_allclose(1 / outcome.density[wrong] - 1, n, atol=1e-9)
        np.testing.assert_allclose(outcome.differences, expected.differences, atol=1e-12)
        assert (wrong & ~outcome.loss).any() and n.any()
    return found


@pytest.mark.keras2
@pytest.mark.parametrize(
    ("padding", "eps", "shape", "image_shape"),
    [
        ("upsample", 1, (6, 6, 1), (6, 6, 1)),
        ("upsample", 2, (9, 7, 3), (9, 7, 3)),
        ("circular", 2, (7, 9, 4), (7, 9, 4)),
        ("circular", 3, (8, 8, 2), (8, 8, 2)),
        ("spare", 2, (6, 8, 1), (18, 21, 1)),
    ],
)
def test_lazy_equals_brute_force(padding, eps, shape, image_shape):
    model = random_model(shape, seed=eps)
    images = random_images(30, image_shape)
    side = 6 * eps + 1
    centres = np.stack([all_windows(x, shape, eps, padding)[side**2 // 2] for x in images])
    labels = predicted(model, centres)
    labels[:6] = (labels[:6] + 1) % 3  # misclassified from the start
    assert_equal_to_brute_force(model, images, labels, eps, padding)


@pytest.mark.keras2
@pytest.mark.parametrize("eps", [1, 2])
def test_lazy_equals_brute_force_where_logits_tie(eps):
    """Networks of -1, 0 and 1 on images of zeros and ones: equal l_exc, some of them zero."""
    shape = (8, 8, 1)
    model = random_model(shape, seed=5, whole=True)
    images = random_images(40, shape, seed=1, whole=True)
    labels = predicted(model, images)
    labels[:8] = (labels[:8] + 1) % 3
    found = assert_equal_to_brute_force(model, images, labels, eps, "circular").outcomes
    assert (found["strongest"].density != found["nearest"].density).any()
    scores = np.stack(
        [
            all_scores(model, all_windows(image, shape, eps, "circular"), label)
            for image, label in zip(images, labels)
        ]
    )
    assert (scores == 0).sum() > 20  # misclassified, because another class comes first
    distinct = sum(len(np.unique(row[~np.isnan(row)])) for row in scores)
    assert distinct < 0.4 * (~np.isnan(scores)).sum()


def test_both_directed_generators_succeed_on_the_same_images():
    model = random_model((8, 8, 1), seed=0)
    images = random_images(50, (8, 8, 1))
    labels = predicted(model, images)
    found = examine(
        network(model, (8, 8, 1)),
        tf.constant(images),
        tf.constant(labels),
        generators=("strongest", "nearest"),
        padding="circular",
    ).outcomes
    strongest, nearest = found["strongest"], found["nearest"]
    np.testing.assert_array_equal(strongest.adversarial_loss, nearest.adversarial_loss)
    assert (strongest.density[strongest.adversarial_loss & ~strongest.loss] <= 0.5).all()


def _with_softmax(model: tf.keras.Model, shape: tuple[int, ...], where: str) -> tf.keras.Model:
    """The same weights with a softmax: a layer, within the last layer, or in a functional model."""
    layers = tf.keras.layers
    start = [layers.Conv2D(3, 3, strides=2, activation="relu"), layers.Flatten()]
    if where == "layer":
        changed = tf.keras.Sequential([*start, layers.Dense(3), layers.Softmax()])
    else:
        changed = tf.keras.Sequential([*start, layers.Dense(3, activation="softmax")])
    if where == "functional":
        inputs = tf.keras.Input(shape)
        x = inputs
        for layer in changed.layers:
            x = layer(x)
        changed = tf.keras.Model(inputs, x)
    else:
        changed.build((None, *shape))
    changed.set_weights(model.get_weights())
    return changed


@pytest.mark.keras2
@pytest.mark.parametrize("where", ["layer", "activation", "functional"])
def test_a_final_softmax_changes_no_difference(where):
    """l_exc is of logits. Where three classes compete, probabilities order windows otherwise."""
    shape = (8, 8, 1)
    model = random_model(shape, seed=0)
    images = random_images(200, shape)
    labels = tf.constant(predicted(model, images))

    def differences(m):
        bound = network(m, shape)
        found = examine(bound, tf.constant(images), labels, generators=NAMES, padding="circular")
        return {name: outcome.differences for name, outcome in found.outcomes.items()}

    expected, found = differences(model), differences(_with_softmax(model, shape, where))
    for name in NAMES:
        np.testing.assert_array_equal(found[name], expected[name])


def orbit(image: np.ndarray) -> np.ndarray:
    """All circular shifts of an image: under these, translations are a permutation."""
    h, w = image.shape[:2]
    return np.stack([np.roll(image, (a, b), axis=(0, 1)) for a in range(h) for b in range(w)])


@pytest.mark.parametrize("name", ["strongest", "nearest"])
@pytest.mark.parametrize("eps", [1, 2])
def test_over_all_shifts_of_an_image_the_differences_sum_to_zero(name, eps):
    """The risk estimate is unbiased where g preserves the density exactly: on an orbit, each
    misclassified image is counted 1 + n times with weight 1 / (1 + n)."""
    shape = (7, 6, 2)
    model = random_model(shape, seed=3)
    moved = 0
    for image in random_images(5, shape):
        images = orbit(image)
        labels = tf.zeros([len(images)], tf.int32)
        outcome = examine(
            network(model, shape),
            tf.constant(images),
            labels,
            generators=(name,),
            eps=eps,
            padding="circular",
        ).outcomes[name]
        assert abs(outcome.differences.sum()) < 1e-9
        moved += int((outcome.adversarial_loss & ~outcome.loss).sum())
    assert moved > 10


@pytest.mark.parametrize("name", NAMES)
def test_densities_agree_with_monte_carlo(name):
    """h = dP / dP_g: on an orbit, n(x') is how many of its points a draw of g moves to x'."""
    shape, eps, draws = (6, 5, 1), 1, 8_000
    model = random_model(shape, seed=8)
    images = orbit(random_images(1, shape)[0])
    labels = tf.zeros([len(images)], tf.int32)
    windows = Windows(
        network(model, shape),
        tf.constant(images),
        labels,
        translations(shape, shape, eps, "circular"),
    )
    wrong = np.flatnonzero(predicted(model, images) != 0)
    assert 3 < len(wrong) < len(images) - 3
    g = GENERATORS[name]
    outcome = g.outcome(windows)
    n = 1 / outcome.density[wrong] - 1
    arrived = np.zeros(len(images))
    correct = np.setdiff1d(np.arange(len(images)), wrong)
    place = np.stack(np.unravel_index(correct, shape[:2]), axis=1)
    repeats = draws if name.startswith("random") else 1  # the others always move alike
    for seed in range(repeats):
        to = (place + g.moves(windows, correct, seed)) % shape[:2]
        np.add.at(arrived, np.ravel_multi_index(tuple(to.T), shape[:2]), 1)
    found = arrived[wrong] / repeats
    # n is a sum of chances of one in 8 or 9, and the variance of arrivals at most n per draw.
    tolerance = 4 * np.sqrt(n / repeats) if repeats > 1 else 1e-9
    assert (np.abs(found - n) <= tolerance).all()
    assert (tolerance < n / 9).any()  # enough to tell 8 neighbours from 9


@pytest.mark.parametrize("name", ["strongest", "nearest"])
def test_independence_is_rejected_in_fewer_than_5_percent_of_300_independent_tests(name):
    """Noise has the same density wherever it is moved, and the network has not seen it: the data is
    300 test sets of 100 images, of which some are misclassified."""
    shape = (6, 6, 1)
    model = random_model(shape, seed=2)
    images = random_images(300 * 100, shape, seed=11)
    outcome = examine(
        network(model, shape),
        tf.constant(images),
        tf.zeros([len(images)], tf.int32),
        generators=(name,),
        eps=1,
        padding="circular",
    ).outcomes[name]
    differences = outcome.differences.reshape(300, 100)
    p = np.array([pairwise_test(row, 1.5).p for row in differences])
    assert (differences > 0).any(axis=1).all() and (differences < 0).any(axis=1).all()
    assert (p < 0.05).mean() < 0.05
    error = differences.std() / np.sqrt(differences.size)
    assert abs(differences.mean()) < 4 * error


@pytest.mark.parametrize("padding", ["upsample", "circular"])
def test_the_error_by_shift_is_that_of_all_windows_so_far_up_down_left_and_right(padding):
    eps, shape = 2, (8, 7, 1)
    model = random_model(shape, seed=4)
    images = random_images(60, shape)
    labels = np.arange(60, dtype=np.int32) % 3
    found = shift_errors(
        network(model, shape), tf.constant(images), tf.constant(labels), eps=eps, padding=padding
    )
    side = 6 * eps + 1
    wrong = [
        predicted(model, all_windows(image, shape, eps, padding)) != label
        for image, label in zip(images, labels)
    ]
    error = np.mean(wrong, axis=0).reshape(side, side)
    middle = side // 2
    assert list(found.by_shift) == [0, 2, 4, 6]
    for n, value in found.by_shift.items():
        around = [(-n, 0), (n, 0), (0, -n), (0, n)]
        expected = np.mean([error[middle + a, middle + b] for a, b in around])
        assert value == pytest.approx(expected) and 0 < value < 1
    none, *others = found.by_shift.values()
    assert found.growth.shape == (60,)
    assert found.growth.mean() == pytest.approx(np.mean(others) - none)


def test_bad_questions_get_one_clear_answer():
    model = random_model((6, 6, 1), seed=0)
    net = network(model, (6, 6, 1))
    images, labels = tf.zeros([4, 6, 6, 1]), tf.constant([0, 1, 2, 0])
    with pytest.raises(
        UnknownNameError, match="unknown generator 'strong'; did you mean strongest"
    ):
        examine(net, images, labels, generators=("strong",))
    with pytest.raises(
        MeasureError, match="padding is 'zeros'; expected one of upsample, circular"
    ):
        examine(net, images, labels, padding="zeros")
    with pytest.raises(MeasureError, match="no images"):
        examine(net, images[:0], labels[:0])
    with pytest.raises(MeasureError, match="eps is 0"):
        examine(net, images, labels, eps=0)
    with pytest.raises(MeasureError, match="of 6x6 are too small for eps = 3"):
        examine(net, images, labels, eps=3, padding="circular")
    with pytest.raises(
        MeasureError, match="8x8 leave 2 pixels around windows of 6x6; eps = 2 need"
    ):
        examine(net, tf.zeros([4, 8, 8, 1]), labels)
    with pytest.raises(MeasureError, match=r"shape \[6, 6, 3\]; the model takes \[6, 6, 1\]"):
        examine(net, tf.zeros([4, 6, 6, 3]), labels)
    with pytest.raises(MeasureError, match="labels go from 0 to 3; the model is of 3 classes"):
        examine(net, images, tf.constant([0, 1, 2, 3]))
    weights = model.get_weights()
    model.set_weights([*weights[:-1], weights[-1] * np.nan])  # some CPUs' ReLU makes NaN 0
    with pytest.raises(MeasureError, match="NaN"):
        examine(network(model, (6, 6, 1)), images, labels)
