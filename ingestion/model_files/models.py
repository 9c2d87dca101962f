"""A model of the corpus as a Keras model: `config.json` and Keras-2 weight files, nothing else.

In the competition's format layers are a chain, each on the output of the one before it. Ours has
branches as well, for networks with shortcuts: a layer may have a `name`, and `inputs`, the names of
the layers that it takes (`input` is what the network takes). Such a model is a functional one, and
its weights are found by the names of its layers. A model that neither form can describe
has `keras_config` instead of `model_config`: Keras' own configuration, which the module of that
name checks.

A corpus comes from outside, so a file of it must not be able to run code: only the layer classes
listed here, or Keras' own, are built, and only with plain values as arguments. Weights are checked
against the model before the first one is set, so a model is loaded whole or not at all.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import tensorflow as tf

from ingestion.corpus import KERAS_CONFIG, is_chain
from ingestion.errors import CorpusError, check_file, first_line
from ingestion.model_files.custom import Custom
from ingestion.model_files.keras_graph import Graph, build_graph
from ingestion.model_files.keras_names import leaf_layers
from ingestion.model_files.weights import read_weights
from scoring.files import load_json

# fmt: off
LAYERS = frozenset({
    "Activation", "AveragePooling1D", "AveragePooling2D", "AvgPool2D", "BatchNormalization",
    "Conv1D", "Conv2D", "Convolution2D", "Cropping2D", "Dense", "DepthwiseConv2D", "Dropout", "ELU",
    "Flatten", "GaussianDropout", "GaussianNoise", "GlobalAveragePooling1D",
    "GlobalAveragePooling2D", "GlobalAvgPool2D", "GlobalMaxPool2D", "GlobalMaxPooling1D",
    "GlobalMaxPooling2D", "LayerNormalization", "LeakyReLU", "MaxPool2D", "MaxPooling1D",
    "MaxPooling2D", "PReLU", "Permute", "ReLU", "Rescaling", "Reshape", "SeparableConv2D",
    "Softmax", "SpatialDropout2D", "UpSampling2D", "ZeroPadding2D",
})
MERGES = frozenset({"Add", "Average", "Concatenate", "Maximum", "Minimum", "Multiply", "Subtract"})
# fmt: on

_LARGEST_CONFIG = 64 * 2**20  # bytes
_LARGEST = 10**7  # of any argument: a number above it is no size of a layer
INPUT = "input"  # the name of what the network takes

# Defaults of Keras 2 that Keras 3 no longer has.
_KERAS2_DEFAULTS = {
    name: {"pool_size": 2} for name in ("AveragePooling1D", "AveragePooling2D", "AvgPool2D")
}
# Entries that are not arguments of the layer's class: `load_model` itself uses them, or none.
_NOT_ARGUMENTS = ("layer_name", "seed", "input_shape", "batch_input_shape", "inputs")


def load_model(folder: Path, custom: Custom | None = None) -> tf.keras.Model:
    """The trained model of a `model_<id>` folder.

    Where the folder has `weights_init.hdf5`, the model carries `initial_weights`, a list of arrays
    in the order of `get_weights()`, as in the starting kit.
    """
    folder = Path(folder)
    config_path = folder / "config.json"
    config = read_config(config_path)
    model = build_model(config, config_path, custom)
    # Only the layers of the kit's chains stand in one order under every Keras.
    by_name = not is_chain(config)
    initial_path = folder / "weights_init.hdf5"
    if os.path.lexists(initial_path):
        _set_weights(model, initial_path, by_name)
        model.initial_weights = model.get_weights()
    _set_weights(model, folder / "weights.hdf5", by_name)
    return model


def read_config(path: Path) -> dict[str, Any]:
    """A parsed `config.json`, checked to have its two parts."""
    check_file(path, "a model needs its configuration")
    try:
        config = load_json(path, _LARGEST_CONFIG)
    except (OSError, ValueError) as error:
        raise CorpusError(path, f"is not JSON ({error})") from error
    if not isinstance(config, dict) or "input_shape" not in config:
        raise CorpusError(path, "has no `model_config` and `input_shape`")
    if ("model_config" in config) is (KERAS_CONFIG in config):
        raise CorpusError(path, f"has no `model_config`, or both it and `{KERAS_CONFIG}`")
    return config


def build_model(
    config: Mapping[str, Any], path: Path = Path("config.json"), custom: Custom | None = None
) -> tf.keras.Model:
    """A built, untrained model of the configuration; `path` is named in errors."""
    if KERAS_CONFIG in config:
        return build_classifier(config[KERAS_CONFIG], path, custom).model
    layers, shape = config["model_config"], _plain(config["input_shape"])
    if not isinstance(layers, list) or not layers:
        raise CorpusError(path, "has no layers in `model_config`")
    if not isinstance(shape, list) or not all(_is_size(n) for n in shape):
        raise CorpusError(path, f"has the input_shape {shape!r:.80}; expected positive integers")
    try:
        if not is_chain(config):
            return _functional(layers, shape, path)
        model = tf.keras.Sequential([_layer(entry, i, path) for i, entry in enumerate(layers)])
        model.build((None, *shape))
        if not model.built:
            raise ValueError("a layer does not fit the output of the layer before it")
    except CorpusError:
        raise
    except Exception as error:  # whatever Keras says to arguments that do not fit
        raise CorpusError(
            path, f"does not build on inputs of shape {shape} ({first_line(error)})"
        ) from error
    return model


def build_classifier(saved: Any, path: Path, custom: Custom | None = None) -> Graph:
    """The network of a Keras configuration, which must have one input and one output."""
    graph = build_graph(saved, path, custom)
    inputs, outputs = graph.model.inputs, graph.model.outputs
    if len(inputs) != 1 or len(outputs) != 1:
        raise CorpusError(
            path,
            f"has {len(inputs)} inputs and {len(outputs)} outputs; a classifier has one of each: "
            "save tf.keras.Model(input, output) of those with the images and the classes",
        )
    return graph


def _functional(entries: list[Any], shape: list[int], path: Path) -> tf.keras.Model:
    """Layers that name what they take; the last one's output is the network's."""
    x = inputs = tf.keras.Input(shape, name=INPUT)
    outputs = {INPUT: inputs}
    for i, entry in enumerate(entries):
        layer = _layer(entry, i, path, known=LAYERS | MERGES, name=f"layer_{i}")
        if layer.name in outputs:
            raise CorpusError(path, f"layer {i} has the name of an earlier layer, {layer.name!r}")
        if "inputs" in entry:
            taken = entry["inputs"]
            if not isinstance(taken, list) or not taken or not set(map(str, taken)) <= set(outputs):
                known = ", ".join(list(outputs)[-8:])
                raise CorpusError(
                    path, f"layer {i} takes {taken!r}; expected names of layers before it: {known}"
                )
            x = [outputs[name] for name in taken] if len(taken) > 1 else outputs[taken[0]]
        x = outputs[layer.name] = layer(x)
    model = tf.keras.Model(inputs, x)
    used = {layer.name for layer in model.layers}
    unused = [name for name in outputs if name not in used and name != INPUT]
    if unused:
        raise CorpusError(path, f"layers do not lead to the output: {', '.join(unused)}")
    return model


def _layer(
    entry: Any, index: int, path: Path, known: frozenset[str] = LAYERS, **defaults: Any
) -> tf.keras.layers.Layer:
    if not isinstance(entry, dict) or not isinstance(entry.get("layer_name"), str):
        raise CorpusError(path, f"layer {index} has no `layer_name`, found {entry!r:.80}")
    name = entry["layer_name"]
    if name not in known:
        raise CorpusError(
            path, f"layer {index} is a {name!r:.80}, which is not supported: only known layers are"
        )
    arguments = {**defaults, **_KERAS2_DEFAULTS.get(name, {})}
    for key, value in entry.items():
        if key in _NOT_ARGUMENTS:
            continue
        if not _is_plain(value):
            raise CorpusError(
                path,
                f"layer {index} ({name}): {key!s:.40}={value!r:.80} is not a number, text or list",
            )
        # Keras 2 writes the axis of a batch normalization as a list of one.
        value = _plain(value)
        one = key == "axis" and isinstance(value, list) and len(value) == 1
        arguments[key] = value[0] if one else value
    try:
        return getattr(tf.keras.layers, name)(**arguments)
    except Exception as error:  # whatever Keras says to arguments that are not its own
        raise CorpusError(path, f"layer {index} ({name}): {first_line(error)}") from error


def _set_weights(model: tf.keras.Model, path: Path, by_name: bool) -> None:
    layers = leaf_layers(model)
    expected = [(name, [tuple(w.shape) for w in layer.weights]) for name, layer in layers]
    found = read_weights(path, expected, by_name=by_name)
    for (_, layer), arrays in zip(layers, found):
        layer.set_weights(arrays)
        if hasattr(layer, "finalize_state"):  # a normalization computes with what it has then
            layer.finalize_state()


def _is_plain(value: Any) -> bool:
    if isinstance(value, list):
        return all(_is_plain(item) for item in value)
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return abs(value) <= _LARGEST  # which NaN is not
    return value is None or isinstance(value, (bool, str))


def _is_size(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 < value <= _LARGEST


def _plain(value: Any) -> Any:
    """Integers that were written as floats (`256.0`) are integers again, as in the starting kit."""
    if isinstance(value, list):
        return [_plain(item) for item in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value
