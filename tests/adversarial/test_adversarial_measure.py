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
    measure = pgdl_measures.complexity("adversarial_pvalue", eps=1, padding="circular")
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


@pytest.fixture(scope="module")
def digits() -> tuple[tf.keras.Model, np.ndarray, np.ndarray]:
    """scikit-learn's digits, which fill their 8x8 pixels, and a network that fits them."""
    sklearn = pytest.importorskip("sklearn.datasets")
    found = sklearn.load_digits()
    images = (found.images[..., None] / 16).astype(np.float32)
    labels = found.target.astype(np.int32)
    tf.keras.utils.set_random_seed(0)
    layers = tf.keras.layers
    model = tf.keras.Sequential([layers.Flatten(), layers.Dense(32, "relu"), layers.Dense(10)])
    model.compile(
        tf.keras.optimizers.Adam(0.01),
        tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    )
    model.fit(images, labels, epochs=4, verbose=0)
    return model, images, labels


def test_upsampling_that_the_model_does_not_tolerate_is_refused(digits):
    model, images, labels = digits
    centres = tf.image.resize(images, [20, 20])[:, 6:14, 6:14]
    given, upsampled = (1 - np.mean(predicted(model, x) == labels) for x in (images, centres))
    assert given < 0.1 and upsampled > 0.5
    measure = pgdl_measures.complexity("adversarial_pvalue", padding="upsample")
    dataset = tf.data.Dataset.from_tensor_slices((images, labels))
    with pytest.raises(pgdl_measures.MeasureError) as refused:
        measure(model, dataset)
    message = f"raises the model's error from {given:.4f} to {upsampled:.4f}"
    assert message in str(refused.value) and "padding=circular" in str(refused.value)


def test_by_default_the_padding_is_one_that_the_model_tolerates(digits, caplog):
    model, images, labels = digits
    dataset = tf.data.Dataset.from_tensor_slices((images[:300], labels[:300]))
    chosen = pgdl_measures.complexity("adversarial_pvalue", eps=1)(model, dataset)
    assert "shifting them circularly instead" in caplog.text
    circular = pgdl_measures.complexity("adversarial_pvalue", eps=1, padding="circular")
    assert chosen == circular(model, dataset)


def test_a_model_that_sees_no_difference_is_upsampled():
    """All pixels of an image are equal, so that its upsampling is the same image."""
    model = random_model(SHAPE, seed=1)
    images = np.broadcast_to(random_images(30, (1, 1, 1)), (30, *SHAPE)).copy()
    labels = predicted(model, images)
    dataset = tf.data.Dataset.from_tensor_slices((images, labels))
    values = [
        pgdl_measures.complexity("adversarial_pvalue", padding=padding)(model, dataset)
        for padding in ("auto", "upsample")
    ]
    assert values == [0, 0]
