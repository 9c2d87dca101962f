"""`pgdl invariance`: one network, its curves, and where it breaks."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow as tf
from corpora import dataset, examples, write_task
from verbs import run_verb

from pgdl_measures.base import Subject
from pgdl_measures.errors import PgdlError
from pgdl_measures.response_curves.invariance import response_curve
from starting_kit_adapter.cli import invariance
from starting_kit_adapter.diagnose.invariance import examine, kept_range

QUICK = ("--batches", 2, "--perturbations", "translation_x,noise")


def test_a_network_keeps_its_accuracy_up_to_where_the_curve_falls_below():
    magnitudes = np.array([-2.0, -1.0, 0.0, 1.0, 2.0])
    low, high = kept_range(magnitudes, np.array([1, 0.5, 1, 0.9, 0.2]), 0.9)
    assert (low, high) == (pytest.approx(-0.2), 1.0)  # on a line from (0, 1) to (-1, 0.5)
    assert kept_range(magnitudes, np.ones(5), 0.9) == (-2.0, 2.0)
    assert kept_range(magnitudes, np.zeros(5), 0.9) is None


def test_a_network_is_compared_with_itself_on_the_same_images():
    """Some batches are harder than the rest of the data: that is no perturbation's doing."""
    inputs, labels = examples(300, (6, 6, 1), 3)
    model = tf.keras.Sequential([tf.keras.layers.Flatten(), tf.keras.layers.Dense(3)])
    model.build((None, 6, 6, 1))
    subject = Subject(model, dataset(inputs, labels))
    unperturbed = []
    for seed in range(4):
        found = examine(subject, ["noise"], keep_fraction=1.0, batches=1, seed=seed)
        curve = response_curve(subject, "noise", batches=1, seed=seed)
        assert found.unperturbed == curve.accuracy[0]  # which is of magnitude 0
        assert found.of[0].kept_range is not None
        unperturbed.append(found.unperturbed)
    assert len(set(unperturbed)) > 1


@pytest.mark.parametrize("flag", ["--keep-fraction", "--holds"])
@pytest.mark.parametrize("share", ["0", "1.1", "-0.5", "nan", "most"])
def test_a_fraction_outside_0_to_1_is_refused(flag, share, capsys):
    with pytest.raises(SystemExit):
        run_verb(invariance, "mine.keras", flag, share)
    assert "expected a number above 0 and at most 1" in capsys.readouterr().err


def test_a_model_of_a_corpus_is_examined_on_its_own_data(tmp_path, capsys):
    folder = write_task(tmp_path / "task", count=60)
    figure = tmp_path / "figures" / "curves.svg"
    assert run_verb(invariance, folder / "model_0", *QUICK, "-o", figure) == 0
    shown = capsys.readouterr().out
    assert "accuracy without perturbation" in shown
    assert "1 of 2 batches of 128: the training data has no more" in shown
    assert "translation_x" in shown and "widths" in shown
    assert "rotation" not in shown
    assert figure.read_text().startswith("<?xml")


def test_a_keras_file_needs_data_of_a_source(tmp_path, capsys):
    inputs, labels = examples(40, (6, 6, 1), 3)
    model = tf.keras.Sequential([tf.keras.layers.Flatten(), tf.keras.layers.Dense(3)])
    model.build((None, 6, 6, 1))
    model.save(tmp_path / "mine.keras")
    np.savez(
        tmp_path / "a.npz", x_train=inputs, y_train=labels, x_test=inputs[:9], y_test=labels[:9]
    )
    arguments = (tmp_path / "mine.keras", *QUICK, "-o", tmp_path / "a.png")
    assert run_verb(invariance, *arguments, "--data", f"npz:{tmp_path / 'a.npz'}") == 0
    assert "noise" in capsys.readouterr().out and (tmp_path / "a.png").stat().st_size > 1000
    with pytest.raises(PgdlError, match="does not contain its training data: give it with --data"):
        run_verb(invariance, *arguments)
    with pytest.raises(PgdlError, match=r"expected a \.png, \.svg or \.pdf file"):
        run_verb(invariance, tmp_path / "mine.keras", "-o", "curves")


def test_training_images_of_bytes_are_enough(tmp_path, capsys):
    """No test set is needed, and a model that divides by 255 itself is shown bytes."""
    labels = np.arange(256) % 2
    images = np.random.default_rng(0).integers(0, 40, (256, 8, 8, 1))
    images[labels == 1] += 120
    layers = tf.keras.layers
    parts = [tf.keras.Input((8, 8, 1)), layers.Rescaling(1 / 255), layers.Flatten()]
    model = tf.keras.Sequential([*parts, layers.Dense(2)])
    model.set_weights([np.ones((64, 2)) * [0, 1 / 64], np.array([0.3, 0])])
    model.save(tmp_path / "mine.keras")
    np.savez(tmp_path / "bytes.npz", x_train=images.astype(np.uint8), y_train=labels)
    data = f"npz:{tmp_path / 'bytes.npz'}"
    arguments = (tmp_path / "mine.keras", "--data", data, *QUICK, "-o", tmp_path / "a.png")
    assert run_verb(invariance, *arguments) == 0
    assert "accuracy without perturbation: 1.0000" in capsys.readouterr().out
    assert run_verb(invariance, *arguments, "--scale", "unit") == 0
    shown = capsys.readouterr()
    assert "near chance" in shown.out + shown.err


def test_a_picture_that_cannot_be_written_is_said_before_anything_is_computed(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(PgdlError, match="file"):
        run_verb(invariance, "mine.keras", "-o", tmp_path / "file" / "x.png")
