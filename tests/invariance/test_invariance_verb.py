"""`pgdl invariance`: one network, its curves, and where it breaks."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow as tf
from corpora import examples, write_task
from verbs import run_verb

from pgdl_measures.errors import PgdlError
from starting_kit_adapter.cli import invariance
from starting_kit_adapter.studies.one_model import held_range

QUICK = ("--batches", 2, "--perturbations", "translation_x,noise")


def test_a_network_holds_up_to_the_last_magnitude_before_its_accuracy_falls():
    magnitudes = np.array([-2.0, -1.0, 0.0, 1.0, 2.0])
    assert held_range(magnitudes, np.array([1, 0.5, 1, 0.9, 0.2]), 0.9) == (0.0, 1.0)
    assert held_range(magnitudes, np.ones(5), 0.9) == (-2.0, 2.0)
    assert held_range(magnitudes, np.zeros(5), 0.9) is None


def test_a_model_of_a_corpus_is_examined_on_its_own_data(tmp_path, capsys):
    folder = write_task(tmp_path / "task", count=60)
    figure = tmp_path / "figures" / "curves.svg"
    assert run_verb(invariance, folder / "model_0", *QUICK, "-o", figure) == 0
    shown = capsys.readouterr().out
    assert "accuracy without perturbation" in shown
    assert "translation_x" in shown and "-0.5 to 0.5 of the width" in shown
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
    with pytest.raises(PgdlError, match="does not say what it was trained on: give --data"):
        run_verb(invariance, *arguments)
    with pytest.raises(PgdlError, match=r"expected a \.png, \.svg or \.pdf file"):
        run_verb(invariance, tmp_path / "mine.keras", "-o", "curves")
