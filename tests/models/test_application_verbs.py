"""Well-known networks and a ViT go through the commands, from a .keras file to a table."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import tensorflow as tf

from starting_kit_adapter.cli.main import main, make_parser

pytestmark = pytest.mark.slow
layers = tf.keras.layers
SHAPE, CLASSES = (32, 32, 3), 4
RNG = np.random.default_rng(0)
IMAGES, LABELS = RNG.uniform(0, 255, (48, *SHAPE)).astype(np.float32), np.arange(48) % CLASSES
MEASURES = ("params", "log_sum_of_fro", "mixup", "gi_intra_l1", "contre_fisher", "vpm")
NETWORKS = (
    *("ConvNeXtTiny", "DenseNet121", "EfficientNetB0", "MobileNetV2", "ResNet50"),
    "ViT",
)


def vit() -> tf.keras.Model:
    """Patches, learned positions, two encoder blocks: all of stock layers."""
    inputs = tf.keras.Input(SHAPE)
    x = layers.Conv2D(16, 8, strides=8)(layers.Rescaling(1 / 255)(inputs))
    x = layers.Reshape((16, 16))(x)
    x = x + layers.Embedding(16, 16)(layers.Flatten()(tf.range(16)[None]))
    for _ in range(2):
        y = layers.LayerNormalization()(x)
        x = layers.Add()([x, layers.MultiHeadAttention(2, 8)(y, y)])
        y = layers.Dense(32, activation="gelu")(layers.LayerNormalization()(x))
        x = layers.Add()([x, layers.Dense(16)(y)])
    x = layers.GlobalAveragePooling1D()(layers.LayerNormalization()(x))
    return tf.keras.Model(inputs, layers.Dense(CLASSES)(x))


def made(name: str) -> tf.keras.Model:
    """Untrained, and so of one class for nearly all images: another for each, to have gaps."""
    tf.keras.utils.set_random_seed(0)
    make = vit if name == "ViT" else getattr(tf.keras.applications, name)
    stock = {"weights": None, "input_shape": SHAPE, "classes": CLASSES}
    model = make(**({} if name == "ViT" else stock))
    kernel, bias = model.layers[-1].get_weights()
    bias[NETWORKS.index(name) % CLASSES] += 3
    model.layers[-1].set_weights([kernel, bias])
    return model


def pgdl(*arguments: object) -> int:
    return main(make_parser().parse_args([str(argument) for argument in arguments]))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Six files, the data, and the zoo of all six."""
    root = tmp_path_factory.mktemp("applications")
    test = {"x_test": IMAGES[:24], "y_test": np.repeat(np.arange(CLASSES), [12, 6, 4, 2])}
    np.savez(root / "d.npz", x_train=IMAGES, y_train=LABELS, **test)
    for name in NETWORKS:
        made(name).save(root / f"{name}.keras")
        given = ("--data", f"npz:{root / 'd.npz'}", "--hparam", f"early={name < 'E'}")
        assert pgdl("zoo", "add", root / "zoo", root / f"{name}.keras", *given) == 0
    return root


def test_a_zoo_of_all_is_measured_and_has_a_table(folder: Path, capsys) -> None:
    zoo, out = folder / "zoo", folder / "out"
    few = ("--set", "batches=1", "--set", "batch_size=32", "--set", "graphs=1")
    names = ",".join(MEASURES)
    assert pgdl("run", zoo, "-m", names, "-o", out, "--workers", 1, *few) == 0
    (values,) = out.glob("**/params/*.predict")
    assert len(json.loads(values.read_text())) == len(NETWORKS)
    capsys.readouterr()
    assert pgdl("table", out) == 0
    shown = capsys.readouterr().out
    assert all(name in shown for name in MEASURES)


@pytest.mark.parametrize("name", NETWORKS)
def test_each_is_diagnosed(name: str, folder: Path, capsys) -> None:
    given = (folder / f"{name}.keras", "--data", f"npz:{folder / 'd.npz'}")
    options = ("--perturbations", "rotation,noise", "--batches", 1, "-o", folder / f"{name}.png")
    assert pgdl("invariance", *given, *options) == 0
    assert "rotation" in capsys.readouterr().out
    assert pgdl("overfit", *given, "-o", folder / f"{name}_overfit") == 0
    assert "p" in capsys.readouterr().out
