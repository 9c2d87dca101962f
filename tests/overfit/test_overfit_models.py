"""Which models are tested, and which of them belong together."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import tensorflow as tf

from ingestion.model_files.any_model import read_architecture, read_model
from pgdl_measures.errors import PgdlError
from starting_kit_adapter.diagnose.overfit.models import (
    check_one_architecture,
    check_one_training,
    find_models,
    read_training,
)


def _save(path: Path, units: int = 4) -> Path:
    layers = tf.keras.layers
    model = tf.keras.Sequential([layers.Flatten(), layers.Dense(units), layers.Dense(3)])
    model.build((None, 6, 6, 1))
    path.parent.mkdir(parents=True, exist_ok=True)
    model.save(path)
    return path


def test_models_of_one_name_are_two_models(tmp_path):
    one, other = _save(tmp_path / "a/best.keras"), _save(tmp_path / "b/runs/best.keras")
    assert find_models(one, other.parent) == {"a/best.keras": one, "b/runs/best.keras": other}
    assert find_models(one, None) == {"best.keras": one}
    assert find_models(one, one.parent) == {"best.keras": one}


def test_no_model_is_an_error(tmp_path):
    with pytest.raises(PgdlError, match="no model is given"):
        find_models(None, None)


def test_a_file_and_a_folder_are_read(tmp_path, rescaled_zoo):
    config, model = read_model(_save(tmp_path / "a.keras"))
    assert config["input_shape"] == [6, 6, 1] and model.output_shape == (None, 3)
    folder = rescaled_zoo / "input_data/stripes/model_0"
    config, model = read_model(folder)
    assert config == json.loads((folder / "config.json").read_text())
    assert np.isfinite(np.asarray(model(np.zeros((1, 8, 8, 1), np.float32)))).all()


def test_other_layers_are_another_architecture(tmp_path):
    paths = [_save(tmp_path / f"{i}.keras", units) for i, units in enumerate((4, 4, 5))]
    configs = {path.name: read_architecture(path) for path in paths}
    check_one_architecture({name: configs[name] for name in ("0.keras", "1.keras")})
    with pytest.raises(PgdlError, match=r"2 architectures \(2 like 0.keras; 1 like 2.keras\)"):
        check_one_architecture(configs)


def test_runs_that_differ_by_their_seed_belong_together(rescaled_zoo):
    paths = find_models(None, rescaled_zoo / "input_data/stripes")
    trainings = {name: read_training(path) for name, path in paths.items()}
    assert len(trainings) == 3 and trainings["model_0"]["depth"] == 2
    check_one_training(trainings)


@pytest.mark.parametrize("place", ["input_data/t", "reference_data/t"])
@pytest.mark.parametrize("prefix", ["", "model_"])
def test_other_training_is_another_architecture(tmp_path, place, prefix):
    """Footnote 4 of the paper; in the competition's corpus most hyperparameters are such."""
    entries = {
        f"{prefix}{i}": {
            "hparams": {
                "batch_size": {"possible_values": [8, 64], "current_value": size},
                "width": {"possible_values": [16], "current_value": 16},
            }
        }
        for i, size in enumerate((8, 8, 64))
    }
    paths = [tmp_path / "input_data/t" / f"model_{i}" for i in range(3)]
    for path in paths:
        path.mkdir(parents=True)
    (tmp_path / place).mkdir(parents=True, exist_ok=True)
    (tmp_path / place / "model_configs.json").write_text(json.dumps(entries))
    trainings = {path.name: read_training(path) for path in paths}
    check_one_training({name: trainings[name] for name in ("model_0", "model_1")})
    with pytest.raises(PgdlError, match=r"trained differently \(batch_size: 8, 64\)"):
        check_one_training(trainings)


def test_files_do_not_tell_how_they_were_trained(tmp_path):
    assert read_training(tmp_path / "a.keras") == {}
    check_one_training({"a": {}, "b": {"batch_size": 8}})
