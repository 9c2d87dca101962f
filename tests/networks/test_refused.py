"""What is no classifier of one input is refused in one sentence, from memory and from a file."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import tensorflow as tf
from corpora import examples
from verbs import run_verb
from zoo.zoos import pgdl_zoo

from pgdl_measures import complexity
from pgdl_measures.errors import MeasureError, PgdlError
from starting_kit_adapter.cli import ls

pytestmark = pytest.mark.keras2
layers, Input, Model = tf.keras.layers, tf.keras.Input, tf.keras.Model
SHAPE, CLASSES = (8, 8, 3), 4


def body(x):
    return layers.GlobalAveragePooling2D()(layers.Conv2D(4, 3, activation="relu")(x))


def classes(x, number: int = CLASSES, **kwargs):
    return layers.Dense(number, **kwargs)(body(x))


def two_outputs() -> tf.keras.Model:
    x = Input(SHAPE)
    return Model(x, [classes(x), classes(x)])


def named_outputs() -> tf.keras.Model:
    x = Input(SHAPE)
    return Model(x, {"one": classes(x), "other": classes(x)})


def two_inputs() -> tf.keras.Model:
    x, y = Input(SHAPE), Input(SHAPE)
    return Model([x, y], layers.Add()([classes(x), classes(y)]))


def named_inputs() -> tf.keras.Model:
    x, y = Input(SHAPE, name="x"), Input(SHAPE, name="y")
    return Model({"x": x, "y": y}, layers.Add()([classes(x), classes(y)]))


def regression() -> tf.keras.Model:
    x = Input(SHAPE)
    return Model(x, classes(x, 1))


def segmentation() -> tf.keras.Model:
    x = Input(SHAPE)
    return Model(x, layers.Conv2D(CLASSES, 1)(x))


def stateful() -> tf.keras.Model:
    x = Input(batch_size=40, shape=SHAPE)
    rows = layers.LSTM(4, stateful=True)(layers.Reshape((8, 24))(x))
    return Model(x, layers.Dense(CLASSES)(rows))


def fewer_classes() -> tf.keras.Model:
    x = Input(SHAPE)
    return Model(x, classes(x, 2))


# What is said of the model in memory, and of its file.
REFUSED = {
    two_outputs: ("has several outputs", "1 inputs and 2 outputs"),
    named_outputs: (r"has several outputs \(one, other\)", "1 inputs and 2 outputs"),
    two_inputs: ("takes 2 inputs", "2 inputs and 1 outputs"),
    named_inputs: (r"takes 2 inputs \(x, y\)", "2 inputs and 1 outputs"),
    regression: ("one output without a sigmoid", "one output without a sigmoid"),
    segmentation: (r"outputs have shape \[8, 8, 4\]", r"outputs of shape \(8, 8, 4\)"),
    stateful: ("is stateful", "stateful"),
    fewer_classes: (
        "labels go from 0 to 3; the model is of 2 classes",
        "labels go from 0 to 3; the model is of 2 classes",
    ),
}


@pytest.mark.parametrize("make", REFUSED, ids=lambda make: make.__name__)
def test_a_model_that_is_no_classifier_is_refused_in_one_sentence(
    make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model, (in_memory, in_file) = make(), REFUSED[make]
    inputs, labels = examples(40, SHAPE, CLASSES)
    data = inputs, labels % 2 if make is regression else labels
    with pytest.raises(MeasureError, match=in_memory) as found:
        complexity("params")(model, data)
    assert "\n" not in str(found.value)
    monkeypatch.chdir(tmp_path)
    model.save("mine.keras")
    np.savez("d.npz", x_train=data[0], y_train=data[1], x_test=data[0], y_test=data[1])
    with pytest.raises(PgdlError, match=in_file) as refused:
        pgdl_zoo("add", "zoo", "mine.keras", "--data", "npz:d.npz")
    assert "\n" not in str(refused.value)
    assert not Path("zoo/input_data").exists()


@pytest.mark.parametrize("which", ["input", "output"])
def test_one_input_or_output_may_have_a_name(which, tmp_path: Path, capsys) -> None:
    x = Input(SHAPE, name="x")
    y = classes(x)
    model = Model({"x": x}, y) if which == "input" else Model(x, {"y": y})
    plain = Model(x, y)
    data = examples(40, SHAPE, CLASSES)
    for name in ("param_norm", "gi_intra_l1", "sharpness"):
        assert complexity(name)(model, data) == complexity(name)(plain, data)
    model.save(tmp_path / "mine.keras")
    assert run_verb(ls, "layers", tmp_path / "mine.keras") == 0
    assert "l = 0 to 2" in capsys.readouterr().out
