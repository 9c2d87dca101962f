"""Translations tau_v that lose no pixels (Werpachowski et al. 2019, Sections 5.1 to 5.3).

A translation by v = (down, right) shifts a crop window by -v over a larger canvas. The density of a
generator of range eps needs translations up to 3 eps (Figure 7). Images without spare pixels around
the window are upsampled bilinearly to have some, or shifted circularly.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import tensorflow as tf

from pgdl_measures.errors import MeasureError

PADDINGS = ("upsample", "circular")  # for images without spare pixels


@dataclass(frozen=True)
class Translations:
    """All translations, within 3 eps, of images that a network sees through a window."""

    eps: int
    window: tuple[int, int]  # height and width of the network's input
    canvas: tuple[int, int]  # height and width over which the window moves
    resizes: bool  # whether images are resized to the canvas first

    @property
    def side(self) -> int:
        """Translations in each direction: -3 eps to 3 eps."""
        return 6 * self.eps + 1

    def apply(self, images: tf.Tensor, rows: tf.Tensor, shifts: tf.Tensor) -> tf.Tensor:
        """tau_v of images[rows] for shifts v [n, 2]."""
        canvas = self.canvases(images)
        height, width = self.canvas
        origin = [(c - w) // 2 for c, w in zip(self.canvas, self.window)]
        down = (origin[0] - shifts[:, :1] + tf.range(self.window[0])) % height  # [n, h]
        right = (origin[1] - shifts[:, 1:] + tf.range(self.window[1])) % width  # [n, w]
        pixel = (rows[:, None] * height + down)[:, :, None] * width + right[:, None, :]
        return tf.gather(tf.reshape(canvas, [-1, images.shape[-1]]), pixel)

    def canvases(self, images: tf.Tensor) -> tf.Tensor:
        """The images at the size of the canvas."""
        return tf.image.resize(images, self.canvas, method="bilinear") if self.resizes else images


def translations(
    image_shape: Sequence[int], window_shape: Sequence[int], eps: int, padding: str = "upsample"
) -> Translations:
    """The translations of images of one shape for a network whose input may have another.

    Images that are larger than the window by 6 eps or more have spare pixels. For images of the
    window's size, `padding` says where spare pixels come from.
    """
    if padding not in PADDINGS:
        raise MeasureError(f"padding is {padding!r}; expected one of {', '.join(PADDINGS)}")
    if not isinstance(eps, int) or eps < 1:
        raise MeasureError(f"eps is {eps!r}; expected a positive number of pixels")
    if len(image_shape) != 3:
        raise MeasureError(
            f"only images can be translated; the inputs have shape {list(image_shape)}, "
            "expected [height, width, channels]"
        )
    if len(window_shape) != 3 or image_shape[2] != window_shape[2]:
        raise MeasureError(
            f"the images have shape {list(image_shape)}; the model takes {list(window_shape)}"
        )
    image, window = (image_shape[0], image_shape[1]), (window_shape[0], window_shape[1])
    if image == window:
        if padding == "circular":
            # Different shifts of one neighbourhood must give different images.
            if 2 * eps + 1 > min(window):
                raise MeasureError(f"images of {_size(window)} are too small for eps = {eps}")
            return Translations(eps, window, window, resizes=False)
        return Translations(eps, window, (window[0] + 6 * eps, window[1] + 6 * eps), resizes=True)
    spare = min(i - w for i, w in zip(image, window))
    if spare < 6 * eps:
        raise MeasureError(
            f"images of {_size(image)} leave {spare} pixels around windows of {_size(window)}; "
            f"eps = {eps} needs {6 * eps}, or images of the window's size"
        )
    return Translations(eps, window, image, resizes=False)


def neighbourhood(eps: int) -> np.ndarray:
    """The translations within eps [K, 2], row-major; the middle one is (0, 0)."""
    span = np.arange(-eps, eps + 1)
    return np.stack(np.meshgrid(span, span, indexing="ij"), axis=-1).reshape(-1, 2)


def _size(shape: tuple[int, int]) -> str:
    return "x".join(map(str, shape))
