"""A built zoo is a corpus of the competition, and says of its models what is true of them."""

from __future__ import annotations

import json
from pathlib import Path

import h5py
import numpy as np
import pytest

from ingestion.corpus import find_corpus
from ingestion.datasets.data import load_dataset
from ingestion.datasets.sources import load_source
from ingestion.model_files.models import load_model
from scoring.kit.reference import read_reference


def _configs(root: Path) -> dict:
    return json.loads((root / "reference_data/t/model_configs.json").read_text())


def test_the_folders_and_files_are_the_competitions_and_no_others(tiny_zoo: Path) -> None:
    files = {str(p.relative_to(tiny_zoo)) for p in tiny_zoo.rglob("*") if p.is_file()}
    models = {
        f"input_data/t/model_{i}/{name}"
        for i in range(4)
        for name in ("config.json", "weights.hdf5", "weights_init.hdf5")
    }
    data = {f"input_data/t/dataset_1/{split}/shard_0.tfrecord" for split in ("train", "test")}
    references = {"input_data/t/model_configs.json", "reference_data/t/model_configs.json"}
    own = {"zoo.json", *(f"training/t/model_{i}.json" for i in range(4))}
    assert files == models | data | references | own


def test_the_references_hold_the_grid_and_agree(tiny_zoo: Path) -> None:
    assert _configs(tiny_zoo) == json.loads(
        (tiny_zoo / "input_data/t/model_configs.json").read_text()
    )
    cells = [
        {name: h["current_value"] for name, h in entry["hparams"].items()}
        for entry in _configs(tiny_zoo).values()
    ]
    assert cells == [{"width": w, "dropout": d} for w in (4, 8) for d in (0.0, 0.25)]
    assert _configs(tiny_zoo)["0"]["hparams"]["width"]["possible_values"] == [4, 8]


def test_the_scorer_reads_the_reference_as_a_complete_grid(tiny_zoo: Path) -> None:
    reference = read_reference(tiny_zoo / "reference_data/t/model_configs.json", "t")
    assert reference.is_complete
    assert reference.sizes == (2, 2)


@pytest.mark.parametrize("split", ["train", "test"])
def test_recorded_accuracies_are_those_of_the_models_read_back(tiny_zoo: Path, split: str) -> None:
    task = find_corpus(tiny_zoo).task("t")
    images, labels = zip(*load_dataset(task.shards(split)).as_numpy_iterator())
    for model_id, entry in zip(task.model_ids, _configs(tiny_zoo).values()):
        logits = load_model(task.model_folder(model_id)).predict(np.stack(images), verbose=0)
        accuracy = np.mean(logits.argmax(axis=-1) == np.stack(labels))
        assert accuracy == pytest.approx(entry["metrics"][f"{split}_acc"], abs=1e-9)


def test_every_model_fits_its_training_data(tiny_zoo: Path) -> None:
    for entry in _configs(tiny_zoo).values():
        assert entry["reached_target"]
        assert entry["metrics"]["train_acc"] >= 0.95


def test_the_shards_hold_the_source_in_the_kits_types(tiny_zoo: Path) -> None:
    shards = find_corpus(tiny_zoo).task("t").shards("train")
    inputs, outputs = zip(*load_dataset(shards).as_numpy_iterator())
    expected = load_source("digits").limited(100, 80).train
    assert np.array_equal(np.stack(inputs), expected.images)
    assert np.array_equal(np.stack(outputs), expected.labels)
    assert inputs[0].dtype == np.float32 and outputs[0].dtype == np.int32
    assert outputs[0].shape == ()


def test_weights_have_the_names_that_keras_2_gives_them(tiny_zoo: Path) -> None:
    with h5py.File(tiny_zoo / "input_data/t/model_0/weights.hdf5") as file:
        names = [name.decode() for name in file.attrs["layer_names"]]
        assert names == ["conv2d", "conv2d_1", "max_pooling2d", "flatten", "dense", "dense_1"]
        weights = [name.decode() for name in file["conv2d"].attrs["weight_names"]]
        assert weights == ["conv2d/kernel:0", "conv2d/bias:0"]


def test_initial_weights_are_those_before_training(tiny_zoo: Path) -> None:
    """He-normal kernels, zero biases, drawn from the recorded seed."""
    for model, entry in enumerate(_configs(tiny_zoo).values()):
        initial = load_model(tiny_zoo / f"input_data/t/model_{model}").initial_weights
        rng = np.random.default_rng(entry["seed"])
        for weight in initial:
            if weight.ndim == 1:
                assert not weight.any()
            else:
                deviation = np.sqrt(2 / np.prod(weight.shape[:-1]))
                expected = rng.normal(0, deviation, weight.shape).astype(np.float32)
                assert np.array_equal(weight, expected)
