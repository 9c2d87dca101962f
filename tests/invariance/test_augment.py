"""`pgdl zoo build --augment` and `pgdl study invariance`: networks that learned to be invariant."""

from __future__ import annotations

import json

import numpy as np
import pytest
import tensorflow as tf
from corpora import write_task
from verbs import run_verb

from ingestion.datasets.arrays import Data, Split
from ingestion.errors import ZooError
from ingestion.zoo.augment import (
    Augment,
    augmentation,
    parse_augment,
    with_perturbed_test,
)
from ingestion.zoo.build import Plan
from ingestion.zoo.grid import parse_grid
from pgdl_measures.errors import PgdlError, UnknownNameError
from starting_kit_adapter.cli import zoo
from starting_kit_adapter.studies import invariance

RNG = np.random.default_rng(0)
GRID = {
    "architecture": "vgg",
    "hparams": {"batch_norm": [False, True]},
    "fixed": {"width": 4, "blocks": 1, "dense_units": 16, "learning_rate": 0.01},
    "target": {"accuracy": 0.9},
    "max_epochs": 12,
    "train_examples": 80,
    "test_examples": 80,
}


def data() -> Data:
    """Images of one bright column."""
    images = np.zeros((40, 8, 8, 1), np.float32)
    images[:, :, 4] = 1.0
    split = Split(images, np.arange(40, dtype=np.int32) % 2)
    return Data(split, split)


def test_an_augmentation_is_a_perturbation_with_levels():
    assert parse_augment("rotation") == Augment("rotation", ("none", "partial", "full"))
    assert parse_augment("noise:full,none") == Augment("noise", ("full", "none"))
    every = Augment("rotation", ("none", "partial", "full"))
    assert parse_augment("rotation:none|partial|full") == every
    for text in ("noise:none,partail", "noise:partail", "mine:blur:partail"):
        with pytest.raises(UnknownNameError, match=r"level of augmentation.*did you mean partial"):
            parse_augment(text)
    with pytest.raises(PgdlError, match="there is no module 'no_such_module'"):
        parse_augment("no_such_module:blur")
    with pytest.raises(ZooError, match="has a level twice"):
        parse_augment("noise:full,full")
    with pytest.raises(UnknownNameError, match="did you mean rotation"):
        parse_augment("rotaton")


def test_partial_augmentation_goes_half_as_far_as_full():
    images = data().train.images
    assert augmentation("translation_x", "none", images) is None
    for level, most in (("partial", 2), ("full", 4)):
        change = augmentation("translation_x", level, images)
        assert change is not None
        moved = np.concatenate([change(tf.constant(images), tf.constant([0, i])) for i in range(9)])
        columns = set(np.argmax(moved[:, 0, :, 0], axis=1)[moved[:, 0, :, 0].any(axis=1)])
        assert columns <= set(range(4 - most, min(8, 5 + most))) and 4 - most in columns


def test_only_the_test_images_are_stored_perturbed_and_always_in_the_same_way():
    first, again, other = (with_perturbed_test(data(), "rotation", seed) for seed in (0, 0, 1))
    assert np.array_equal(first.train.images, data().train.images)
    assert not np.array_equal(first.test.images, data().test.images)
    assert first.fingerprint() == again.fingerprint() != other.fingerprint()


def test_the_networks_of_a_cell_differ_in_augmentation_alone():
    plan = Plan(
        "t", {"d": ""}, {"d": data()}, parse_grid(GRID, "grid"), augment=parse_augment("rotation")
    )
    jobs = sorted(plan.jobs, key=lambda job: job.model)
    assert [job.model for job in jobs] == list(range(6))
    assert [job.augment["level"] for job in jobs[:3]] == ["none", "partial", "full"]
    assert len({job.seed for job in jobs[:3]}) == 1 and jobs[3].seed != jobs[0].seed
    assert jobs[0].hparams == jobs[2].hparams == {"batch_norm": False}
    kinds = [layer["layer_name"] for layer in jobs[3].config["model_config"]]
    assert kinds[:3] == ["Conv2D", "BatchNormalization", "Activation"]


def test_an_augmented_zoo_is_built_and_studied(tmp_path, capsys):
    (tmp_path / "tiny.json").write_text(json.dumps(GRID))
    build = ("build", "--data", "digits", "--grid", tmp_path / "tiny.json", "--workers", 1)
    root = tmp_path / "zoo"
    assert run_verb(zoo, *build, "--augment", "translation_x:none,full", "-o", root) == 0
    path = root / "reference_data" / "translation_x" / "model_configs.json"
    entries = json.loads(path.read_text())
    assert entries["1"]["augment"] == {"perturbation": "translation_x", "level": "full"}
    assert "augment" not in entries["1"]["hparams"]

    out = tmp_path / "out"
    arguments = (root, "-o", out, "--threshold", 0.0, "--batches", 3, "--workers", 1)
    assert run_verb(invariance, *arguments) == 0
    shown = capsys.readouterr().out
    assert "translation_x (translation_x), n = 4: 2 none, 2 full; 1 of 3 batches" in shown
    table = json.loads((out / "invariance" / "table.json").read_text())
    (task,) = table["tasks"]
    assert task["batches"] == 1
    assert set(task["measures"]) == {"gi", "mean_accuracy", "augmented_accuracy"}
    assert (out / "invariance" / "translation_x.svg").is_file()

    with pytest.raises(PgdlError, match=r"no model with a training accuracy of 2 .* --threshold"):
        run_verb(invariance, *arguments[:3], "--threshold", 2, *arguments[5:])


def test_a_corpus_without_augmentation_is_refused(tmp_path):
    folder = write_task(tmp_path / "plain", count=20)
    with pytest.raises(PgdlError, match="was not trained with one augmentation: found None"):
        run_verb(invariance, folder, "-o", tmp_path / "out")
