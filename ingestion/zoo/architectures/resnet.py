"""Residual networks for small images: He et al. 2016, Zagoruyko and Komodakis 2016.

Convolutions that batch normalization follows have no bias. A shortcut is the identity where a block
keeps the shape, otherwise a 1x1 convolution (and batch normalization, in `resnet`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ingestion.errors import ZooError
from ingestion.zoo.architectures import layers as make
from ingestion.zoo.architectures.layers import Board, Layers

_STAGES = {  # blocks per stage (He et al. 2016, Table 1)
    18: (2, 2, 2, 2),
    34: (3, 4, 6, 3),
    50: (3, 4, 6, 3),
    101: (3, 4, 23, 3),
    152: (3, 8, 36, 3),
}


def resnet(
    shape: Sequence[int],
    classes: int,
    *,
    depth: int,
    width: int | None = None,
    batch_norm: bool = True,
    width_scale: float = 1.0,
) -> Layers:
    """A residual network of a published depth: a convolution, stages of blocks, average pooling.

    Depths 18 and 34 have four stages of blocks of two 3x3 convolutions, depths 50, 101 and 152 four
    stages of bottlenecks (1x1, 3x3, 1x1; He et al. 2016, Table 1), here with a 3x3 stem of stride 1
    as is customary for CIFAR-10. Depths 8, 14, 20, … (6n + 2) have three stages of n blocks of two
    convolutions (Section 4.2). `width` is the number of features of the first stage, 64 and 16 as
    published; each later stage has twice as many and half the image.
    """
    if depth not in _STAGES and (depth < 8 or depth % 6 != 2):
        raise ZooError(
            f"a ResNet has depth 18, 34, 50, 101, 152 or 6n + 2 (8, 14, 20, …), found {depth}"
        )
    stages = _STAGES.get(depth, 3 * (depth // 6,))
    published = width or (64 if depth in _STAGES else 16)
    first = make.widened(published, width_scale)
    expansion = 4 if depth in _STAGES and depth >= 50 else 1
    board = Board()
    board.add(*_normalized(first, 3, batch_norm), make.relu(), name="stem")
    features, number = first, 0
    for stage, blocks in enumerate(stages):
        for place in range(blocks):
            number += 1
            stride = 2 if stage and not place else 1
            inner = first << stage
            _block(board, f"block{number}", inner, expansion, stride, features, batch_norm)
            features = inner * expansion
    board.add(make.layer("GlobalAveragePooling2D"), *make.head([], 0.0, classes))
    return board.layers


def _block(
    board: Board,
    name: str,
    inner: int,
    expansion: int,
    stride: int,
    features: int,
    batch_norm: bool,
) -> None:
    before = board.last
    if expansion == 1:
        branch = [
            *_normalized(inner, 3, batch_norm, strides=stride),
            make.relu(),
            *_normalized(inner, 3, batch_norm),
        ]
    else:
        branch = [
            *_normalized(inner, 1, batch_norm),
            make.relu(),
            *_normalized(inner, 3, batch_norm, strides=stride),
            make.relu(),
            *_normalized(expansion * inner, 1, batch_norm),
        ]
    out = board.add(*branch, after=before, name=f"{name}_branch")
    if stride > 1 or features != expansion * inner:
        shortcut = _normalized(expansion * inner, 1, batch_norm, strides=stride)
        before = board.add(*shortcut, after=before, name=f"{name}_shortcut")
    board.merge("Add", out, before)
    board.add(make.relu(), name=name)


def wide_resnet(
    shape: Sequence[int],
    classes: int,
    *,
    depth: int,
    factor: int,
    dropout: float = 0.0,
    width_scale: float = 1.0,
) -> Layers:
    """WideResNet-d-k: three stages of n pre-activation blocks of 16k, 32k and 64k features.

    `depth` is 6n + 4, counting the three 1x1 shortcuts (WideResNet-28-10), or 6n + 2 without them
    (the WideResNet-26-10 of Wu et al. 2021: the same network). Dropout stands between the two
    convolutions of a block.
    """
    if depth < 8 or depth % 6 not in (2, 4):
        raise ZooError(f"a WideResNet has depth 6n + 4 (10, 16, 22, 28, …), found {depth}")
    blocks = (depth - 2) // 6
    board = Board()
    features = make.widened(16, width_scale)
    board.add(make.unbiased(features, 3), name="stem")
    for block in range(3 * blocks):
        stage, place = divmod(block, blocks)
        name, stride = f"block{block + 1}", 2 if stage and not place else 1
        wide = make.widened((16 << stage) * factor, width_scale)
        before = board.last
        active = board.add(make.batch_normalization(), make.relu(), name=f"{name}_in")
        out = board.add(
            make.unbiased(wide, 3, strides=stride),
            make.batch_normalization(),
            make.relu(),
            *make.dropout_layers(dropout),
            make.unbiased(wide, 3),
            name=f"{name}_branch",
        )
        if stride > 1 or features != wide:
            shortcut = make.unbiased(wide, 1, strides=stride)
            before = board.add(shortcut, after=active, name=f"{name}_shortcut")
        board.merge("Add", out, before, name=name)
        features = wide
    board.add(make.batch_normalization(), make.relu(), make.layer("GlobalAveragePooling2D"))
    board.add(*make.head([], 0.0, classes))
    return board.layers


def _normalized(filters: int, kernel: int, batch_norm: bool, **arguments: Any) -> Layers:
    if batch_norm:
        return make.normalized(filters, kernel, **arguments)
    return [make.convolution(filters, kernel, **arguments)]
