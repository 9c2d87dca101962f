"""Keras' configuration of a plain chain in the competition's format, where that has one."""

from __future__ import annotations

import inspect
import re
from collections.abc import Mapping
from typing import Any

import tensorflow as tf

from ingestion.model_files.models import LAYERS

_IGNORED = re.compile(r"name|trainable|dtype|noise_shape|batch_(input_)?shape")


def kit_config(checked: Mapping[str, Any], shape: list[Any]) -> dict[str, Any] | None:
    """The `config.json` of a checked configuration; None where the format has no form for it."""
    config = checked["config"]
    entries = [e for e in config["layers"] if e["class_name"] != "InputLayer"]
    if not entries or not all(map(_is_plain, entries)) or None in shape:
        return None
    inputs = [e for e in config["layers"] if e["class_name"] == "InputLayer"]
    if any(e["config"].get("dtype", "float32") != "float32" for e in inputs):
        return None
    if checked["class_name"] == "Functional" and not _is_chain(config, entries):
        return None
    layers = [
        {"layer_name": e["class_name"], **_arguments(e["class_name"], e["config"])} for e in entries
    ]
    return {"model_config": layers, "input_shape": shape}


def _is_plain(entry: Mapping[str, Any]) -> bool:
    config = entry["config"]
    return (
        entry["class_name"] in LAYERS
        and entry["module"] == "keras.layers"
        and config.get("dtype", "float32") == "float32"
        and not any(isinstance(value, dict) for value in config.values())
    )


def _is_chain(config: Mapping[str, Any], entries: list[Any]) -> bool:
    """Whether each layer takes the output of the one before it, once, and nothing else."""
    before = [end[0] for end in config["input_layers"]]
    for entry in entries:
        if len(entry["inbound_nodes"]) != 1 or len(before) != 1:
            return False
        args = entry["inbound_nodes"][0]["args"]
        tensors = [a["config"]["keras_history"] for a in args if isinstance(a, dict)]
        if len(args) != 1 or tensors != [[before[0], 0, 0]]:
            return False
        before = [entry["config"]["name"]]
    return [end[0] for end in config["output_layers"]] == before


def _arguments(kind: str, saved: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments of a layer that differ from its defaults."""
    defaults = {
        name: parameter.default
        for name, parameter in inspect.signature(getattr(tf.keras.layers, kind)).parameters.items()
    }
    return {
        name: value
        for name, value in saved.items()
        if value is not None
        and not _IGNORED.fullmatch(name)
        and (name, value) != ("data_format", "channels_last")
        and value != defaults.get(name, inspect.Parameter.empty)
    }
