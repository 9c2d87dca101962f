"""Layers of the user's own come from the module that the user names, and from nowhere else."""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import tensorflow as tf
from models.networks import IS_KERAS3

from ingestion.datasets.array_forms import make_data
from ingestion.datasets.arrays import Data
from ingestion.errors import CorpusError
from ingestion.model_files.any_model import read_model
from ingestion.model_files.custom import CustomError, load_custom
from ingestion.model_files.models import load_model
from ingestion.run.fingerprint import model_files
from ingestion.zoo.add import add
from pgdl_measures.errors import PgdlError

pytestmark = pytest.mark.keras2


def small_data() -> Data:
    rng = np.random.default_rng(1)
    images, labels = rng.random((30, 8, 8, 1)).astype(np.float32), np.arange(30) % 3
    return make_data(images, labels, images[:9], labels[:9])


# A vision transformer as the Keras examples write it: tokens with a class token and a learned
# position embedding in a layer of one's own.
MODULE = """
import tensorflow as tf
layers = tf.keras.layers

@tf.keras.utils.register_keras_serializable(package="vit")
class Tokens(layers.Layer):
    def __init__(self, width, inner=None, **kwargs):
        super().__init__(**kwargs)
        self.width = width
        self.inner = [layers.Dense(width, name="a"), layers.Dense(width, activation=wave, name="b")]

    def build(self, shape):
        self.start = self.add_weight(name="start", shape=(1, 1, self.width))
        self.positions = self.add_weight(name="positions", shape=(1, shape[1] + 1, self.width))
        self.inner[0].build(shape)
        self.inner[1].build((*shape[:-1], self.width))
        super().build(shape)

    def call(self, x):
        x = self.inner[1](self.inner[0](x))
        start = tf.zeros_like(x[:, :1]) + self.start
        return tf.concat([start, x], axis=1) + self.positions

    def get_config(self):
        return {**super().get_config(), "width": self.width}


class Scaled(layers.Dense):
    def call(self, x):
        return 2.0 * super().call(x)


@tf.keras.utils.register_keras_serializable(package="vit")
def wave(x):
    return tf.sin(x)


def vit():
    inputs = tf.keras.Input((8, 8, 1))
    x = layers.Reshape((16, 6))(layers.Conv2D(6, 2, strides=2, activation=wave)(inputs))
    x = Tokens(8)(x)
    y = layers.LayerNormalization()(x)
    x = layers.Add()([layers.MultiHeadAttention(2, 4)(y, y), x])
    y = Scaled(8, activation="gelu")(layers.LayerNormalization()(x))
    x = layers.Add()([x, y])
    return tf.keras.Model(inputs, layers.Dense(3)(x[:, 0]))
"""


@pytest.fixture()
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    name = f"layers_{abs(hash(str(tmp_path)))}"
    (tmp_path / f"{name}.py").write_text(MODULE)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    return name


def _saved(module: str, path: Path) -> tf.keras.Model:
    model = importlib.import_module(module).vit()
    rng = np.random.default_rng(0)
    model.set_weights([rng.normal(size=w.shape) for w in model.get_weights()])
    model.save(path)
    return model


# Keras 2 has no two names for weights of layers in a layer, and so cannot save it as .h5.
@pytest.mark.parametrize("suffix", ["keras", "h5"] if IS_KERAS3 else ["keras"])
def test_a_network_with_own_layers_is_the_same_in_the_zoo(
    tmp_path: Path, module: str, suffix: str
) -> None:
    path, data = tmp_path / f"vit.{suffix}", small_data()
    model = _saved(module, path)
    expected = np.asarray(model(data.train.images, training=False))
    read = read_model(path, [module])[1]
    np.testing.assert_allclose(read(data.train.images, training=False), expected, atol=1e-5)
    add(tmp_path / "zoo", "t", path, data, {}, [module])
    folder = tmp_path / "zoo/input_data/t/model_0"
    again = load_model(folder, load_custom([module]))
    np.testing.assert_allclose(again(data.train.images, training=False), expected, atol=1e-5)
    with pytest.raises(CorpusError, match=r"which is not one of Keras'.*--custom MODULE"):
        load_model(folder)
    assert [f.name for f in model_files(folder, [module])][-1] == f"{module}.py"
    assert len(model_files(folder)) == 2


def test_workers_know_the_module_and_a_change_of_it_is_computed_again(
    tmp_path: Path, module: str
) -> None:
    from ingestion import evaluate

    _saved(module, tmp_path / "vit.keras")
    add(tmp_path / "zoo", "t", tmp_path / "vit.keras", small_data(), {}, [module])
    failed = evaluate("zoo", ["mixup"], "out", workers=1)
    assert "--custom MODULE" in failed.failures()[0][1]
    found = evaluate("zoo", ["mixup"], "out", workers=1, custom=[module])
    assert list(found.values("t", "mixup")) == ["model_0"]
    assert evaluate("zoo", ["mixup"], "out", workers=1, custom=[module]).computed == 0
    (tmp_path / f"{module}.py").write_text(MODULE.replace("2.0 *", "-2.0 *"))
    assert evaluate("zoo", ["mixup"], "out", workers=1, custom=[module]).computed == 1


def test_a_study_measures_models_with_own_layers(
    tmp_path: Path, module: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from starting_kit_adapter.cli.main import main, make_parser

    pytest.importorskip("matplotlib")
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).resolve().parents[2]))  # of the workers
    _saved(module, tmp_path / "vit.keras")
    add(tmp_path / "zoo", "t", tmp_path / "vit.keras", small_data(), {}, [module])
    study = ["study", "robust", "zoo", "-o", "out", "-m", "params", "--workers", "1"]
    main(make_parser().parse_args([*study, "--custom", module]))
    values = json.loads((tmp_path / "out" / "params" / "t.predict").read_text())
    assert values["model_0"] > 0


def test_a_module_that_is_none_is_named(tmp_path: Path, module: str) -> None:
    (tmp_path / "broken_layers.py").write_text("import nothing_like_it")
    (tmp_path / "empty_layers.py").write_text("")
    for name, message in {
        "not_there": "there is no such module",
        f"{module}.py": "expected the name of a Python module",
        "broken_layers": "cannot be imported: ModuleNotFoundError.*broken_layers.py, line 1",
        "empty_layers": "defines no layer and no function",
    }.items():
        with pytest.raises(CustomError, match=message):
            load_custom([name])


def test_a_file_cannot_name_a_module(tmp_path: Path, module: str) -> None:
    _saved(module, tmp_path / "vit.keras")
    code = (
        "import sys; from pathlib import Path\n"
        "from ingestion.model_files.any_model import read_model\n"
        "try: read_model(Path('vit.keras'))\n"
        f"except Exception as error: print(type(error).__name__, '{module}' in sys.modules)"
    )
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).resolve().parents[2])}
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=environment
    )
    assert done.stdout.split() == ["CorpusError", "False"]
    assert issubclass(CorpusError, PgdlError)
