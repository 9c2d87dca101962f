"""ShuffleNetV2 (Ma et al. 2018) for small images: half of the channels pass a block, then all mix.

As is customary for 32x32 images, the stem has stride 1 and no pooling: a 32x32 image is 4x4 before
the last pooling. Splitting and shuffling channels are written with layers of Keras that every
reader of a corpus knows: the channels become rows, which can be cropped, or are folded in two.
"""

from __future__ import annotations

from collections.abc import Sequence

from ingestion.zoo.architectures import layers as make
from ingestion.zoo.architectures.layers import Board, Layers

_STAGES = ((116, 4), (232, 8), (464, 4))  # features and blocks (their Table 5, 1x)


def shufflenet_v2(shape: Sequence[int], classes: int, *, width_scale: float = 1.0) -> Layers:
    """ShuffleNetV2 of the width that is called 1x, or scaled."""
    board, (height, width) = Board(), shape[:2]
    board.add(*make.normalized(make.widened(24, width_scale), 3), make.relu(), name="stem")
    for published, blocks in _STAGES:
        half = make.widened(published // 2, width_scale)
        height, width = -(-height // 2), -(-width // 2)
        for block in range(blocks):
            before = board.last
            if block == 0:  # both branches see all channels and halve the image
                one = board.add(
                    *make.depthwise(3, 2), *make.normalized(half, 1), make.relu(), after=before
                )
                two = _branch(board, half, 2, before)
            else:
                one = _half(board, half, 0, before)
                two = _branch(board, half, 1, _half(board, half, 1, before))
            board.merge("Concatenate", one, two)
            board.add(
                make.layer("Reshape", target_shape=[height, width, 2, half]),
                make.layer("Permute", dims=[1, 2, 4, 3]),
                make.layer("Reshape", target_shape=[height, width, 2 * half]),
            )
    board.add(*make.normalized(make.widened(1024, width_scale), 1), make.relu())
    board.add(make.layer("GlobalAveragePooling2D"), *make.head([], 0.0, classes))
    return board.layers


def _branch(board: Board, half: int, stride: int, after: str) -> str:
    return board.add(
        *make.normalized(half, 1),
        make.relu(),
        *make.depthwise(3, stride),
        *make.normalized(half, 1),
        make.relu(),
        after=after,
    )


def _half(board: Board, half: int, which: int, after: str) -> str:
    """The first or the second half of the channels."""
    cropped = [[0, half], [half, 0]][which]
    return board.add(
        make.layer("Permute", dims=[3, 1, 2]),
        make.layer("Cropping2D", cropping=[cropped, [0, 0]]),
        make.layer("Permute", dims=[2, 3, 1]),
        after=after,
    )
