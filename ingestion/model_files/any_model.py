"""A model by its path: a Keras file of the user's, or a `model_<id>` folder of a corpus."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import tensorflow as tf

from ingestion.model_files.custom import load_custom
from ingestion.model_files.keras_files import read_existing, read_existing_config
from ingestion.model_files.model_paths import is_saved_model
from ingestion.model_files.models import load_model, read_config


def read_model(path: Path, custom: Sequence[str] = ()) -> tuple[dict[str, Any], tf.keras.Model]:
    """The configuration of a model, in the form of the corpus, and the model itself.

    `path` is a `.keras` or `.h5` file, the folder of a SavedModel, or a `model_<id>` folder;
    `custom` are the modules that define layers of the user's own. Raises a `CorpusError` where
    there is no whole model, or one that would run code of its own.
    """
    path, own = Path(path), load_custom(custom)
    if _is_corpus_folder(path):
        return read_config(path / "config.json"), load_model(path, own)
    return read_existing(path, own)


def read_architecture(path: Path, custom: Sequence[str] = ()) -> dict[str, Any]:
    """The configuration alone, without reading the weights."""
    path = Path(path)
    if _is_corpus_folder(path):
        return read_config(path / "config.json")
    return read_existing_config(path, load_custom(custom))


def _is_corpus_folder(path: Path) -> bool:
    return path.is_dir() and not is_saved_model(path)
