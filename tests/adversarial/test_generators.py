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

from pgdl_measures.adversarial.examination import examine
from pgdl_measures.adversarial.generators import GENERATORS
from pgdl_measures.adversarial.independence import pairwise_test
from pgdl_measures.errors import MeasureError, UnknownNameError
from pgdl_measures.network import network

NAMES = list(GENERATORS)


def assert_equal_to_brute_force(model, images, labels, eps, room):
    found = examine(
        network(model, model.input_shape[1:]),
        tf.constant(images),
        tf.constant(labels),
        generators=NAMES,
        eps=eps,
        room="circular" if room == "circular" else "upsample",
    )
    everything = len(images) * (6 * eps + 1) ** 2
    assert 0 < found.evaluated < everything
    for name, expected in brute_force(model, images, labels, eps, room).items():
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
    ("room", "eps", "shape", "image_shape"),
    [
        ("upsample", 1, (6, 6, 1), (6, 6, 1)),
        ("upsample", 2, (9, 7, 3), (9, 7, 3)),
        ("circular", 2, (7, 9, 4), (7, 9, 4)),
        ("circular", 3, (8, 8, 2), (8, 8, 2)),
        ("spare", 2, (6, 8, 1), (18, 21, 1)),
    ],
)
def test_lazy_equals_brute_force(room, eps, shape, image_shape):
    model = random_model(shape, seed=eps)
    images = random_images(30, image_shape)
    side = 6 * eps + 1
    centres = np.stack([all_windows(x, shape, eps, room)[side**2 // 2] for x in images])
    labels = predicted(model, centres)
    labels[:6] = (labels[:6] + 1) % 3  # misclassified from the start
    assert_equal_to_brute_force(model, images, labels, eps, room)


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
        room="circular",
    ).outcomes
    strongest, nearest = found["strongest"], found["nearest"]
    np.testing.assert_array_equal(strongest.adversarial_loss, nearest.adversarial_loss)
    assert (strongest.density[strongest.adversarial_loss & ~strongest.loss] <= 0.5).all()


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
            room="circular",
        ).outcomes[name]
        assert abs(outcome.differences.sum()) < 1e-9
        moved += int((outcome.adversarial_loss & ~outcome.loss).sum())
    assert moved > 10


@pytest.mark.parametrize("name", NAMES)
def test_densities_agree_with_monte_carlo(name):
    """h = dP / dP_g: draw images of an orbit, apply g, and count where they end up."""
    shape = (6, 5, 1)
    model = random_model(shape, seed=8)
    images = orbit(random_images(1, shape)[0])
    many = np.random.default_rng(0).integers(len(images), size=50_000)
    outcome = examine(
        network(model, shape),
        tf.constant(images[many]),
        tf.zeros([len(many)], tf.int32),
        generators=(name,),
        eps=1,
        room="circular",
    ).outcomes[name]
    wrong = predicted(model, images) != 0
    assert 3 < wrong.sum() < len(images) - 3
    # Where an image ended up shows in its density only: group by it, and compare masses.
    for density in np.unique(np.round(outcome.density[outcome.adversarial_loss], 9)):
        at = outcome.adversarial_loss & np.isclose(outcome.density, density)
        originals = outcome.loss & np.isclose(outcome.density, density)
        # P(x') / P_g(x') over the misclassified points of this density.
        expected = originals.sum() / at.sum()
        assert density == pytest.approx(expected, abs=5 / np.sqrt(at.sum()))
    assert outcome.weighted_loss.mean() == pytest.approx(wrong.mean(), abs=0.01)


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
        room="circular",
    ).outcomes[name]
    differences = outcome.differences.reshape(300, 100)
    p = np.array([pairwise_test(row, 1.5).p for row in differences])
    assert (differences > 0).any(axis=1).all() and (differences < 0).any(axis=1).all()
    assert (p < 0.05).mean() < 0.05
    error = differences.std() / np.sqrt(differences.size)
    assert abs(differences.mean()) < 4 * error


def test_bad_questions_get_one_clear_answer():
    model = random_model((6, 6, 1), seed=0)
    net = network(model, (6, 6, 1))
    images, labels = tf.zeros([4, 6, 6, 1]), tf.constant([0, 1, 2, 0])
    with pytest.raises(
        UnknownNameError, match="unknown generator 'strong'; did you mean strongest"
    ):
        examine(net, images, labels, generators=("strong",))
    with pytest.raises(MeasureError, match="room is 'padding'; expected one of upsample, circular"):
        examine(net, images, labels, room="padding")
    with pytest.raises(MeasureError, match="eps is 0"):
        examine(net, images, labels, eps=0)
    with pytest.raises(MeasureError, match="of 6x6 are too small for eps = 3"):
        examine(net, images, labels, eps=3, room="circular")
    with pytest.raises(
        MeasureError, match="8x8 leave 2 pixels around windows of 6x6; eps = 2 need"
    ):
        examine(net, tf.zeros([4, 8, 8, 1]), labels)
    with pytest.raises(MeasureError, match=r"shape \[6, 6, 3\]; the model takes \[6, 6, 1\]"):
        examine(net, tf.zeros([4, 6, 6, 3]), labels)
    with pytest.raises(MeasureError, match="labels go from 0 to 3; the model has 3 outputs"):
        examine(net, images, tf.constant([0, 1, 2, 3]))
    with pytest.raises(MeasureError, match="NaN"):
        examine(net, images * np.nan, labels)
