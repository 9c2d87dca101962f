"""The competition's families of networks, and the Network-in-Network of Dziugaite et al. 2020.

The competition's are described in the organizers' `pgdl/README.md` (google-research repository).
What they leave open - the growth of the widths, the place of pooling in a Network-in-Network - is
our choice; each function says so. They end in a dense layer of logits.
"""

from __future__ import annotations

from collections.abc import Sequence

from ingestion.errors import ZooError
from ingestion.zoo.architectures import layers as make
from ingestion.zoo.architectures.layers import Layers


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
        layers += [
            *make.active(filters, 3, batch_norm),
            *make.active(filters, 3, batch_norm),
            make.pooling(),
        ]
    return [
        *layers,
        make.layer("Flatten"),
        *make.head([dense_units] * dense_layers, dropout, classes),
    ]


def nin(
    shape: Sequence[int],
    classes: int,
    *,
    width: int,
    depth: int,
    dropout: float = 0.0,
    dense: str = "",
    batch_norm: bool = False,
) -> Layers:
    """Network-in-Network: blocks of one 3x3 and two 1x1 convolutions, global average pooling.

    Dropout stands at the end of each block, as published; that all blocks but the last halve the
    image is ours. `dense` (task 7) names dense layers before the logits: "128-128-128".
    Batch normalization comes before the relu of each convolution.
    """
    if depth < 3 or depth % 3:
        raise ZooError(f"a Network-in-Network has depth 3, 6, 9, … (blocks of 3), found {depth}")
    layers: Layers = []
    for block in range(depth // 3):
        for kernel in (3, 1, 1):
            layers += make.active(width, kernel, batch_norm)
        if block < depth // 3 - 1:
            layers.append(make.pooling())
        layers += make.dropout_layers(dropout)
    units = [int(part) for part in dense.split("-")] if dense else []
    return [*layers, make.layer("GlobalAveragePooling2D"), *make.head(units, 0.0, classes)]


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
        layers += make.active(filters, 3, batch_norm)
    return [*layers, make.layer("GlobalAveragePooling2D"), *make.head([], 0.0, classes)]


def strided_nin(shape: Sequence[int], classes: int, *, width: int, depth: int) -> Layers:
    """The fully convolutional Network-in-Network of Dziugaite et al. 2020, C.2.

    `depth` blocks of one 3x3 convolution of stride 2 and two 1x1 convolutions of `width` filters,
    each with batch normalization and relu; then a 1x1 convolution with one filter per class, batch
    normalization, relu and the average over the image. There is no dense layer and no dropout. The
    details are those of the authors' code (github.com/nitarshan/robust-generalization-measures,
    data/generation/models.py).
    """
    if depth < 1:
        raise ZooError(f"a Network-in-Network has one block or more, found depth {depth}")
    layers: Layers = []
    for filters, kernel, stride in [
        *(depth * [(width, 3, 2), *(2 * [(width, 1, 1)])]),
        (classes, 1, 1),
    ]:
        convolution = make.convolution(filters, kernel, strides=stride)
        layers += [convolution, make.batch_normalization(), make.relu()]
    return [*layers, make.layer("GlobalAveragePooling2D")]
