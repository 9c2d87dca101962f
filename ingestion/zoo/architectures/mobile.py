"""Networks of depthwise convolutions: MobileNet (Howard et al. 2017), MobileNetV2 (Sandler et al.
2018) and MNasNet-B1 (Tan et al. 2019), for small images.

As is customary for 32x32 images, the stem and the first halving of the published networks keep the
size of the image: a 32x32 image is 4x4 or 2x2 before the pooling. MNasNet's dropout is left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ingestion.zoo.architectures import layers as make
from ingestion.zoo.architectures.layers import Board, Layers

_MOBILENET = (  # features and stride of each block
    *((64, 1), (128, 2), (128, 1), (256, 2), (256, 1), (512, 2)),
    *(5 * ((512, 1),)),
    *((1024, 2), (1024, 1)),
)
# Of each stage: expansion, features, blocks, stride of the first block, kernel.
_MOBILENET_V2 = (
    *((1, 16, 1, 1, 3), (6, 24, 2, 1, 3), (6, 32, 3, 2, 3), (6, 64, 4, 2, 3)),
    *((6, 96, 3, 1, 3), (6, 160, 3, 2, 3), (6, 320, 1, 1, 3)),
)
_MNASNET = (
    *((1, 16, 1, 1, 3), (3, 24, 3, 1, 3), (3, 40, 3, 2, 5), (6, 80, 3, 2, 5)),
    *((6, 96, 2, 1, 3), (6, 192, 4, 2, 5), (6, 320, 1, 1, 3)),
)


def mobilenet(
    shape: Sequence[int], classes: int, *, version: int = 1, width_scale: float = 1.0
) -> Layers:
    """MobileNet, or MobileNetV2 as `version` 2."""
    if version == 2:
        return _inverted(classes, _MOBILENET_V2, width_scale)
    board = Board()
    board.add(*make.normalized(make.widened(32, width_scale), 3), _relu6())
    for filters, stride in _MOBILENET:
        board.add(*make.depthwise(3, stride), _relu6())
        board.add(*make.normalized(make.widened(filters, width_scale), 1), _relu6())
    board.add(make.layer("GlobalAveragePooling2D"), *make.head([], 0.0, classes))
    return board.layers


def mnasnet(shape: Sequence[int], classes: int, *, width_scale: float = 1.0) -> Layers:
    """MNasNet-B1, the one without squeeze and excitation."""
    return _inverted(classes, _MNASNET, width_scale)


def _inverted(
    classes: int, stages: Sequence[tuple[int, int, int, int, int]], width_scale: float
) -> Layers:
    """Inverted residual blocks (Sandler et al. 2018): narrow between blocks, wide inside them."""
    board, features = Board(), make.widened(32, width_scale)
    board.add(*make.normalized(features, 3), _relu6())
    for expansion, published, blocks, first_stride, kernel in stages:
        narrow = make.widened(published, width_scale)
        for block in range(blocks):
            stride, before = first_stride if block == 0 else 1, board.last
            if expansion > 1:
                board.add(*make.normalized(expansion * features, 1), _relu6())
            board.add(*make.depthwise(kernel, stride), _relu6())
            out = board.add(*make.normalized(narrow, 1))
            if stride == 1 and features == narrow:
                board.merge("Add", before, out)
            features = narrow
    board.add(*make.normalized(make.widened(1280, width_scale), 1), _relu6())
    board.add(make.layer("GlobalAveragePooling2D"), *make.head([], 0.0, classes))
    return board.layers


def _relu6() -> dict[str, Any]:
    return make.layer("ReLU", max_value=6.0)
