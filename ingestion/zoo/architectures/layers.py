"""Entries of a `model_config`, one by one and as networks with branches."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

Layers = list[dict[str, Any]]


def layer(layer_name: str, **arguments: Any) -> dict[str, Any]:
    """One entry: the class of the layer and its arguments."""
    return {"layer_name": layer_name, **arguments}


def convolution(filters: int, kernel: int, **arguments: Any) -> dict[str, Any]:
    """A convolution that keeps the size of the image, or divides it by its `strides`."""
    return layer("Conv2D", filters=filters, kernel_size=kernel, padding="same", **arguments)


def unbiased(filters: int, kernel: int, **arguments: Any) -> dict[str, Any]:
    """A convolution without a bias: the batch normalization after it has one."""
    return convolution(filters, kernel, use_bias=False, **arguments)


def normalized(filters: int, kernel: int, **arguments: Any) -> Layers:
    """A convolution and its batch normalization."""
    return [unbiased(filters, kernel, **arguments), batch_normalization()]


def depthwise(kernel: int, strides: int) -> Layers:
    """A convolution of each channel by itself and its batch normalization."""
    arguments = {"kernel_size": kernel, "strides": strides, "padding": "same", "use_bias": False}
    return [layer("DepthwiseConv2D", **arguments), batch_normalization()]


def active(filters: int, kernel: int, batch_norm: bool) -> Layers:
    """A convolution and its relu, with batch normalization between them or not."""
    if not batch_norm:
        return [convolution(filters, kernel, activation="relu")]
    return [convolution(filters, kernel), batch_normalization(), relu()]


def relu() -> dict[str, Any]:
    return layer("Activation", activation="relu")


def batch_normalization() -> dict[str, Any]:
    """With the moving averages of PyTorch (0.9), in which the papers trained their networks: the
    0.99 of Keras is too slow for the few hundred steps of a small zoo."""
    return layer("BatchNormalization", momentum=0.9)


def pooling() -> dict[str, Any]:
    """2x2 max-pooling; "same", so that 8x8 images have any depth: one pixel stays one."""
    return layer("MaxPooling2D", pool_size=2, padding="same")


def dropout_layers(rate: float) -> Layers:
    """One layer of dropout, or none where its rate is 0."""
    return [layer("Dropout", rate=rate)] if rate else []


def head(units: Sequence[int], dropout: float, classes: int) -> Layers:
    """Hidden dense layers with dropout after each, then the logits."""
    layers: Layers = []
    for n in units:
        layers += [layer("Dense", units=n, activation="relu"), *dropout_layers(dropout)]
    return [*layers, layer("Dense", units=classes)]


def widened(filters: int, width_scale: float) -> int:
    """A published width, scaled; at least 1."""
    return max(1, round(filters * width_scale))


class Board:
    """A network with branches as it grows: a layer takes the last one, or those named `after`."""

    def __init__(self) -> None:
        self.layers: Layers = []
        self.last = "input"

    def add(self, *entries: dict[str, Any], after: str | None = None, name: str = "") -> str:
        """Appends layers, one after the other, and returns the name of the last of them."""
        for i, entry in enumerate(entries):
            unique = f"{entry['layer_name'].lower()}_{len(self.layers)}"
            new = name if name and i == len(entries) - 1 else unique
            before = after if after is not None and i == 0 else self.last
            self.layers.append({**entry, "name": new, "inputs": [before]})
            self.last = new
        return self.last

    def merge(self, layer_name: str, *names: str, name: str = "") -> str:
        """Appends a layer that takes several others."""
        new = name or f"{layer_name.lower()}_{len(self.layers)}"
        self.layers.append(layer(layer_name, name=new, inputs=list(names)))
        self.last = new
        return new
