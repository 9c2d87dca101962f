"""Values are those of version 0.2.0, whose code computed `data/values_of_0.2.0.json`.

A change that is meant to alter a value takes it out of that file and says so in the changelog, as
was done for `adversarial_pvalue` and the perturbation `intensity`. The network and its data are
formulas, so that they are the same everywhere.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import tensorflow as tf

from pgdl_measures import complexities

pytestmark = pytest.mark.keras2

VALUES = json.loads((Path(__file__).parent / "data" / "values_of_0.2.0.json").read_text())
OPTIONS = {"batches": 4, "batch_size": 32, "examples": 100, "graphs": 4}
SHAPE, CLASSES, COUNT = (12, 12, 3), 4, 160
# Shares of some hundred images: another processor may see one or two of them otherwise.
SHARES = ("accuracy", "contre_", "dbi_mixup", "gi_", "mixup", "pal_", "sharpness")


def wave(shape: tuple[int, ...], step: float) -> np.ndarray:
    """Numbers between -1 and 1 that look random."""
    return np.sin(step * np.arange(1, np.prod(shape) + 1) ** 1.5).reshape(shape)


def examples() -> tuple[np.ndarray, np.ndarray]:
    labels = np.arange(COUNT, dtype=np.int32) % CLASSES
    patterns = wave((CLASSES, 3, 3, 3), 1.3).repeat(4, axis=1).repeat(4, axis=2)
    return (patterns[labels] + 1.2 * wave((COUNT, *SHAPE), 0.7)).astype(np.float32), labels


def network(inputs: np.ndarray, labels: np.ndarray) -> tf.keras.Model:
    """A small VGG whose last layer chooses the class with the nearest mean of the features."""
    layers = tf.keras.layers
    model = tf.keras.Sequential(
        [
            layers.Conv2D(6, 3, activation="relu", padding="same"),
            layers.MaxPooling2D(2),
            layers.Conv2D(8, 3, activation="relu"),
            layers.Flatten(),
            layers.Dense(12, activation="relu"),
            layers.Dense(CLASSES),
        ]
    )
    model.build((None, *SHAPE))
    weights = [
        2 * wave(w.shape, 0.9) / np.sqrt(np.prod(w.shape[:-1]))
        if w.ndim > 1
        else 0.1 * wave(w.shape, 0.4)
        for w in model.get_weights()
    ]
    model.initial_weights = [0.5 * w for w in weights]
    model.set_weights(weights)
    features = tf.keras.Sequential(model.layers[:-1])(inputs).numpy().astype(np.float64)
    means = np.stack([features[labels == c].mean(axis=0) for c in range(CLASSES)])
    model.layers[-1].set_weights([means.T, -0.5 * (means**2).sum(axis=1)])
    return model


def test_values_are_those_of_an_earlier_version():
    inputs, labels = examples()
    model = network(inputs, labels)
    found = complexities(VALUES, **OPTIONS)(
        model, tf.data.Dataset.from_tensor_slices((inputs, labels))
    )
    assert found.refusals == {}
    close = {}
    for name, value in VALUES.items():
        tolerance = 0.02 if any(part in name for part in SHARES) else 1e-3
        close[name] = pytest.approx(value, rel=tolerance, abs=tolerance)
    assert dict(found) == close
