"""Affine maps of image batches, one matrix per image: one resampling for all of them.

A matrix takes a point of the output to the point of the input whose colour it gets, in pixels from
the upper left corner, where pixel (i, j) covers [j, j+1) x [i, i+1): the convention of Pillow.
`(a, b, c, d, e, f)` is x' = a x + b y + c, y' = d x + e y + f. What comes from outside the image is
0. Matrices are float64: they are a few numbers per image, and Pillow computes in doubles.
"""

from __future__ import annotations

import math

import tensorflow as tf

_FIXED = 65536.0  # Pillow's affine maps are in 16.16 fixed point


def affine(
    images: tf.Tensor,
    matrices: tf.Tensor,
    *,
    interpolation: str = "nearest",
) -> tf.Tensor:
    """Images [n, h, w, c] under matrices [n, 6].

    `nearest` picks the same pixels as Pillow's nearest resampling, for images of up to 128 pixels a
    side: the matrix is rounded to Pillow's fixed point, on whose grid float32 computes exactly.
    """
    matrices = tf.cast(matrices, tf.float64)
    a, b, c, d, e, f = tf.unstack(matrices, axis=1)
    # From the centres of pixels, which the matrix is about, to their numbers.
    c, f = c + (a + b) / 2, f + (d + e) / 2
    if interpolation == "nearest":
        a, b, c, d, e, f = (tf.floor(v * _FIXED + 0.5) / _FIXED for v in (a, b, c, d, e, f))
        # Pillow takes the floor; the operation rounds. Half a step of the grid keeps it from ties.
        c, f = c + 0.5 / _FIXED, f + 0.5 / _FIXED
    zero = tf.zeros_like(a)
    transforms = tf.stack([a, b, c - 0.5, d, e, f - 0.5, zero, zero], axis=1)
    whole = interpolation == "nearest" and images.dtype == tf.uint8 and images.shape[-1] in (3, 4)
    resampled = tf.raw_ops.ImageProjectiveTransformV3(
        images=_whole_pixels(images) if whole else images,
        transforms=tf.cast(transforms, tf.float32),
        output_shape=tf.shape(images)[1:3],
        interpolation=interpolation.upper(),
        fill_mode="CONSTANT",
        fill_value=0.0,
    )
    return _channels(resampled, images.shape[-1]) if whole else resampled


def rotation(degrees: tf.Tensor, height: int, width: int) -> tf.Tensor:
    """Rotations [n, 6] by angles [n] about the centre, counterclockwise as one sees them."""
    angle = -tf.cast(degrees, tf.float64) * (math.pi / 180)
    cos, sin = tf.cos(angle), tf.sin(angle)
    x, y = width / 2, height / 2
    return tf.stack([cos, sin, x - x * cos - y * sin, -sin, cos, y + x * sin - y * cos], axis=1)


def translation(dx: tf.Tensor, dy: tf.Tensor) -> tf.Tensor:
    """Translations [n, 6]: the output shows what lies (dx, dy) pixels further in the input."""
    one, zero, dx, dy = _columns(dx, dy)
    return tf.stack([one, zero, dx, zero, one, dy], axis=1)


def shear(sx: tf.Tensor, sy: tf.Tensor) -> tf.Tensor:
    """Shears [n, 6] from the upper left corner: x' = x + sx y, y' = y + sy x."""
    one, zero, sx, sy = _columns(sx, sy)
    return tf.stack([one, sx, zero, sy, one, zero], axis=1)


def zoom(factor: tf.Tensor, height: int, width: int) -> tf.Tensor:
    """Zooms [n, 6] about the centre: the output shows that share of the input's sides."""
    factor = tf.cast(factor, tf.float64)
    zero = tf.zeros_like(factor)
    x, y = (1 - factor) * (width / 2), (1 - factor) * (height / 2)
    return tf.stack([factor, zero, x, zero, factor, y], axis=1)


def mirror(mirrored: tf.Tensor, width: int) -> tf.Tensor:
    """Matrices [n, 6] that swap left and right where `mirrored` [n] is true."""
    sign = tf.where(mirrored, tf.constant(-1.0, tf.float64), tf.constant(1.0, tf.float64))
    one, zero = tf.ones_like(sign), tf.zeros_like(sign)
    return tf.stack([sign, zero, (1 - sign) * (width / 2), zero, one, zero], axis=1)


def _columns(x: tf.Tensor, y: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor, tf.Tensor, tf.Tensor]:
    x, y = tf.cast(x, tf.float64), tf.cast(y, tf.float64)
    return tf.ones_like(x), tf.zeros_like(x), x, y


def _whole_pixels(images: tf.Tensor) -> tf.Tensor:
    """Pixels of three or four bytes as one integer each [n, h, w, 1], because the operation looks
    for the source of each channel by itself: this is four times as fast."""
    spare = 4 - images.shape[-1]
    padded = tf.pad(images, [[0, 0], [0, 0], [0, 0], [0, spare]]) if spare else images
    return tf.bitcast(padded, tf.int32)[..., tf.newaxis]


def _channels(pixels: tf.Tensor, channels: int) -> tf.Tensor:
    return tf.bitcast(pixels[..., 0], tf.uint8)[..., :channels]
