"""A user's network is the same network in the corpus, whatever file it comes in."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import tensorflow as tf
from models.networks import IS_KERAS3, NETWORKS, SHAPE, filled

from ingestion.model_files.any_model import read_model
from ingestion.model_files.keras_config import checked_config
from ingestion.model_files.keras_names import leaf_weights
from ingestion.model_files.models import load_model
from ingestion.model_files.weights import write_weights

pytestmark = pytest.mark.keras2
X = np.random.default_rng(1).uniform(0, 255, (6, *SHAPE)).astype(np.float32)
FORMATS = ["keras", "h5"] if IS_KERAS3 else ["keras", "h5", "folder"]


def _outputs(model: tf.keras.Model) -> np.ndarray:
    return np.asarray(model(X, training=False), np.float32)


def _through_the_corpus(config: dict, model: tf.keras.Model, folder: Path) -> tf.keras.Model:
    folder.mkdir()
    (folder / "config.json").write_text(json.dumps(config))
    write_weights(folder / "weights.hdf5", leaf_weights(model))
    return load_model(folder)


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("name", NETWORKS)
def test_outputs_are_those_of_the_saved_model(name: str, form: str, tmp_path: Path) -> None:
    model = filled(NETWORKS[name]())
    path = tmp_path / ("mine" if form == "folder" else f"mine.{form}")
    model.save(path)
    config, read = read_model(path)
    np.testing.assert_allclose(_outputs(read), _outputs(model), rtol=1e-5, atol=1e-5)
    again = _through_the_corpus(config, read, tmp_path / "model_0")
    np.testing.assert_allclose(_outputs(again), _outputs(model), rtol=1e-5, atol=1e-5)
    assert ("model_config" in config) is (name == "chain")  # the kit's own format where it can
    if "keras_config" in config:
        assert checked_config(config["keras_config"], path) == config["keras_config"]


@pytest.mark.skipif(not IS_KERAS3, reason="Keras 2 reads no Keras 3 configuration")
@pytest.mark.parametrize("name", ["residual", "nested", "shared", "transformer", "recurrent"])
def test_keras_itself_reads_what_the_corpus_has(name: str, tmp_path: Path) -> None:
    model = filled(NETWORKS[name]())
    model.save(tmp_path / "mine.keras")
    stored = read_model(tmp_path / "mine.keras")[0]["keras_config"]
    theirs = tf.keras.utils.deserialize_keras_object(json.loads(json.dumps(stored)))
    np.testing.assert_allclose(_outputs(filled(theirs)), _outputs(model), rtol=1e-5, atol=1e-5)


def test_types_are_kept(tmp_path: Path) -> None:
    NETWORKS["mixed"]().save(tmp_path / "mine.keras")
    _, read = read_model(tmp_path / "mine.keras")
    assert [layer.compute_dtype for layer in read.layers[1:]] == [*["float16"] * 3, "float32"]


def test_a_saved_model_without_keras_configuration_says_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "saved_model.pb").touch()
    with pytest.raises(
        Exception, match=r"without Keras' configuration.*model\.save\('mine.keras'\)"
    ):
        read_model(tmp_path / "mine")
