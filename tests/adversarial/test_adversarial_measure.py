"""The registered complexity: the evidence of eq. 8, with the sign of the statistic."""

from __future__ import annotations

import math

import numpy as np
import pytest
import tensorflow as tf
from translated_networks import brute_force, predicted, random_images, random_model

import pgdl_measures

SHAPE = (8, 8, 1)


def _complexity(model: tf.keras.Model, images: np.ndarray, labels: np.ndarray) -> float:
    dataset = tf.data.Dataset.from_tensor_slices((images, labels))
    measure = pgdl_measures.complexity("adversarial_pvalue", eps=1, room="circular")
    return measure(model, dataset)


def _printed(model: tf.keras.Model, images: np.ndarray, labels: np.ndarray) -> tuple[float, float]:
    """T_S by brute force, and ln(3 / delta) by eq. 8 as it is printed, with U = 3/2."""
    t = brute_force(model, images, labels, 1, "circular")["strongest"].differences
    statistic, variance, m = t.mean(), t.var(), len(t)
    root = math.sqrt(variance * (variance + 9 * abs(statistic)))
    return statistic, m / 20.25 * (variance + 4.5 * abs(statistic) - root)


@pytest.mark.parametrize("sign", [1, -1])
def test_the_value_is_the_evidence_of_equation_8_with_the_sign_of_the_statistic(sign):
    model = random_model(SHAPE, seed=1)
    images = random_images(80, SHAPE)
    labels = predicted(model, images)  # no errors: the estimate can only be above
    if sign < 0:
        labels = (labels + 1) % 3  # nothing but errors: it can only be below
    statistic, evidence = _printed(model, images, labels)
    assert sign * statistic > 0 and evidence > 0
    assert _complexity(model, images, labels) == pytest.approx(sign * evidence, rel=1e-6)


def test_no_difference_is_no_evidence():
    """A network that sees no image turns none, whatever its labels are."""
    model = random_model(SHAPE, seed=1)
    model.set_weights([0 * w for w in model.get_weights()])
    images = random_images(20, SHAPE)
    assert _complexity(model, images, np.zeros(20, np.int32)) == 0
