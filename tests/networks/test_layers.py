"""Perturbations of what a layer computes, and the list of layers that says which there are."""

from __future__ import annotations

import math

import numpy as np
import pytest
import tensorflow as tf
from corpora import dataset, examples
from verbs import run_verb
from zoo_of_kinds import CLASSES, chain, initialized, residual

from pgdl_measures import complexity
from pgdl_measures.base import Subject
from pgdl_measures.errors import MeasureError, UnknownNameError
from starting_kit_adapter.cli import ls

SHAPE = (8, 8, 3)


def test_intensity_at_a_layer_scales_what_the_layer_computes():
    model = initialized(chain(SHAPE))
    inputs, labels = examples(60, SHAPE, CLASSES)
    first, *rest = model.layers
    x = first(inputs).numpy()
    accuracies = []
    for factor in (0.5, 1.0, 1.5):
        y = x * factor
        for layer in rest:
            y = layer(y)
        accuracies.append(np.mean(np.argmax(y, axis=1) == labels))
    measure = complexity("mean_accuracy_intensity_l1", points=3, batches=1, batch_size=60)
    assert -measure(model, dataset(inputs, labels)) == pytest.approx(np.mean(accuracies))


def test_noise_is_of_any_layer_and_rotation_of_images_only():
    model = initialized(residual(SHAPE))
    data = dataset(*examples(60, SHAPE, CLASSES))
    values = {complexity(f"gi_noise_l{i}", points=3)(model, data) for i in (1, 2)}
    assert all(0 <= value <= 1 for value in values)
    with pytest.raises(UnknownNameError):
        complexity("gi_rotation_l1")
    with pytest.raises(MeasureError, match="layer 9 is past the end"):
        complexity("gi_noise_l9", points=3)(model, data)


class Opaque(tf.keras.Model):
    """A model whose `call` uses a function of TensorFlow, which Keras 3 cannot run symbolically."""

    def __init__(self):
        super().__init__()
        self.hidden, self.classify = tf.keras.layers.Dense(4), tf.keras.layers.Dense(CLASSES)

    def call(self, x):
        return self.classify(tf.nn.relu(self.hidden(x)))


@pytest.mark.skipif(not hasattr(tf.keras, "ops"), reason="Keras 2 runs them symbolically")
def test_a_model_without_layers_to_enter_says_why():
    model, data = Opaque(), dataset(*examples(60, (6,), CLASSES))
    model(np.zeros((1, 6), np.float32))
    assert math.isfinite(complexity("mixup", batches=1)(model, data))
    with pytest.raises(MeasureError, match="0 to 0, because the `call` of Opaque does not run on"):
        complexity("manifold_mixup", batches=1)(model, data)
    with pytest.raises(MeasureError, match=r"no dense .* features: the `call` of Opaque does not"):
        Subject(model, data).network.features(np.zeros((1, 6), np.float32))


def test_the_layers_of_a_model_file_are_listed(tmp_path, capsys):
    path = tmp_path / "net.keras"
    residual(SHAPE).save(path)
    assert run_verb(ls, "layers", path) == 0
    shown = capsys.readouterr().out
    assert "Conv2D + BatchNormalization + ReLU" in shown
    assert "8 x 8 x 8" in shown
    assert "l = 0 to 4" in shown
