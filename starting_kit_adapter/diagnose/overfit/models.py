"""The models that are tested: Keras files, SavedModels, `model_<id>` folders; read, never run."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ingestion.corpus import find_corpus
from ingestion.model_files.model_paths import models_at
from ingestion.run.architecture import nameless
from ingestion.zoo.layout import read_json
from pgdl_measures.errors import PgdlError


def find_models(model: Path | None, folder: Path | None) -> dict[str, Path]:
    """The model and all models of a folder, by the part of their paths that tells them apart."""
    found = [] if model is None else [model]
    if folder is not None:
        found += models_at(folder) or _of_corpus(folder)
    if not found:
        raise PgdlError("no model is given: name one, or --models with a folder of several")
    paths = list(dict.fromkeys(path.resolve() for path in found))
    common = os.path.commonpath([path.parent for path in paths])
    return {str(path.relative_to(common)): path for path in paths}


def read_training(path: Path) -> dict[str, Any]:
    """How the model of a folder was trained, by `model_configs.json`: hyperparameters, and the
    augmentation of a zoo. Nothing where there is no such file."""
    task = path.parent
    corpus = task.parent.parent if task.parent.name == "input_data" else task.parent
    for folder in (task, corpus / "reference_data" / task.name):
        if path.is_dir() and (folder / "model_configs.json").is_file():
            reference = folder / "model_configs.json"
            try:
                entries = read_json(reference)
                entry = entries.get(path.name) or entries.get(path.name.partition("_")[2]) or {}
                values = {k: v.get("current_value") for k, v in entry.get("hparams", {}).items()}
                return {**values, **({"augment": entry["augment"]} if "augment" in entry else {})}
            except (AttributeError, TypeError) as error:
                raise PgdlError(f"{reference}: {path.name} has no hyperparameters there") from error
    return {}


def check_one_architecture(configs: Mapping[str, dict[str, Any]]) -> None:
    """Raises unless all models are of one architecture, which is what is tested together."""
    kinds: dict[str, list[str]] = {}
    for name, config in configs.items():
        kinds.setdefault(nameless(config), []).append(name)
    if len(kinds) > 1:
        first = "; ".join(f"{len(names)} like {names[0]}" for names in kinds.values())
        raise PgdlError(
            f"these models have {len(kinds)} architectures ({first}); models that are tested "
            "together are training runs of one (see `pgdl zoo build --repeats`)"
        )


def check_one_training(trainings: Mapping[str, dict[str, Any]]) -> None:
    """Raises if models are known to have been trained differently.

    The training procedure and its hyperparameters, all but the seed, belong to what is tested
    (Werpachowski et al. 2019, footnote 4).
    """
    known = [training for training in trainings.values() if training]
    names = dict.fromkeys(name for training in known for name in training)
    values = {name: list(dict.fromkeys(json.dumps(t.get(name)) for t in known)) for name in names}
    different = [f"{name}: {', '.join(v)}" for name, v in values.items() if len(v) > 1]
    if different:
        raise PgdlError(
            f"these models were trained differently ({'; '.join(different)}); models that are "
            "tested together differ by their seed only (see `pgdl zoo build --repeats`)"
        )


def _of_corpus(folder: Path) -> list[Path]:
    corpus = find_corpus(folder)
    if len(corpus.tasks) > 1:
        names = ", ".join(task.name for task in corpus.tasks)
        raise PgdlError(f"{folder} has several tasks ({names}): give the folder of one")
    (task,) = corpus.tasks
    return [task.model_folder(model) for model in task.model_ids]
