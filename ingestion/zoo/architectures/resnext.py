"""Residual networks of grouped convolutions: ResNeXt (Xie et al. 2017), for small images."""

from __future__ import annotations

from collections.abc import Sequence

from ingestion.errors import ZooError
from ingestion.zoo.architectures import layers as make
from ingestion.zoo.architectures.layers import Board, Layers

_STAGES = {29: (3, 3, 3), 50: (3, 4, 6, 3), 101: (3, 4, 23, 3)}  # blocks per stage


def resnext(
    shape: Sequence[int],
    classes: int,
    *,
    depth: int,
    groups: int,
    group_width: int,
    width_scale: float = 1.0,
) -> Layers:
    """ResNeXt-d, C x kd: bottlenecks whose 3x3 convolution has C groups of k features.

    Depth 29 has the three stages of the networks for CIFAR-10 (their Section 5.3), depths 50 and
    101 the four of those for ImageNet (Table 1), here with a 3x3 stem of stride 1. Each later stage
    has twice the features and half the image. A smaller `width_scale` makes fewer groups.
    """
    if depth not in _STAGES:
        raise ZooError(f"a ResNeXt has depth 29, 50 or 101, found {depth}")
    groups = make.widened(groups, width_scale)
    features = make.widened(64, width_scale)
    board = Board()
    board.add(*make.normalized(features, 3), make.relu(), name="stem")
    for stage, blocks in enumerate(_STAGES[depth]):
        inner, wide = (groups * group_width) << stage, make.widened(256, width_scale) << stage
        for place in range(blocks):
            stride = 2 if stage and not place else 1
            before = board.last
            out = board.add(
                *make.normalized(inner, 1),
                make.relu(),
                *make.normalized(inner, 3, groups=groups, strides=stride),
                make.relu(),
                *make.normalized(wide, 1),
                after=before,
            )
            if stride > 1 or features != wide:
                before = board.add(*make.normalized(wide, 1, strides=stride), after=before)
            board.merge("Add", out, before)
            board.add(make.relu(), name=f"stage{stage + 1}_block{place + 1}")
            features = wide
    board.add(make.layer("GlobalAveragePooling2D"), *make.head([], 0.0, classes))
    return board.layers
