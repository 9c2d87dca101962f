"""A user's own model joins a zoo; a file that is not plain layers and weights does not."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import tensorflow as tf
from zoos import pgdl_zoo

from ingestion.corpus import find_corpus
from ingestion.datasets.array_forms import make_data
from ingestion.errors import CorpusError, ZooError
from ingestion.model_files.models import load_model
from ingestion.zoo.add import next_number
from ingestion.zoo.augment import Augment
from ingestion.zoo.build import Plan
from ingestion.zoo.grid import parse_grid
from ingestion.zoo.layout import Zoo
from pgdl_measures.errors import PgdlError

RNG = np.random.default_rng(0)
IMAGES = RNG.random((20, 8, 8, 1)).astype(np.float32)
LABELS = np.arange(20) % 3

pytestmark = pytest.mark.keras2


@pytest.fixture()
def data(tmp_path: Path) -> str:
    np.savez(tmp_path / "mine.npz", x_train=IMAGES, y_train=LABELS, x_test=IMAGES, y_test=LABELS)
    return f"npz:{tmp_path / 'mine.npz'}"


def _model(classes: int = 3) -> tf.keras.Model:
    layers = tf.keras.layers
    model = tf.keras.Sequential(
        [
            layers.Conv2D(4, 3, strides=2, name="mine"),
            layers.BatchNormalization(momentum=0.9),
            layers.Activation("relu"),
            layers.Conv2D(5, 2, activation="tanh", kernel_regularizer="l2"),
            layers.Dropout(0.5),
            layers.Flatten(),
            layers.Dense(classes, activation="softmax"),
        ]
    )
    model.build((None, 8, 8, 1))
    model.set_weights([RNG.random(w.shape).astype(np.float32) for w in model.get_weights()])
    return model


@pytest.mark.parametrize("suffix", [".keras", ".h5"])
def test_a_saved_model_is_the_same_model_in_the_zoo(tmp_path: Path, data: str, suffix: str) -> None:
    model, file, root = _model(), tmp_path / f"mine{suffix}", tmp_path / "zoo"
    model.save(file)
    assert pgdl_zoo("add", root, file, "--data", data, "--hparam", "width=4") == 0
    task = find_corpus(root).task("mine")
    read = load_model(task.model_folder("model_0"))
    assert np.allclose(read.predict(IMAGES, verbose=0), model.predict(IMAGES, verbose=0))
    entry = json.loads((root / "reference_data/mine/model_configs.json").read_text())["0"]
    accuracy = np.mean(model.predict(IMAGES, verbose=0).argmax(axis=-1) == LABELS)
    assert entry["metrics"] == {"train_acc": accuracy, "test_acc": accuracy}
    assert entry["hparams"] == {"width": {"possible_values": [4], "current_value": 4}}


def test_later_models_join_the_task_and_its_data(tmp_path: Path, data: str) -> None:
    file, root = tmp_path / "mine.h5", tmp_path / "zoo"
    _model().save(file)
    pgdl_zoo("add", root, file, "--data", data, "--hparam", "width=8", "--hparam", "act=relu")
    assert pgdl_zoo("add", root, file, "--hparam", "width=4", "--hparam", "act=tanh") == 0
    configs = json.loads((root / "input_data/mine/model_configs.json").read_text())
    assert list(configs) == ["0", "1"]
    assert configs["1"]["hparams"]["width"] == {"possible_values": [4, 8], "current_value": 4}
    with pytest.raises(ZooError, match="have the hyperparameters act, width; found depth"):
        pgdl_zoo("add", root, file, "--hparam", "depth=4")
    with pytest.raises(ZooError, match="has other data"):
        pgdl_zoo("add", root, file, "--data", data, "--train-examples", 9)


@pytest.mark.parametrize("moment", ["set_task", "write_data", "write_model"])
def test_a_model_whose_adding_was_cut_off_can_be_added_again(
    tmp_path: Path, data: str, monkeypatch: pytest.MonkeyPatch, moment: str
) -> None:
    file, root = tmp_path / "mine.h5", tmp_path / "zoo"
    _model().save(file)

    def cut_off(*arguments: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
        patched.setattr(Zoo, moment, cut_off)
        pgdl_zoo("add", root, file, "--data", data)
    assert pgdl_zoo("add", root, file, "--data", data) == 0
    assert find_corpus(root).task("mine").model_ids == ("model_0",)


def test_a_model_that_does_not_fit_the_data_leaves_no_zoo(tmp_path: Path, data: str) -> None:
    _model(classes=2).save(tmp_path / "two.h5")
    with pytest.raises(ZooError, match=r"the labels go from 0 to 2; the model is of 2 classes"):
        pgdl_zoo("add", tmp_path / "zoo", tmp_path / "two.h5", "--data", data)
    assert not (tmp_path / "zoo/input_data").exists()


@pytest.mark.parametrize("suffix", [".keras", ".h5"])
def test_a_lambda_is_refused_and_never_run(tmp_path: Path, data: str, suffix: str) -> None:
    victim = str(tmp_path / "ran")

    def attack(x: tf.Tensor) -> tf.Tensor:
        open(victim, "w").close()
        return x

    model = tf.keras.Sequential(
        [tf.keras.layers.Input((8, 8, 1)), tf.keras.layers.Lambda(attack, output_shape=(8, 8, 1))]
    )
    model.save(tmp_path / f"evil{suffix}")
    Path(victim).unlink(missing_ok=True)
    with pytest.raises(CorpusError, match=r"layer \d is a Lambda, which could run code"):
        pgdl_zoo("add", tmp_path / "zoo", tmp_path / f"evil{suffix}", "--data", data)
    assert not Path(victim).exists()


def test_an_added_model_takes_no_number_that_the_grid_has_yet_to_train() -> None:
    grid = {"repeats": 2, "grid.hparams": {"width": [4, 8], "depth": [3, 6, 9]}}
    assert next_number(grid, {0: {}, 1: {}}) == 12
    assert next_number(grid, {0: {}, 12: {}}) == 13
    assert next_number({}, {}) == 0


@pytest.mark.parametrize("augment", [None, Augment("rotation", ("none", "partial", "full"))])
def test_numbers_of_the_grid_are_those_of_its_repeats_and_augmentations(augment) -> None:
    data = make_data(IMAGES, LABELS, IMAGES, LABELS)
    hparams = {"depth": [1, 2], "parameters": [500]}
    grid = parse_grid({"architecture": "conv", "hparams": hparams}, "the grid")
    plan = Plan("t", {"mine": "mine"}, {"mine": data}, replace(grid, repeats=2), augment=augment)
    numbers = {job.model for job in plan.jobs}
    assert next_number(plan.settings(), {0: {}}) == max(numbers) + 1


def _functional(*, shortcut: bool = True) -> tf.keras.Model:
    layers = tf.keras.layers
    inputs = tf.keras.Input((8, 8, 1))
    x = layers.Conv2D(4, 3, padding="same")(inputs)
    start = layers.ReLU(max_value=6.0)(layers.BatchNormalization()(x))
    x = layers.Conv2D(4, 3, padding="same", activation="relu", name="second")(start)
    if shortcut:
        projected = layers.Conv2D(4, 1, use_bias=False)(inputs)
        x = layers.Concatenate()([layers.Add()([x, start, projected]), inputs])
    x = layers.GlobalAveragePooling2D()(layers.Dropout(0.5)(x, training=False))
    model = tf.keras.Model(inputs, layers.Dense(3, name="logits")(x))
    model.set_weights([RNG.random(w.shape).astype(np.float32) for w in model.get_weights()])
    return model


@pytest.mark.parametrize("suffix", [".keras", ".h5"])
@pytest.mark.parametrize("shortcut", [True, False])
def test_a_functional_model_is_the_same_model_in_the_zoo(
    tmp_path: Path, data: str, suffix: str, shortcut: bool
) -> None:
    model, file, root = _functional(shortcut=shortcut), tmp_path / f"f{suffix}", tmp_path / "zoo"
    model.save(file)
    assert pgdl_zoo("add", root, file, "--data", data) == 0
    task = find_corpus(root).tasks[0]
    read = load_model(task.model_folder("model_0"))
    assert np.allclose(read.predict(IMAGES, verbose=0), model.predict(IMAGES, verbose=0), rtol=1e-4)
    # What is a chain, however it was made, has the form of the kit.
    assert isinstance(read, tf.keras.Sequential) is not shortcut


def test_models_that_are_no_classifiers_of_one_input_are_refused(tmp_path: Path, data: str) -> None:
    layers = tf.keras.layers
    one, two = tf.keras.Input((8, 8, 1)), tf.keras.Input((8, 8, 1))
    model = tf.keras.Model([one, two], layers.Flatten()(layers.Add()([one, two])))
    model.save(tmp_path / "f.keras")
    with pytest.raises(CorpusError, match="has 2 inputs and 1 outputs; a classifier has one"):
        pgdl_zoo("add", tmp_path / "zoo", tmp_path / "f.keras", "--data", data)


@pytest.mark.parametrize("name", ["broken.keras", "broken.h5", "model.pt", "absent.keras"])
def test_a_file_that_is_no_model_is_named(tmp_path: Path, data: str, name: str) -> None:
    if not name.startswith("absent"):
        (tmp_path / name).write_bytes(b"not a model")
    with pytest.raises(PgdlError, match=name):
        pgdl_zoo("add", tmp_path / "zoo", tmp_path / name, "--data", data)


def test_a_task_may_have_training_data_only(tmp_path: Path, capsys) -> None:
    np.savez(tmp_path / "mine.npz", x_train=IMAGES, y_train=LABELS)
    model, root = _functional(), tmp_path / "zoo"
    model.save(tmp_path / "f.keras")
    for options in (["--data", f"npz:{tmp_path / 'mine.npz'}"], []):
        assert pgdl_zoo("add", root, tmp_path / "f.keras", *options) == 0
    said = capsys.readouterr().out
    assert "train_acc" in said and "test_acc" not in said and "no test part" in said
    (task,) = find_corpus(root).tasks
    assert task.reference is None and len(task.model_ids) == 2
    assert len(task.shards()) == 1
