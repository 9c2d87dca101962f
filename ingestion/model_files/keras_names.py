"""Names of layers and weights in the corpus' files, for a model of any Keras."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ingestion.corpus import KERAS_CONFIG

NamedWeights = list[tuple[str, list[tuple[str, np.ndarray]]]]


def layer_names(model: Any) -> list[str]:
    """`conv2d`, `conv2d_1`, …: counted from zero in each model. Layers of a model with branches are
    known by the names that its configuration gives them."""
    import tensorflow as tf

    if not isinstance(model, tf.keras.Sequential):
        return [layer.name for layer in model.layers]
    return counted([re.sub(r"_\d+$", "", layer.name) for layer in model.layers])


def safe_name(layer: str) -> str:
    """The name of a layer without slashes, which Keras 3 refuses; Keras 2 has `conv1/conv`."""
    return layer.replace("/", "_")


def counted(kinds: Sequence[str]) -> list[str]:
    """Each kind with its number, from the second of it on."""
    counts: Counter[str] = Counter()
    names = []
    for kind in kinds:
        names.append(f"{kind}_{counts[kind]}" if counts[kind] else kind)
        counts[kind] += 1
    return names


def snake_case(name: str) -> str:
    """A class as Keras names its layers: `GlobalAveragePooling2D` is `global_average_pooling2d`."""
    words = re.sub(r"(.)([A-Z][a-z]+)", r"\1_\2", name)
    return re.sub(r"([a-z])([A-Z])", r"\1_\2", words).lower()


def named_weights(model: Any, weights: Sequence[np.ndarray]) -> NamedWeights:
    """Weights in the order of `model.get_weights()`, each under its layer and name (`kernel:0`)."""
    rest = iter(weights)
    return [
        (name, [(f"{last_name(weight)}:0", next(rest)) for weight in layer.weights])
        for name, layer in zip(layer_names(model), model.layers)
    ]


def leaf_layers(model: Any) -> list[tuple[str, Any]]:
    """The layers with weights of a model and of the models in it, once each, by their names from
    the outermost on: `base/conv1`."""
    found: dict[int, tuple[str, Any]] = {}
    for layer in model.layers:
        if is_graph(layer):
            for name, leaf in leaf_layers(layer):
                found.setdefault(id(leaf), (f"{layer.name}/{name}", leaf))
        elif layer.weights:
            found.setdefault(id(layer), (layer.name, layer))
    return list(found.values())


def leaf_weights(model: Any) -> NamedWeights:
    """The weights of the model by leaf layer; names that several of a layer have are numbered."""
    return [
        (name, list(zip(_numbered(layer.weights), layer.get_weights())))
        for name, layer in leaf_layers(model)
    ]


def corpus_weights(model: Any, config: Mapping[str, Any]) -> NamedWeights:
    """The weights of a model as a corpus has them, by its configuration."""
    if KERAS_CONFIG in config:
        return leaf_weights(model)
    return named_weights(model, model.get_weights())


def is_graph(layer: Any) -> bool:
    """Whether a layer is a model whose layers are known, not a model class of the user's."""
    import tensorflow as tf

    return isinstance(layer, tf.keras.Sequential) or type(layer).__name__ == "Functional"


def last_name(weight: Any) -> str:
    """`kernel` of `conv2d/kernel:0`."""
    return weight.name.split("/")[-1].split(":")[0]


def _numbered(weights: Sequence[Any]) -> list[str]:
    return [f"{name}:0" for name in counted([last_name(weight) for weight in weights])]
