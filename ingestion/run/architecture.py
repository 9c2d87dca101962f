"""Which models of a corpus are computed by the same graph, by their `config.json` alone.

Names that Keras gave to layers, and what matters in training only (dropout rates, seeds, momenta),
differ between models of one architecture. Workers stay with models that are alike, because tracing
graphs takes seconds; a wrong answer here costs time and nothing else.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ingestion.corpus import KERAS_CONFIG
from ingestion.run.digests import digest
from pgdl_measures.network.inference import TRAINING_ONLY
from scoring.files import load_json

_NAMES = re.compile("name")


def architecture(folder: Path) -> str:
    """A digest of what is computed; a configuration that cannot be read is like no other."""
    try:
        config = load_json(folder / "config.json")
        return _digest(config, TRAINING_ONLY)
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return str(folder)


def nameless(config: Mapping[str, Any]) -> str:
    """A digest of a parsed `config.json` of which only the names of layers are no part."""
    return _digest(config, _NAMES)


def _digest(config: Mapping[str, Any], ignored: re.Pattern[str]) -> str:
    saved = config.get(KERAS_CONFIG)
    layers = _chain(config, ignored) if saved is None else _model(saved, ignored)
    return digest([layers, config["input_shape"]])


def _chain(config: Mapping[str, Any], ignored: re.Pattern[str]) -> list[Any]:
    """The layers of the competition's format, those that are taken by their numbers."""
    entries = config["model_config"]
    numbers = {entry.get("name", f"layer_{i}"): i for i, entry in enumerate(entries)}
    return [
        {
            **_arguments(entry, ignored),
            "inputs": [numbers.get(name, name) for name in entry.get("inputs", [])],
        }
        for entry in entries
    ]


def _model(saved: Mapping[str, Any], ignored: re.Pattern[str]) -> list[Any]:
    """A Keras configuration; models in it have layers of their own."""
    config = saved["config"]
    entries = config["layers"]
    numbers = {entry["config"]["name"]: i for i, entry in enumerate(entries)}
    layers = [
        [
            entry["class_name"],
            _model(entry, ignored)
            if "layers" in entry["config"]
            else _arguments(entry["config"], ignored),
            _numbered(entry.get("inbound_nodes", []), numbers),
        ]
        for entry in entries
    ]
    return [layers, _numbered(config.get("output_layers", []), numbers)]


def _arguments(config: Mapping[str, Any], ignored: re.Pattern[str]) -> dict[str, Any]:
    """The arguments of a layer, also of layers inside, without those that are ignored."""
    return {
        key: _arguments(value, ignored) if isinstance(value, dict) else value
        for key, value in config.items()
        if not ignored.fullmatch(key)
    }


def _numbered(value: Any, numbers: Mapping[str, int]) -> Any:
    """Calls with the number of a layer in place of its name: [name, call, output]."""
    if isinstance(value, dict):
        return {key: _numbered(item, numbers) for key, item in value.items()}
    if not isinstance(value, list):
        return value
    if len(value) == 3 and isinstance(value[0], str):
        return [numbers.get(value[0], value[0]), *value[1:]]
    return [_numbered(item, numbers) for item in value]
