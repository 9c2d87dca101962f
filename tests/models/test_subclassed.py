"""A saved model of a class of the user's is the same network when it is read and in the zoo."""

from __future__ import annotations

import importlib
from pathlib import Path

import numpy as np
import pytest
import tensorflow as tf
from models.networks import IS_KERAS3
from verbs import run_verb
from zoo.zoos import pgdl_zoo

from ingestion.corpus import find_corpus
from ingestion.errors import CorpusError
from ingestion.model_files.any_model import read_architecture, read_model
from ingestion.model_files.custom import load_custom
from ingestion.model_files.models import load_model
from starting_kit_adapter.cli import limits, ls, run

pytestmark = pytest.mark.keras2

MODULE = """
import tensorflow as tf
layers = tf.keras.layers

class Block(layers.Layer):
    def __init__(self, width, **kwargs):
        super().__init__(**kwargs)
        self.width = width
        self.conv = layers.Conv2D(width, 3, padding="same")
        self.norm = layers.BatchNormalization()
        self.join = layers.Add()

    def build(self, shape):
        self.conv.build(shape)
        self.norm.build((*shape[:-1], self.width))
        super().build(shape)

    def call(self, x, training=False):
        return self.join([x, self.norm(self.conv(x), training=training)])


class Net(tf.keras.Model):
    def __init__(self, width=4, **kwargs):
        super().__init__(**kwargs)
        self.width = width
        self.stem = layers.Conv2D(width, 3, padding="same", activation="relu")
        self.blocks = [Block(width), Block(width)]
        self.pool = layers.GlobalAveragePooling2D()
        self.classify = layers.Dense(3)

    def call(self, x, training=False):
        x = self.stem(x)
        for block in self.blocks:
            x = block(x, training=training)
        return self.classify(self.pool(x))

    def get_config(self):
        return {**super().get_config(), "width": self.width}


class Nameless(Net):
    def __init__(self, width=5):
        super().__init__(width)

    def get_config(self):
        return {"width": self.width}
"""
RNG = np.random.default_rng(0)
X, Y = RNG.random((30, 8, 8, 1)).astype(np.float32), np.arange(30) % 3
FORMS = ["keras"] if IS_KERAS3 else ["keras", "folder"]


@pytest.fixture()
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    name = f"nets_{abs(hash(str(tmp_path)))}"
    (tmp_path / f"{name}.py").write_text(MODULE)
    np.savez(tmp_path / "d.npz", x_train=X, y_train=Y, x_test=X[:9], y_test=Y[:9])
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    return name


def saved(module: str, kind: str, path: str) -> np.ndarray:
    """Saves a model with weights that are not neutral, and returns its outputs."""
    model = getattr(importlib.import_module(module), kind)()
    model(X[:2])
    model.set_weights([np.abs(RNG.normal(0.1, 0.3, w.shape)) + 0.05 for w in model.get_weights()])
    model.save(path)
    return np.asarray(model(X, training=False))


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("kind", ["Net", "Nameless"])
def test_a_class_of_the_users_is_the_same_network_in_the_zoo(module, kind, form, capsys):
    path = Path("mine" if form == "folder" else "mine.keras")
    expected = saved(module, kind, str(path))
    config, read = read_model(path, [module])
    np.testing.assert_allclose(read(X, training=False), expected, rtol=1e-5, atol=1e-5)
    assert read_architecture(path, [module]) == config
    data = ("--data", "npz:d.npz", "--task", "t")
    assert pgdl_zoo("add", "zoo", path, *data, "--custom", module) == 0
    folder = find_corpus(Path("zoo")).task("t").model_folder("model_0")
    again = load_model(folder, load_custom([module]))
    np.testing.assert_allclose(again(X, training=False), expected, rtol=1e-5, atol=1e-5)
    capsys.readouterr()
    assert run_verb(ls, "layers", path, "--custom", module) == 0
    assert "Conv2D + BatchNormalization + Add" in capsys.readouterr().out  # seen through


def test_commands_take_the_module_of_a_corpus(module, capsys):
    saved(module, "Net", "mine.keras")
    assert pgdl_zoo("add", "zoo", "mine.keras", "--data", "npz:d.npz", "--custom", module) == 0
    few = ("-m", "mixup,path_norm", "--set", "batches=2")
    assert run_verb(run, "zoo", *few, "-o", "out", "--custom", module, "--workers", 1) == 0
    assert run_verb(limits, "zoo", *few, "--enforce", "--custom", module) == 0
    assert run_verb(limits, "zoo", *few, "--enforce") == 1
    assert "--custom MODULE" in capsys.readouterr().out


def test_a_class_that_nobody_names_is_refused_in_one_sentence(module):
    saved(module, "Net", "mine.keras")
    with pytest.raises(CorpusError, match=r"is a 'Net', neither .* \(--custom MODULE\)"):
        read_model(Path("mine.keras"))


def test_a_model_of_ones_own_that_was_never_called_has_no_input_shape(module):
    model = importlib.import_module(module).Net()
    try:
        model.save("mine.keras")
    except ValueError:
        pytest.skip("this Keras does not save it")
    with pytest.raises(CorpusError):
        read_model(Path("mine.keras"), [module])
    assert isinstance(model, tf.keras.Model)
