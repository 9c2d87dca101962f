"""The nearest-neighbour error, against scikit-learn."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow as tf

from pgdl_measures import MeasureError, complexity

pytestmark = pytest.mark.keras2
NAME = "nearest_neighbour_error"


def _model(shape: tuple[int, ...], classes: int) -> tf.keras.Model:
    layers = [tf.keras.layers.Input(shape), tf.keras.layers.Flatten()]
    return tf.keras.Sequential([*layers, tf.keras.layers.Dense(classes)])


def test_it_is_the_leave_one_out_error_of_scikit_learn_on_digits():
    datasets = pytest.importorskip("sklearn.datasets")
    neighbors = pytest.importorskip("sklearn.neighbors")
    images, labels = datasets.load_digits(return_X_y=True)
    images, labels = images[:900].astype(np.float32), labels[:900]
    two = neighbors.KNeighborsClassifier(2, algorithm="brute").fit(images, labels)
    others = two.kneighbors(images, return_distance=False)[:, 1]  # column 0 is the example itself
    expected = np.mean(labels[others] != labels)
    data = images.reshape(-1, 8, 8, 1) / 16, labels
    assert complexity(NAME)(_model((8, 8, 1), 10), data) == pytest.approx(expected, abs=1e-12)
    assert 0 < expected < 0.1


def test_it_is_chance_on_labels_that_mean_nothing():
    rng = np.random.default_rng(0)
    data = rng.normal(size=(1500, 20)).astype(np.float32), rng.integers(0, 4, 1500)
    assert complexity(NAME)(_model((20,), 4), data) == pytest.approx(0.75, abs=0.04)


def test_one_example_has_no_neighbour():
    data = np.zeros((3, 4), np.float32), np.array([0, 1, 1])
    with pytest.raises(MeasureError, match="found 1 training example"):
        complexity(NAME, examples=1)(_model((4,), 2), data)
