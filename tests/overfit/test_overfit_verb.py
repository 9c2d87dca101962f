"""`pgdl overfit` from models to text, JSON and figures; which images it takes."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import tensorflow as tf
from runs import pgdl_overfit, stripes, write_npz

from ingestion.datasets.arrays import Data
from pgdl_measures.adversarial.generators import GENERATORS
from pgdl_measures.errors import PgdlError
from starting_kit_adapter.diagnose.overfit.sets import Origin, choose_sets, find_origin, notes


@pytest.fixture
def models(rescaled_zoo: Path) -> Path:
    return rescaled_zoo / "input_data/stripes"


def _read(data: Data):
    return {"train": data.train, "test": data.test}.__getitem__


def test_one_model_on_its_test_set(models, source, capsys):
    assert pgdl_overfit(models / "model_1", "--data", source, "--eps", 1) == 0
    text = capsys.readouterr().out
    assert "The test set is the 45 images that the zoo of these models used." in text
    assert "test set, 45 images" in text and "train set" not in text
    assert all(name in text for name in GENERATORS)
    assert "this model" in text.lower() and "upsampled for eps" not in text


def test_several_runs_on_both_sets_leave_numbers_and_figures(models, source, tmp_path, capsys):
    pytest.importorskip("matplotlib")
    options = ("--split", "both", "--eps", 1, "--seed", 3, "-o", tmp_path)
    assert pgdl_overfit("--models", models, "--data", source, *options) == 0
    text = capsys.readouterr().out
    assert "test set, 45 images" in text and "train set, 60 images" in text
    found = json.loads((tmp_path / "overfit.json").read_text())
    assert (found["train_examples"], found["test_examples"]) == (60, 45)
    assert (found["eps"], found["seed"], found["padding"]) == (1, 3, "upsample")
    assert found["paths"] == {
        f"model_{i}": str((models / f"model_{i}").resolve()) for i in range(3)
    }
    assert set(found["sets"]) == {"test", "train"}
    for name, count in (("test", 45), ("train", 60)):
        part = found["sets"][name]
        assert part["examples"] == count and set(part["models"]) == set(found["paths"])
        assert part["together"]["strongest"]["models"] == 3
        for model in part["models"].values():
            assert list(model["error_by_shift"]) == ["0", "1", "2", "3"]
            tested = model["generators"]["strongest"]["test_error"]["value"]
            assert model["error_by_shift"]["0"] == pytest.approx(tested)
            assert 0 <= model["generators"]["strongest"]["p"] <= 1
    for figure in ("figure8_test", "figure8_train", "figure9", "figure10", "figure11"):
        assert (tmp_path / f"{figure}.svg").stat().st_size > 5000
        assert (tmp_path / f"{figure}.png").is_file()


def test_a_model_of_another_eps_is_warned_of(models, source, capsys):
    pgdl_overfit(models / "model_0", "--data", source, "--eps", 2, "--test-examples", 12)
    text = capsys.readouterr().out
    assert "Warning: these models were trained on images that were upsampled for eps = 1" in text
    assert "test set, 12 images" in text and "that the zoo of these models used" not in text


def test_unseen_images_are_as_many_that_the_zoo_left_out(models, source):
    data = stripes()
    origin = find_origin([models / "model_0"])
    seen = choose_sets(_read(data), "train", origin, 60, 45)["train"]
    unseen = choose_sets(_read(data), "unseen", origin, 60, 45)["unseen"]
    assert len(unseen) == len(seen) == 60
    together = np.concatenate([seen.images, unseen.images])
    assert len(np.unique(together, axis=0)) == 120
    assert np.isin(together, data.train.images).all()
    assert np.bincount(unseen.labels).tolist() == [20, 20, 20]


def test_unseen_images_need_a_zoo_that_left_some_out(models, tmp_path):
    data = stripes()
    with pytest.raises(PgdlError, match="the models are not of one zoo"):
        choose_sets(_read(data), "unseen", None, None, None)
    with pytest.raises(PgdlError, match="was trained on all training images"):
        choose_sets(_read(data), "unseen", Origin(models, None, None, None), None, None)
    shuffled = stripes(train=147, test=93)
    with pytest.raises(PgdlError, match="was not trained on images of this --data"):
        choose_sets(_read(shuffled), "unseen", find_origin([models / "model_0"]), None, None)


def test_models_from_elsewhere_are_of_no_zoo(models, tmp_path):
    assert find_origin([tmp_path / "a.keras"]) is None
    assert find_origin([models / "model_0", tmp_path / "a.keras"]) is None
    assert notes(None, "both", None, None, 2) == []


@pytest.mark.parametrize(
    ("option", "value", "message"),
    [("--seed", "-1", "an integer from 0 to 2^31 - 1"), ("--eps", "0", "a positive integer")],
)
def test_numbers_out_of_range_are_refused(option, value, message, source, capsys):
    with pytest.raises(SystemExit):
        pgdl_overfit("model_0", "--data", source, f"{option}={value}")
    assert f"expected {message}, found '{value}'" in capsys.readouterr().err


def test_images_of_files_are_not_resized(models, tmp_path):
    source = write_npz(tmp_path / "a.npz", stripes())
    with pytest.raises(PgdlError, match="--image-size resizes tfds data only"):
        pgdl_overfit(models / "model_0", "--data", source, "--image-size", 4)


def test_the_control_is_detected_on_the_training_set_only(tmp_path, capsys):
    """Overfitting by construction, where shifted images are exactly as likely."""
    assert pgdl_overfit("--control", "-o", tmp_path) == 0
    text = capsys.readouterr().out
    assert "No overfitting of this model to the test set is detected" in text
    assert "this is overfitting to the train set" in text
    found = json.loads((tmp_path / "overfit.json").read_text())["sets"]
    train, test = (found[part]["models"]["control"]["generators"] for part in ("train", "test"))
    assert train["strongest"]["p"] < 0.001 and test["strongest"]["p"] > 0.5
    assert train["random"]["p"] < 0.05  # strong overfitting is seen without choosing shifts
    assert train["strongest"]["test_error"]["value"] == 0
    errors = found["test"]["models"]["control"]["error_by_shift"].values()
    assert min(errors) > 0.25 and max(errors) < 0.35
    again = ("--data", f"npz:{tmp_path / 'control.npz'}", "--split", "both", "-o", tmp_path / "b")
    assert pgdl_overfit(tmp_path / "control.keras", *again) == 0
    read = json.loads((tmp_path / "b/overfit.json").read_text())["sets"]
    assert read["train"]["together"] == found["train"]["together"]


def test_the_test_set_alone_needs_no_training_data(models, tmp_path, capsys):
    data = stripes()
    np.savez(tmp_path / "t.npz", x_test=data.test.images, y_test=data.test.labels)
    source = ("--data", f"npz:{tmp_path / 't.npz'}", "--eps", 1)
    assert pgdl_overfit(models / "model_0", *source) == 0
    assert "test set, 45 images" in capsys.readouterr().out
    with pytest.raises(PgdlError, match="has the arrays x_test, y_test; expected x_train, y_train"):
        pgdl_overfit(models / "model_0", *source, "--split", "train")


def test_a_second_data_set_stands_beside_the_first(models, source, tmp_path, capsys):
    other = write_npz(tmp_path / "new.npz", stripes(train=30, test=60))
    data = ("--data", source, "--data", other, "--eps", 1, "-o", tmp_path / "out")
    assert pgdl_overfit("--models", models, *data) == 0
    assert "new set, 45 images" in capsys.readouterr().out
    found = json.loads((tmp_path / "out/overfit.json").read_text())
    assert list(found["sets"]) == ["test", "new"] and found["data"] == [source, other]
    assert [row["error"] for row in found["p_by_error"]] == ["test", "new"]


def test_original_models_are_compared(models, source, tmp_path, capsys):
    options = ("--data", source, "--eps", 1, "-o", tmp_path)
    assert pgdl_overfit("--models", models, "--original", models, *options) == 0
    assert "similarity of 3 original and 3 tested models" in capsys.readouterr().out
    found = json.loads((tmp_path / "overfit.json").read_text())["similarity"]
    assert set(found) == {
        "jaccard",
        "jaccard_if_independent",
        "both_wrong",
        "same_label",
        "same_labels",
    }


def test_a_folder_that_cannot_be_written_is_refused_before_anything_is_read(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(PgdlError, match="results cannot be written there"):
        pgdl_overfit("no_such_model", "--data", "npz:none", "-o", tmp_path / "file/out")


def test_a_model_that_does_not_know_upsampled_images_is_shifted_circularly(tmp_path, capsys):
    data = stripes()
    layers = tf.keras.layers
    tf.keras.utils.set_random_seed(0)
    model = tf.keras.Sequential([layers.Flatten(), layers.Dense(16, "relu"), layers.Dense(3)])
    model.compile("adam", tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    model.fit(data.train.images, data.train.labels, epochs=20, verbose=0)
    model.save(tmp_path / "m.keras")
    source = ("--data", write_npz(tmp_path / "a.npz", data))
    assert pgdl_overfit(tmp_path / "m.keras", *source) == 0
    assert "Images are shifted circularly: upsampling them raises the" in capsys.readouterr().out
    assert pgdl_overfit(tmp_path / "m.keras", *source, "--room", "upsample") == 0
    assert "The test does not apply to this model" in capsys.readouterr().out


def test_no_data_and_a_control_with_data_are_refused(tmp_path):
    with pytest.raises(PgdlError, match="no images are given"):
        pgdl_overfit("mine.keras")
    with pytest.raises(PgdlError, match="--control makes its own model and images"):
        pgdl_overfit("mine.keras", "--control")


def test_labels_that_the_model_does_not_have_are_refused(models, tmp_path):
    data = stripes()
    path = tmp_path / "from_1.npz"
    np.savez(path, x_test=data.test.images, y_test=data.test.labels + 1)
    with pytest.raises(PgdlError, match=r"labels go from 1 to 3.*subtract 1"):
        pgdl_overfit(models / "model_0", "--data", f"npz:{path}", "--eps", 1)


def test_bytes_are_given_as_the_model_was_trained_on_them(tmp_path, capsys):
    """The brighter of two halves is the class; the model itself divides by 255."""
    layers = tf.keras.layers
    labels = np.arange(60) % 2
    images = np.random.default_rng(0).integers(0, 40, (60, 8, 8, 1))
    images[labels == 1] += 120
    parts = [tf.keras.Input((8, 8, 1)), layers.Rescaling(1 / 255), layers.Flatten()]
    model = tf.keras.Sequential([*parts, layers.Dense(2)])
    model.set_weights([np.ones((64, 2)) * [0, 1 / 64], np.array([0.3, 0])])
    model.save(tmp_path / "mine.keras")
    np.savez(tmp_path / "bytes.npz", x_test=images.astype(np.uint8), y_test=labels)
    arguments = (tmp_path / "mine.keras", "--data", f"npz:{tmp_path / 'bytes.npz'}", "--eps", 1)
    assert pgdl_overfit(*arguments) == 0
    assert "near chance" not in capsys.readouterr().out
    pgdl_overfit(*arguments, "--scale", "unit")
    assert "near chance" in capsys.readouterr().out
