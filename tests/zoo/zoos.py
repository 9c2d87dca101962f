"""Small zoos for the tests, built through the command."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

from verbs import run_verb

from starting_kit_adapter.cli import zoo as verb

TINY_GRID = {
    "architecture": "vgg",
    "hparams": {"width": [4, 8], "dropout": [0.0, 0.25]},
    "fixed": {"blocks": 1, "dense_units": 32, "learning_rate": 0.01},
    "target": {"accuracy": 0.95},
    "max_epochs": 60,
    "train_examples": 100,
    "test_examples": 80,
}


def write_grid(folder: Path, **changes: Any) -> Path:
    """The tiny grid as a file, with changes."""
    path = folder / "tiny.json"
    path.write_text(json.dumps({**TINY_GRID, **changes}))
    return path


def pgdl_zoo(*arguments: object) -> int:
    """Runs `pgdl zoo …` in this process and returns its exit code."""
    return run_verb(verb, *arguments)


def weight_digests(root: Path) -> dict[str, str]:
    """What is in each weight file of a zoo: name -> hash of its bytes."""
    return {
        str(path.relative_to(root)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(root.glob("input_data/*/model_*/*.hdf5"))
    }
