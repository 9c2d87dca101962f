"""Keras' own applications go into a zoo and come back as the same networks."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import tensorflow as tf
from verbs import run_verb
from zoo.zoos import pgdl_zoo

from ingestion.corpus import find_corpus
from ingestion.model_files.models import load_model
from starting_kit_adapter.cli import check

pytestmark = [pytest.mark.keras2, pytest.mark.slow]

RNG = np.random.default_rng(0)
IMAGES = RNG.uniform(0, 255, (20, 32, 32, 3)).astype(np.float32)
LABELS = np.arange(20) % 10
APPLICATIONS = ["ConvNeXtTiny", "DenseNet121", "EfficientNetB0", "MobileNetV2", "ResNet50"]


@pytest.mark.parametrize("name", APPLICATIONS)
def test_an_application_is_the_same_network_in_the_zoo(name: str, tmp_path: Path) -> None:
    make = getattr(tf.keras.applications, name)
    model = make(weights=None, input_shape=(32, 32, 3), classes=10, classifier_activation=None)
    # Scales near one, so that a hundred layers of random weights stay finite.
    for layer in model.layers:
        if isinstance(layer, tf.keras.layers.BatchNormalization):
            layer.set_weights([RNG.uniform(0.8, 1.2, w.shape) for w in layer.get_weights()])
    model.save(tmp_path / "mine.keras")
    data = tmp_path / "mine.npz"
    np.savez(data, x_train=IMAGES, y_train=LABELS, x_test=IMAGES, y_test=LABELS)
    assert pgdl_zoo("add", tmp_path / "zoo", tmp_path / "mine.keras", "--data", f"npz:{data}") == 0
    assert run_verb(check, tmp_path / "zoo", "--accuracy") == 0
    read = load_model(find_corpus(tmp_path / "zoo").tasks[0].model_folder("model_0"))
    expected = np.asarray(model(IMAGES, training=False))
    np.testing.assert_allclose(
        np.asarray(read(IMAGES, training=False)), expected, atol=1e-5 * np.abs(expected).max()
    )
