"""Small references and predictions on disk for the tests of this folder."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any

VALUES = {"width": [64, 128], "depth": [1, 2], "dropout": [0.0, 0.5]}


def configs() -> dict[str, Any]:
    """A complete grid of 8 models, with and without `model_` in the ids, and distinct gaps."""
    models = {}
    for number, cell in enumerate(itertools.product(*VALUES.values())):
        models[f"model_{number}" if number % 2 else str(number)] = {
            "hparams": {
                name: {"possible_values": values, "current_value": value}
                for (name, values), value in zip(VALUES.items(), cell)
            },
            "metrics": {"train_acc": 1.0, "test_acc": 0.9 - 0.01 * ((3 * number) % 8)},
        }
    return models


def write_reference(folder: Path, content: object = None) -> Path:
    """Writes `model_configs.json`; text is written as it is."""
    return _write(folder / "model_configs.json", configs() if content is None else content)


def write_predictions(folder: Path, task: str, content: object = None) -> Path:
    """Writes `<task>.predict`; by default the measure is the model's number."""
    default = {f"model_{number}": float(number) for number in range(8)}
    return _write(folder / f"{task}.predict", default if content is None else content)


def _write(path: Path, content: object) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    return path
