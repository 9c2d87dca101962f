"""`pgdl_measures.rank` and `pgdl rank` on networks whose order is known, and their output."""

from __future__ import annotations

import csv
import io
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import tensorflow as tf
from verbs import run_verb

import pgdl_measures
from pgdl_measures.errors import PgdlError
from starting_kit_adapter.cli import rank as verb

pytestmark = pytest.mark.keras2

ROOT = Path(__file__).parents[2]
CLASSES, SIDE = 2, 8


def images(count: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Noisy images; the class is the half, upper or lower, that is a little brighter."""
    labels = np.arange(count) % CLASSES
    found = np.random.default_rng(seed).integers(0, 120, (count, SIDE, SIDE, 1))
    for image, label in zip(found, labels):
        image[4 * label : 4 * label + 4] += 20
    return found.astype(np.uint8), labels


TRAIN, TEST = images(160, 0), images(160, 1)


def average() -> tf.keras.Model:
    """Compares the halves: as good on new images as on these."""
    layers = tf.keras.layers
    parts = [tf.keras.Input((SIDE, SIDE, 1)), layers.AveragePooling2D((4, 8)), layers.Flatten()]
    model = tf.keras.Sequential([*parts, layers.Dense(CLASSES)], name="average")
    model.set_weights([np.eye(CLASSES), np.zeros(CLASSES)])
    return model


def memory() -> tf.keras.Model:
    """Knows the training images one by one and nothing else; takes bytes as they are."""
    layers = tf.keras.layers
    parts = [tf.keras.Input((SIDE, SIDE, 1)), layers.Rescaling(1 / 255), layers.Flatten()]
    hidden = layers.Dense(len(TRAIN[1]), activation="relu")
    model = tf.keras.Sequential([*parts, hidden, layers.Dense(CLASSES)], name="memory")
    known = TRAIN[0].reshape(len(TRAIN[1]), -1).astype(np.float32) / 255
    lengths = (known**2).sum(axis=1)
    # 2 x.k - |k|^2 is |k|^2 where x is k; a threshold below that leaves all other x out.
    bias = -lengths - (lengths - 0.5)
    model.set_weights([2 * known.T, bias, np.eye(CLASSES)[TRAIN[1]], np.zeros(CLASSES)])
    return model


def guess() -> tf.keras.Model:
    model = average()
    model.set_weights([np.zeros((CLASSES, CLASSES)), np.eye(CLASSES)[0]])
    return model


def test_the_network_that_generalizes_is_picked_over_the_one_that_memorized():
    scaled = tuple((x.astype(np.float32), y) for x, y in (TRAIN, TEST))
    found = pgdl_measures.rank(
        {"memory": memory(), "average": average()}, scaled[0], test=scaled[1], seeds=2
    )
    rows = {row.model.name: row.model for row in found.rows}
    assert rows["memory"].training_accuracy > 0.95
    assert rows["memory"].test_accuracy < rows["average"].test_accuracy
    assert found.pick == "average"
    assert found.agreements[0].regret == 0
    assert "pick: average" in str(found)


def test_models_of_a_list_go_by_their_own_names():
    data = (TRAIN[0].astype(np.float32), TRAIN[1])
    found = pgdl_measures.rank([average(), average()], data, ["mixup"], seeds=2, batches=1)
    assert {row.model.name for row in found.rows} == {"average", "average_1"}
    assert found.not_told_apart
    with pytest.raises(PgdlError, match="no model is given"):
        pgdl_measures.rank([], data)


def test_a_model_that_cannot_be_measured_costs_the_others_nothing():
    data = (TRAIN[0].astype(np.float32), TRAIN[1])
    inputs = tf.keras.Input((SIDE, SIDE, 1))
    heads = [tf.keras.layers.Dense(CLASSES)(tf.keras.layers.Flatten()(inputs)) for _ in range(2)]
    two = tf.keras.Model(inputs, heads)
    found = pgdl_measures.rank({"two": two, "one": average()}, data, ["mixup"], seeds=1, batches=1)
    assert found.pick == "one"
    assert "the model has several outputs" in found.left_out["two"]
    assert "left out: two: the model has several outputs" in str(found)
    with pytest.raises(PgdlError, match=r"no model can be ranked: .* several outputs .*\(a, b\)$"):
        pgdl_measures.rank({"a": two, "b": two}, data)


@pytest.fixture()
def folder(tmp_path: Path) -> Path:
    (tmp_path / "models").mkdir()
    average().save(tmp_path / "models/average.keras")
    memory().save(tmp_path / "models/memory.h5")
    np.savez(tmp_path / "mine.npz", x_train=TRAIN[0], y_train=TRAIN[1])
    truth = {"x_test": TEST[0], "y_test": TEST[1]}
    np.savez(tmp_path / "test.npz", x_train=TRAIN[0], y_train=TRAIN[1], **truth)
    return tmp_path


def pgdl_rank(*arguments: object) -> int:
    return run_verb(verb, *arguments, "--workers", "1")


QUICK = ("-m", "mixup,contre_random_flip", "--seeds", 2)


def test_files_of_two_scales_are_ranked_on_training_data_alone(folder, capsys):
    """One takes bytes as they are and the other does not care: neither is measured at chance."""
    out = folder / "out"
    args = (folder / "models", "--data", f"npz:{folder / 'mine.npz'}", *QUICK, "-o", out)
    assert pgdl_rank(*args, "--format", "json", "--html", folder / "page.html") == 0
    said = capsys.readouterr()
    found = json.loads(said.out)
    assert found["pick"] == "average"
    assert {m["model"] for m in found["models"]} == {"average", "memory"}
    assert all(m["train_acc"] > 0.9 and m["test_acc"] is None for m in found["models"])
    assert "near chance" not in said.err
    assert "pick: average" in (folder / "page.html").read_text()
    records = (out / "run/records.jsonl").read_bytes()
    assert pgdl_rank(*args, "--format", "csv") == 0
    assert (out / "run/records.jsonl").read_bytes() == records  # nothing was computed again
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert [row["model"] for row in rows] == ["average", "memory"]
    assert float(rows[0]["mixup"]) == found["models"][0]["measures"]["mixup"]["value"]


def test_all_leaves_out_in_one_line_what_needs_the_weights_before_training(
    folder, monkeypatch, capsys
):
    few = [pgdl_measures.complexity(name) for name in ("mixup", "fro_dist", "augment_margin")]
    monkeypatch.setattr("ingestion.run.chosen.measures", lambda: few)
    data = ("--data", f"npz:{folder / 'mine.npz'}")
    assert pgdl_rank(folder / "models", *data, "-m", "all", "--by", "gap", "--seeds", 1) == 0
    said = capsys.readouterr()
    assert "mixup" in said.out and "augment_margin" in said.out and "left out" not in said.out
    assert said.err.count("1 that need initial weights (fro_dist)") == 1


def test_tensorflow_says_nothing_of_its_own_whatever_the_number_of_models(folder):
    for i in range(6):  # from the fifth on it would warn of retracing
        shutil.copy(folder / "models/memory.h5", folder / f"models/copy{i}.h5")
    command = [sys.executable, "-m", "starting_kit_adapter.cli.main", "rank", folder / "models"]
    command += ["--data", f"npz:{folder / 'mine.npz'}", "-m", "params", "--by", "gap"]
    told = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
    assert told.returncode == 0 and "pick: average" in told.stdout
    # Where the machine is slow, the progress is told.
    said = [line for line in told.stderr.splitlines() if " models " not in line]
    assert said == []


def test_a_model_can_be_added_and_the_truth_stands_beside_it(folder, capsys):
    guess().save(folder / "models/guess.keras")
    data = f"npz:{folder / 'test.npz'}"
    assert pgdl_rank(f"{folder}/models/*", "--data", data, *QUICK) == 0
    said = capsys.readouterr()
    assert "true test acc" in said.out
    assert "guess: its training accuracy is 50.0%, which is near chance (50.0%)" in said.err
    assert "training accuracy near chance (50.0%): guess" in said.out
    assert said.out.splitlines()[-1].startswith("truth: Kendall's tau")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["none/*.keras"], "no model found"),
        (["models/average.keras"], "is the only model"),
        (["models", "-m", "path_norm"], "needs the size of the gap"),
        (["models", "-m", "mixpu"], "did you mean mixup"),
    ],
)
def test_what_cannot_be_ranked_is_said_before_anything_is_computed(
    folder, monkeypatch, arguments, message
):
    monkeypatch.chdir(folder)
    with pytest.raises(PgdlError, match=message):
        pgdl_rank(*arguments, "--data", "npz:mine.npz")


def test_a_model_that_does_not_fit_the_data_is_left_out_and_named(folder, capsys):
    other = tf.keras.Sequential([tf.keras.Input((3, 3, 1)), tf.keras.layers.Flatten()])
    other.save(folder / "models/other.keras")
    args = (folder / "models", "--data", f"npz:{folder / 'mine.npz'}", *QUICK)
    assert pgdl_rank(*args, "--format", "markdown") == 1
    assert "takes inputs of shape (3, 3, 1); the data has (8, 8, 1)" in capsys.readouterr().out


def test_a_pipe_a_device_and_a_link_that_leads_nowhere_are_left_out_and_named(folder, capsys):
    os.mkfifo(folder / "models/pipe.keras")
    (folder / "models/zero.h5").symlink_to("/dev/zero")
    (folder / "models/nowhere.keras").symlink_to("missing.keras")
    (folder / "models/model_3").symlink_to("missing")
    data = ("--data", f"npz:{folder / 'mine.npz'}")
    assert pgdl_rank(folder / "models", folder / "models/pipe.keras", *data, *QUICK) == 1
    said = capsys.readouterr().out
    assert "pick: average" in said
    for name in ("pipe.keras: is not a regular file", "zero.h5: is not a regular file"):
        assert name in said
    for name in ("nowhere.keras: is missing", "model_3: is missing"):
        assert name in said


BAD_LAYERS = """
import os, time
import tensorflow as tf

@tf.keras.utils.register_keras_serializable("bad")
class Hangs(tf.keras.layers.Layer):
    def call(self, inputs):
        if "PGDL_TEST_BAD" in os.environ:
            time.sleep(3600)
        return inputs

@tf.keras.utils.register_keras_serializable("bad")
class Crashes(tf.keras.layers.Layer):
    def call(self, inputs):
        if "PGDL_TEST_BAD" in os.environ:
            os.abort()
        return inputs
"""


def test_a_model_that_hangs_or_ends_its_process_while_it_is_read_costs_itself_alone(
    folder, monkeypatch, capsys
):
    (folder / "bad_layers.py").write_text(BAD_LAYERS)
    monkeypatch.syspath_prepend(folder)
    import bad_layers

    for name in ("Crashes", "Hangs"):
        layers = [tf.keras.Input((SIDE, SIDE, 1)), tf.keras.layers.Flatten()]
        bad = [getattr(bad_layers, name)(), tf.keras.layers.Dense(CLASSES)]
        tf.keras.Sequential([*layers, *bad]).save(folder / f"models/{name}.keras")
    monkeypatch.setenv("PGDL_TEST_BAD", "1")
    args = (folder / "models", "--data", f"npz:{folder / 'mine.npz'}", *QUICK)
    assert pgdl_rank(*args, "--custom", "bad_layers", "--time-limit", 30) == 1
    said = capsys.readouterr().out
    assert "pick: average" in said
    assert "Crashes.keras: the worker was ended by SIGABRT" in said
    assert "Hangs.keras: stopped after 30 seconds while it was read" in said


def test_a_file_where_the_folder_belongs_and_data_without_its_kind_are_said_first(folder):
    with pytest.raises(PgdlError, match=r"mine\.npz"):
        pgdl_rank(folder / "models", "--data", "digits", "-o", folder / "mine.npz")
    with pytest.raises(PgdlError, match="did you mean npz:"):
        pgdl_rank(folder / "models", "--data", folder / "mine.npz")


def test_the_training_accuracy_of_a_single_sigmoid_is_that_of_two_classes(folder, capsys):
    layers = tf.keras.layers
    parts = [tf.keras.Input((SIDE, SIDE, 1)), layers.AveragePooling2D((4, 8)), layers.Flatten()]
    one = tf.keras.Sequential([*parts, layers.Dense(1, activation="sigmoid")])
    one.set_weights([np.array([[-1.0], [1.0]]), np.zeros(1)])
    one.save(folder / "models/one.keras")
    data = ("--data", f"npz:{folder / 'mine.npz'}")
    assert pgdl_rank(folder / "models", *data, "-m", "mixup", "--format", "json") == 0
    found = {row["model"]: row for row in json.loads(capsys.readouterr().out)["models"]}
    assert found["one"]["train_acc"] == found["average"]["train_acc"]
