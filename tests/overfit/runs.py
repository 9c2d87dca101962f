"""Tiny images and zoos for the tests of `pgdl overfit`, and the command in this process."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
from verbs import run_verb

from ingestion.datasets.array_forms import make_data
from ingestion.datasets.arrays import Data
from starting_kit_adapter.cli import overfit, zoo

SIDE, CLASSES = 8, 3
GRID = {
    "architecture": "conv",
    "hparams": {"depth": [2]},
    "fixed": {"parameters": 500, "learning_rate": 0.02},
    "target": {"accuracy": 0.9},
    "max_epochs": 3,
    "train_examples": 60,
    "test_examples": 45,
}


def stripes(train: int = 150, test: int = 90) -> Data:
    """Stripes of a direction per class, in noise."""
    rng = np.random.default_rng(0)
    labels = np.arange(train + test) % CLASSES
    rows, columns = np.indices((SIDE, SIDE))
    waves = np.stack([np.sin(rows), np.sin(columns), np.sin(rows + columns)])
    images = waves[labels][..., None] + 0.3 * rng.normal(size=(len(labels), SIDE, SIDE, 1))
    images = images.astype(np.float32)
    return make_data(images[:train], labels[:train], images[train:], labels[train:])


def write_npz(path: Path, data: Data) -> str:
    """The data as a file, and the name of it as a source."""
    np.savez(
        path,
        x_train=data.train.images,
        y_train=data.train.labels,
        x_test=data.test.images,
        y_test=data.test.labels,
    )
    return f"npz:{path}"


def write_grid(folder: Path, **changes: Any) -> Path:
    """The grid as a file, with changes."""
    path = folder / "stripes.json"
    path.write_text(json.dumps({**GRID, **changes}))
    return path


def pgdl_zoo(*arguments: object) -> int:
    """Runs `pgdl zoo …` in this process."""
    return run_verb(zoo, *arguments)


def pgdl_overfit(*arguments: object) -> int:
    """Runs `pgdl overfit …` in this process."""
    return run_verb(overfit, *arguments)
