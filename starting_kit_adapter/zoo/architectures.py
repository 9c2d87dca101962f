"""Families of networks as the `model_config` of a `config.json`: the competition's, and ResNets.

The competition's are described in the organizers' `pgdl/README.md` (google-research repository).
What they leave open - the growth of the widths, the place of pooling in a Network-in-Network - is
ours and said at each function. Every network ends in a dense layer of logits.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from typing import Any, Callable

from pgdl_measures.errors import UnknownNameError
from starting_kit_adapter.zoo.errors import ZooError

Layers = list[dict[str, Any]]


def vgg(
    shape: Sequence[int],
    classes: int,
    *,
    width: int,
    blocks: int,
    dense_layers: int = 1,
    dense_units: int = 128,
    dropout: float = 0.0,
    batch_norm: bool = False,
) -> Layers:
    """[conv-relu-conv-relu-maxpool] x `blocks`, then dense layers with dropout after each.

    `width` is the number of filters of the last convolution; each block before it has half as many.
    Batch normalization comes before the relu of each convolution.
    """
    layers: Layers = []
    for block in range(blocks):
        filters = max(1, width >> (blocks - 1 - block))
        layers += [*_normalized(filters, batch_norm), *_normalized(filters, batch_norm), _pool()]
    return [*layers, _layer("Flatten"), *_head([dense_units] * dense_layers, dropout, classes)]


def nin(
    shape: Sequence[int],
    classes: int,
    *,
    width: int,
    depth: int,
    dropout: float = 0.0,
    dense: str = "",
) -> Layers:
    """Network-in-Network: blocks of one 3x3 and two 1x1 convolutions, global average pooling.

    Dropout stands at the end of each block, as published; that all blocks but the last halve the
    image is ours. `dense` (task 7) names dense layers before the logits: "128-128-128".
    """
    if depth < 3 or depth % 3:
        raise ZooError(f"a Network-in-Network has depth 3, 6, 9, … (blocks of 3), found {depth}")
    layers: Layers = []
    for block in range(depth // 3):
        layers += [_conv(width, 3), _conv(width, 1), _conv(width, 1)]
        if block < depth // 3 - 1:
            layers.append(_pool())
        layers += _dropout(dropout)
    units = [int(part) for part in dense.split("-")] if dense else []
    return [*layers, _layer("GlobalAveragePooling2D"), *_head(units, 0.0, classes)]


def conv(
    shape: Sequence[int],
    classes: int,
    *,
    parameters: int,
    depth: int,
    reversed: bool = False,
    batch_norm: bool = False,
) -> Layers:
    """Fully convolutional without downsampling, global average pooling at the end.

    The filters double every two layers, or halve if `reversed`; the first width is the largest with
    which the network has at most `parameters` weights. Batch normalization comes before the relu.
    """
    growth = [2 ** (i // 2) for i in range(depth)]
    if reversed:
        growth.reverse()

    def size(base: int) -> int:
        filters = [shape[-1]] + [base * g for g in growth]
        kernels = sum(9 * a * b + b for a, b in zip(filters, filters[1:]))
        return kernels + filters[-1] * classes + classes + 4 * batch_norm * sum(filters[1:])

    base = 1
    while size(base + 1) <= parameters:
        base += 1
    layers: Layers = []
    for filters in (base * g for g in growth):
        layers += _normalized(filters, batch_norm)
    return [*layers, _layer("GlobalAveragePooling2D"), *_head([], 0.0, classes)]


def resnet(
    shape: Sequence[int], classes: int, *, width: int, depth: int, batch_norm: bool = True
) -> Layers:
    """The residual networks for small images of He et al. (2016), Section 4.2, of 6n + 2 layers.

    A convolution, three stages of n blocks, global average pooling. A block adds its input to the
    output of two 3x3 convolutions. Stages after the first have twice the features and half the
    image; where a block changes these, a 1x1 convolution brings its input to the same shape.
    """
    if depth < 8 or depth % 6 != 2:
        raise ZooError(f"a ResNet has depth 8, 14, 20, … (6n + 2), found {depth}")
    layers = [*_normalized(width, batch_norm)]
    layers[-1]["name"] = "stem"
    before = "stem"
    for block in range(depth // 2 - 1):
        stage, place = divmod(block, depth // 6)
        features, stride = width << stage, 2 if stage and not place else 1
        name = f"block{block + 1}"
        first, *rest = _normalized(features, batch_norm, strides=stride)
        branch = [{**first, "inputs": [before]}, *rest, _linear(features, 3)]
        branch += [_layer("BatchNormalization")] if batch_norm else []
        branch[-1]["name"] = f"{name}_branch"
        if stride > 1:
            shortcut = {"name": f"{name}_shortcut", "inputs": [before]}
            branch.append(_linear(features, 1, strides=stride, **shortcut))
            before = f"{name}_shortcut"
        layers += [*branch, _layer("Add", inputs=[f"{name}_branch", before])]
        layers.append(_layer("Activation", activation="relu", name=name))
        before = name
    return [*layers, _layer("GlobalAveragePooling2D"), *_head([], 0.0, classes)]


ARCHITECTURES: Mapping[str, Callable[..., Layers]] = {
    "vgg": vgg,
    "nin": nin,
    "conv": conv,
    "resnet": resnet,
}


def architecture(name: str) -> Callable[..., Layers]:
    """The family of that name."""
    if name not in ARCHITECTURES:
        raise UnknownNameError("architecture", name, ARCHITECTURES)
    return ARCHITECTURES[name]


def hyperparameters(name: str) -> dict[str, bool]:
    """The hyperparameters of a family, and whether each must be given."""
    parameters = inspect.signature(architecture(name)).parameters.values()
    return {
        p.name: p.default is p.empty for p in parameters if p.kind is inspect.Parameter.KEYWORD_ONLY
    }


def _layer(layer_name: str, **arguments: Any) -> dict[str, Any]:
    return {"layer_name": layer_name, **arguments}


def _linear(filters: int, kernel: int, **arguments: Any) -> dict[str, Any]:
    return _layer("Conv2D", filters=filters, kernel_size=kernel, padding="same", **arguments)


def _conv(filters: int, kernel: int, **arguments: Any) -> dict[str, Any]:
    return _linear(filters, kernel, activation="relu", **arguments)


def _normalized(filters: int, batch_norm: bool, **arguments: Any) -> Layers:
    """A 3x3 convolution and its relu, with batch normalization between them or not."""
    if not batch_norm:
        return [_conv(filters, 3, **arguments)]
    return [
        _linear(filters, 3, **arguments),
        _layer("BatchNormalization"),
        _layer("Activation", activation="relu"),
    ]


def _pool() -> dict[str, Any]:
    # "same", so that an image of one pixel stays one: 8x8 digits survive any depth.
    return _layer("MaxPooling2D", pool_size=2, padding="same")


def _dropout(rate: float) -> Layers:
    return [_layer("Dropout", rate=rate)] if rate else []


def _head(units: Sequence[int], dropout: float, classes: int) -> Layers:
    layers: Layers = []
    for n in units:
        layers += [_layer("Dense", units=n, activation="relu"), *_dropout(dropout)]
    return [*layers, _layer("Dense", units=classes)]
