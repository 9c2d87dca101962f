"""Draws, routing and the range of values."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow as tf
from scipy import stats

from pgdl_measures.errors import MeasureError, UnknownNameError
from pgdl_measures.perturbations.operations import RANDAUGMENT
from pgdl_measures.perturbations.randaugment import Draws, draw, randaugment
from pgdl_measures.perturbations.value_range import from_levels, to_levels, value_range

pytestmark = pytest.mark.keras2


def test_draws_are_uniform_and_independent():
    draws = draw(20_000, count=2, magnitude=20, seed=3)
    first, second = draws.operation.numpy().T
    joint = np.zeros((16, 16))
    np.add.at(joint, (first, second), 1)
    assert stats.chisquare(joint.ravel()).pvalue > 1e-3
    assert stats.chi2_contingency(joint)[1] > 1e-3
    assert stats.chi2_contingency(np.histogram2d(first[:-1], first[1:], 16)[0])[1] > 1e-3
    places = draws.place.numpy()
    assert stats.kstest(places.ravel(), "uniform").pvalue > 1e-3
    by_operation = [places[..., 0][draws.operation.numpy() == k] for k in range(16)]
    assert stats.f_oneway(*by_operation)[1] > 1e-3


def test_signed_values_are_negated_every_second_time_and_no_others():
    draws = draw(20_000, count=1, magnitude=20, seed=0)
    for number, (name, operation) in enumerate(RANDAUGMENT.items()):
        values = draws.value.numpy()[draws.operation.numpy() == number]
        np.testing.assert_allclose(np.abs(values), operation.value(20), rtol=1e-6)
        signed = name in ("Rotate", "ShearX", "ShearY", "TranslateXabs", "TranslateYabs")
        assert 0.45 < (values < 0).mean() < 0.55 if signed else (values > 0).all()


def test_the_same_seed_gives_the_same_images_whatever_the_batch():
    x = np.random.default_rng(0).integers(0, 256, (50, 12, 12, 3)).astype(np.uint8)
    draws = draw(50, count=2, magnitude=20, seed=5)
    whole = randaugment(tf.constant(x), draws).numpy()
    parts = [
        randaugment(tf.constant(x[now]), Draws(*(column[now] for column in draws))).numpy()
        for now in (slice(0, 1), slice(1, 20), slice(20, 50))
    ]
    np.testing.assert_array_equal(np.concatenate(parts), whole)
    again = randaugment(tf.constant(x), draw(50, count=2, magnitude=20, seed=5)).numpy()
    np.testing.assert_array_equal(again, whole)
    other = randaugment(tf.constant(x), draw(50, count=2, magnitude=20, seed=6)).numpy()
    assert (other != whole).any(axis=(1, 2, 3)).mean() > 0.8


def test_operations_follow_one_another_in_the_order_that_was_drawn():
    x = np.random.default_rng(0).integers(0, 256, (9, 10, 10, 3)).astype(np.uint8)
    draws = draw(9, count=3, magnitude=9, seed=1)
    expected = x
    for step in range(3):
        column = Draws(*(part[:, step : step + 1] for part in draws))
        expected = np.concatenate(
            [
                randaugment(expected[i : i + 1], Draws(*(part[i : i + 1] for part in column)))
                for i in range(9)
            ]
        )
    np.testing.assert_array_equal(randaugment(tf.constant(x), draws), expected)
    none = draw(9, count=0, magnitude=9, seed=1)
    np.testing.assert_array_equal(randaugment(tf.constant(x), none), x)


def test_a_wrong_setting_is_named():
    with pytest.raises(MeasureError, match="magnitude is 31; expected 0 to 30"):
        draw(5, count=2, magnitude=31, seed=0)
    with pytest.raises(MeasureError, match="number of operations is -1"):
        draw(5, count=-1, magnitude=3, seed=0)
    with pytest.raises(UnknownNameError, match="'Rotat'; did you mean Rotate"):
        draw(5, count=1, magnitude=3, seed=0, operations=["Rotat"])


@pytest.mark.parametrize("channels", [1, 3, 4])
def test_inputs_made_from_bytes_become_these_bytes_again(channels):
    rng = np.random.default_rng(0)
    x = rng.integers(0, 256, (40, 8, 8, channels))
    x[0, 0, 0], x[0, 0, 1] = 0, 255  # the data has both ends
    mean, std = rng.normal(size=(2, channels))
    for inputs in (x / 255, x / 127.5 - 1, (x / 255 - mean) / (abs(std) + 0.1), x * 1.0):
        inputs = tf.constant(inputs, tf.float32)
        values = value_range(inputs)
        images = to_levels(inputs, values)
        np.testing.assert_array_equal(images, x)
        np.testing.assert_allclose(from_levels(images, values), inputs, rtol=1e-5, atol=1e-5)


def test_other_inputs_come_back_within_half_a_level():
    inputs = tf.constant(np.random.default_rng(0).normal(size=(20, 9, 7, 3)), tf.float32)
    values = value_range(inputs)
    back = from_levels(to_levels(inputs, values), values)
    level = ((values.high - values.low) / 255).numpy()
    assert (np.abs(back - inputs) <= 0.5001 * level).all()


def test_a_channel_of_one_value_keeps_it():
    inputs = np.random.default_rng(0).normal(size=(5, 4, 4, 3)).astype(np.float32)
    inputs[..., 1] = 2.5
    values = value_range(tf.constant(inputs))
    np.testing.assert_array_equal(from_levels(to_levels(inputs, values), values)[..., 1], 2.5)
