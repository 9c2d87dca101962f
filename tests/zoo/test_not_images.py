"""Vectors, token ids and images without channels go the way of images: rank, zoo add, run."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import tensorflow as tf
from verbs import run_verb
from zoos import pgdl_zoo

from ingestion import evaluate
from ingestion.datasets.array_forms import make_data
from ingestion.errors import ZooError
from starting_kit_adapter.cli import rank

pytestmark = pytest.mark.keras2

RNG = np.random.default_rng(0)
LABELS = np.arange(120) % 2
VECTORS = RNG.normal(size=(120, 6)) + 3 * LABELS[:, None]  # the class is the mean of the numbers
TOKENS = RNG.integers(0, 10, (120, 5)) + 10 * LABELS[:, None]  # words 10 to 19 are of class 1
GREY = np.abs(VECTORS[:, :4]).reshape(120, 2, 2) / 10

layers = tf.keras.layers


def separator(length: int, weight: float) -> tf.keras.Model:
    """Class 1 if the sum of the inputs is large."""
    shape = (2, 2) if length == 4 else (length,)
    parts = [tf.keras.Input(shape), layers.Flatten(), layers.Dense(length), layers.Dense(2)]
    model = tf.keras.Sequential(parts)
    kernel = np.zeros((length, 2))
    kernel[:, 1] = weight
    threshold = 0.9 if length == 4 else 1.5 * length
    same = [np.eye(length), np.zeros(length)]
    model.set_weights([*same, kernel, np.array([weight * threshold, 0])])
    return model


def reader(weight: float) -> tf.keras.Model:
    """Class 1 if the words are of class 1."""
    parts = [tf.keras.Input((5,)), layers.Embedding(20, 1), layers.Flatten(), layers.Dense(2)]
    model = tf.keras.Sequential(parts)
    words = np.where(np.arange(20) < 10, -weight, weight)[:, None]
    model.set_weights([words, np.array([[0, 1.0]] * 5), np.zeros(2)])
    return model


KINDS = {
    "vectors": (VECTORS, [separator(6, 1.0), separator(6, 2.0)]),
    "tokens": (TOKENS, [reader(1.0), reader(2.0)]),
    "token bytes": (TOKENS.astype(np.uint8), [reader(1.0), reader(2.0)]),
    "grey images": (GREY, [separator(4, 1.0), separator(4, 2.0)]),
}


@pytest.fixture(params=list(KINDS))
def files(request, tmp_path: Path) -> Path:
    inputs, models = KINDS[request.param]
    np.savez(tmp_path / "mine.npz", x_train=inputs, y_train=np.eye(2)[LABELS])
    for i, model in enumerate(models):
        model.save(tmp_path / f"model{i}.keras")
    return tmp_path


def test_models_of_them_are_ranked(files, capsys):
    args = [f"{files}/*.keras", "--data", f"npz:{files / 'mine.npz'}", "--seeds", "2"]
    assert run_verb(rank, *args, "--workers", "1", "--format", "json") == 0
    found = json.loads(capsys.readouterr().out)
    assert all(model["train_acc"] > 0.9 for model in found["models"])
    if "mixup" in found["left_out"]:
        assert "the inputs are token ids, which cannot be mixed" in found["left_out"]["mixup"]
        assert list(found["measures"]) == ["manifold_mixup"]
    else:
        assert list(found["measures"]) == ["mixup", "manifold_mixup"]


def test_they_join_a_zoo_that_is_run(files):
    data = ("--data", f"npz:{files / 'mine.npz'}", "--task", "t")
    assert pgdl_zoo("add", files / "zoo", files / "model0.keras", *data) == 0
    report = evaluate(files / "zoo", ["manifold_mixup", "params", "contre_gap"], files / "out")
    assert report.values("t", "params").keys() == {"model_0"}
    assert report.values("t", "manifold_mixup")["model_0"] < -0.9  # an accuracy, negated
    assert not report.values("t", "contre_gap")


def test_integers_that_floats_do_not_hold_are_refused():
    with pytest.raises(ZooError, match=r"integers up to 33554433; .* up to 16777216 only"):
        make_data(np.full((4, 2), 2**25 + 1), np.arange(4), images_only=False)
    with pytest.raises(ZooError, match=r"shape \(120, 6\); expected \[n, height, width"):
        make_data(VECTORS, LABELS)
