"""Which models there are at a path: Keras files, SavedModels and model folders of a corpus."""

from __future__ import annotations

import os
from pathlib import Path

from ingestion.corpus import natural_order

KERAS_FILES = (".keras", ".h5", ".hdf5")
_SAVED_MODEL = "saved_model.pb"


def models_at(path: Path) -> list[Path]:
    """The model at a path, or the models in a folder that is none itself; `model_2` before
    `model_10`."""
    if not path.is_dir():
        return [path] if os.path.lexists(path) else []
    if _is_model_folder(path):
        return [path]
    return natural_order(inside for inside in path.iterdir() if _is_model(inside))


def is_saved_model(path: Path) -> bool:
    """Whether a folder is a SavedModel."""
    return (path / _SAVED_MODEL).is_file()


def _is_model(inside: Path) -> bool:
    if inside.name.startswith("."):
        return False
    # A pipe, a link that leads nowhere, a folder in which files are missing: that is said when it
    # is read.
    if not inside.is_dir():
        dangling = inside.is_symlink() and not inside.exists()
        return inside.suffix in KERAS_FILES or (dangling and inside.name.startswith("model_"))
    return _is_model_folder(inside) or inside.name.startswith("model_")


def _is_model_folder(folder: Path) -> bool:
    return is_saved_model(folder) or (folder / "config.json").is_file()
