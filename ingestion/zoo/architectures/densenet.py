"""Densely connected networks with bottlenecks and compression: DenseNet-BC (Huang et al. 2017)."""

from __future__ import annotations

from collections.abc import Sequence

from ingestion.errors import ZooError
from ingestion.zoo.architectures import layers as make
from ingestion.zoo.architectures.layers import Board, Layers

_BLOCKS = {121: (6, 12, 24, 16), 169: (6, 12, 32, 32), 201: (6, 12, 48, 32)}


def densenet(
    shape: Sequence[int],
    classes: int,
    *,
    depth: int,
    growth: int | None = None,
    width_scale: float = 1.0,
) -> Layers:
    """A DenseNet-BC of a published depth; `growth` is the number of features that a layer adds.

    Depths 121, 169 and 201 have the four blocks of the networks for ImageNet and grow by 32, with a
    3x3 stem of stride 1 for small images. Depths 6n + 4 (100) have three blocks of n layers and
    grow by 12 (their Section 3).
    """
    if depth not in _BLOCKS and (depth < 10 or depth % 6 != 4):
        raise ZooError(
            f"a DenseNet has depth 121, 169, 201 or 6n + 4 (10, 16, …, 100), found {depth}"
        )
    blocks = _BLOCKS.get(depth, 3 * ((depth - 4) // 6,))
    grown = make.widened(growth or (32 if depth in _BLOCKS else 12), width_scale)
    board, features = Board(), 2 * grown
    board.add(make.unbiased(features, 3), name="stem")
    for number, count in enumerate(blocks):
        for _ in range(count):
            before = board.last
            board.add(make.batch_normalization(), make.relu(), make.unbiased(4 * grown, 1))
            new = board.add(make.batch_normalization(), make.relu(), make.unbiased(grown, 3))
            board.merge("Concatenate", before, new)
            features += grown
        if number < len(blocks) - 1:
            features //= 2
            board.add(
                make.batch_normalization(),
                make.relu(),
                make.unbiased(features, 1),
                make.layer("AveragePooling2D", pool_size=2, padding="same"),
                name=f"transition{number + 1}",
            )
    board.add(make.batch_normalization(), make.relu(), make.layer("GlobalAveragePooling2D"))
    board.add(*make.head([], 0.0, classes))
    return board.layers
