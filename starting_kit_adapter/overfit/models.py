"""The models that are tested: Keras files and `model_<id>` folders, read as data (never run)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import tensorflow as tf

from ingestion.corpus import find_corpus
from ingestion.models import load_model, read_config
from pgdl_measures.errors import PgdlError
from starting_kit_adapter.zoo.existing import read_existing

_FILES = (".keras", ".h5", ".hdf5")


def find_models(model: Path | None, folder: Path | None) -> dict[str, Path]:
    """The model and all models of a folder, by name."""
    paths = [] if model is None else [model]
    if folder is not None:
        files = sorted(p for p in folder.glob("*") if p.suffix in _FILES) if folder.is_dir() else []
        paths += files or _of_corpus(folder)
    if not paths:
        raise PgdlError("no model is given: name one, or --models with a folder of several")
    return {path.name: path for path in dict.fromkeys(path.resolve() for path in paths)}


def read_model(path: Path) -> tuple[dict[str, Any], tf.keras.Model]:
    """The configuration and the model of a Keras file or a model folder."""
    if path.is_dir():
        return read_config(path / "config.json"), load_model(path)
    return read_existing(path)


def check_one_architecture(configs: dict[str, dict[str, Any]]) -> None:
    """Raises unless all models are runs of one architecture, which is what is tested together."""
    kinds: dict[str, list[str]] = {}
    for name, config in configs.items():
        kinds.setdefault(json.dumps(config, sort_keys=True), []).append(name)
    if len(kinds) > 1:
        first = "; ".join(f"{len(names)} like {names[0]}" for names in kinds.values())
        raise PgdlError(
            f"these models have {len(kinds)} architectures ({first}); models that are tested "
            "together are training runs of one (see `pgdl zoo build --repeats`)"
        )


def _of_corpus(folder: Path) -> list[Path]:
    corpus = find_corpus(folder)
    if len(corpus.tasks) > 1:
        names = ", ".join(task.name for task in corpus.tasks)
        raise PgdlError(f"{folder} has several tasks ({names}): give the folder of one")
    (task,) = corpus.tasks
    return [task.model_folder(model) for model in task.model_ids]
