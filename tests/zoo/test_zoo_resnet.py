"""A zoo of networks with shortcuts goes all the way: built, checked, measured."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
from verbs import run_verb
from zoos import pgdl_zoo, write_grid

from ingestion.model_files.models import load_model
from pgdl_measures import measures
from starting_kit_adapter.cli import check, run

RNG = np.random.default_rng(0)
LABELS = np.arange(96, dtype=np.int32) % 3
IMAGES = (RNG.random((96, 6, 6, 1)) + np.eye(6)[LABELS * 2][:, :, None, None]).astype(np.float32)


def test_networks_with_shortcuts_go_all_the_way(tmp_path: Path) -> None:
    data = tmp_path / "a.npz"
    np.savez(data, x_train=IMAGES, y_train=LABELS, x_test=IMAGES, y_test=LABELS)
    grid = write_grid(
        tmp_path,
        architecture="resnet",
        hparams={"batch_norm": [False, True], "batch_size": [16, 32]},
        fixed={"width": 4, "depth": 8, "learning_rate": 0.01},
        target={"accuracy": 0.9},
    )
    zoo = tmp_path / "zoo"
    build = ("build", "--data", f"npz:{data}", "--grid", grid, "-o", zoo)
    assert pgdl_zoo(*build, "--workers", 1) == 0
    configs = json.loads((zoo / "reference_data/tiny/model_configs.json").read_text())
    for model, entry in configs.items():
        logits = load_model(zoo / f"input_data/tiny/model_{model}").predict(IMAGES, verbose=0)
        assert np.mean(logits.argmax(axis=-1) == LABELS) == entry["metrics"]["train_acc"] >= 0.9
    assert run_verb(check, zoo, "--accuracy") == 0
    assert pgdl_zoo("build", *build[1:]) == 0  # there is nothing left to do

    out = tmp_path / "out"
    options = ("--set", "batches=1", "--set", "batch_size=32", "--workers", 1)
    assert run_verb(run, zoo, "-m", "all", "-o", out, *options) == 0
    (first, *_) = [json.loads(line) for line in (out / "records.jsonl").read_text().splitlines()]
    assert set(first["values"]) == {m.name for m in measures()}
