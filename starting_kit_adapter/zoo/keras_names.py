"""Names of layers and weights as Keras 2 gives them, for a model of any Keras."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

NamedWeights = list[tuple[str, list[tuple[str, np.ndarray]]]]


def layer_names(model: Any) -> list[str]:
    """`conv2d`, `conv2d_1`, …: counted from zero in each model."""
    counts: Counter[str] = Counter()
    names = []
    for layer in model.layers:
        kind = re.sub(r"_\d+$", "", layer.name)
        names.append(f"{kind}_{counts[kind]}" if counts[kind] else kind)
        counts[kind] += 1
    return names


def named_weights(model: Any, weights: Sequence[np.ndarray]) -> NamedWeights:
    """Weights in the order of `model.get_weights()`, each under its layer and name (`kernel:0`)."""
    rest = iter(weights)
    return [
        (name, [(_weight_name(weight), next(rest)) for weight in layer.weights])
        for name, layer in zip(layer_names(model), model.layers)
    ]


def _weight_name(weight: Any) -> str:
    return weight.name.split("/")[-1].split(":")[0] + ":0"
