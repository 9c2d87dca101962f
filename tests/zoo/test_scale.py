"""Images of bytes are given to a model as it takes them, and what looks wrong is said aloud."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import tensorflow as tf
from zoos import pgdl_zoo

from ingestion.corpus import find_corpus
from ingestion.datasets.data import load_dataset
from ingestion.errors import ZooError

pytestmark = pytest.mark.keras2

LABELS = np.arange(60) % 3
IMAGES = np.full((60, 8, 8, 1), np.array([10, 120, 240], np.uint8)[LABELS, None, None, None])


def brightness(*, rescales: bool) -> tf.keras.Model:
    """Knows the three classes by their mean brightness from 0 to 1."""
    layers = tf.keras.layers
    first = [layers.Rescaling(1 / 255)] if rescales else []
    model = tf.keras.Sequential(
        [tf.keras.Input((8, 8, 1)), *first, layers.GlobalAveragePooling2D(), layers.Dense(3)]
    )
    model.set_weights([np.array([[0.0, 1.0, 2.0]]), np.array([0.0, -0.25, -1.0])])
    return model


@pytest.fixture()
def files(tmp_path: Path) -> Path:
    np.savez(tmp_path / "a.npz", x_train=IMAGES, y_train=LABELS, x_test=IMAGES, y_test=LABELS)
    brightness(rescales=True).save(tmp_path / "bytes.keras")
    brightness(rescales=False).save(tmp_path / "unit.keras")
    return tmp_path


@pytest.mark.parametrize(("name", "largest"), [("bytes", 240), ("unit", np.float32(240 / 255))])
def test_a_model_has_its_images_in_the_scale_of_its_training(files, capsys, name, largest) -> None:
    args = ("add", files / "zoo", files / f"{name}.keras", "--data", f"npz:{files / 'a.npz'}")
    assert pgdl_zoo(*args) == 0
    said = capsys.readouterr()
    assert "train_acc 1.0000" in said.out
    assert "warning" not in said.err
    inputs = next(
        load_dataset(find_corpus(files / "zoo").tasks[0].shards()).batch(60).as_numpy_iterator()
    )
    assert inputs[0].max() == largest


def test_a_wrong_scale_is_said_aloud(files, capsys) -> None:
    args = ("--data", f"npz:{files / 'a.npz'}", "--scale", "unit")
    assert pgdl_zoo("add", files / "zoo", files / "bytes.keras", *args) == 0
    said = capsys.readouterr().err
    assert "bytes.keras: its training accuracy is 33.3%, which is near chance (33.3%)" in said
    assert "try --scale none" in said


def test_models_of_two_scales_are_not_of_one_task(files) -> None:
    data = ("--data", f"npz:{files / 'a.npz'}")
    pgdl_zoo("add", files / "zoo", files / "bytes.keras", *data)
    with pytest.raises(ZooError, match="has its images as bytes from 0 to 255, and unit"):
        pgdl_zoo("add", files / "zoo", files / "unit.keras", *data)


def test_an_accuracy_that_is_not_the_recorded_one_is_said_aloud(files, capsys) -> None:
    data = ("--data", f"npz:{files / 'a.npz'}")
    pgdl_zoo("add", files / "zoo", files / "bytes.keras", *data, "--task", "t")
    model = files / "zoo/input_data/t/model_0"
    capsys.readouterr()
    pgdl_zoo("add", files / "other", model, *data, "--scale", "unit")
    assert "is 33.3%, and 100.0% was recorded" in capsys.readouterr().err
