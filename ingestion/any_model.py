"""A model by its path: a Keras file of the user's, or a `model_<id>` folder of a corpus."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import tensorflow as tf

from ingestion.keras_files import read_existing, read_existing_config
from ingestion.models import load_model, read_config


def read_model(path: Path) -> tuple[dict[str, Any], tf.keras.Model]:
    """The configuration of a model, in the form of the corpus, and the model itself."""
    if path.is_dir():
        return read_config(path / "config.json"), load_model(path)
    return read_existing(path)


def read_architecture(path: Path) -> dict[str, Any]:
    """The configuration alone, without reading the weights."""
    return read_config(path / "config.json") if path.is_dir() else read_existing_config(path)
