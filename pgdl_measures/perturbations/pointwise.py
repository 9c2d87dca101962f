"""Operations on the colours of image batches, one parameter per image, with Pillow's arithmetic.

Images are [n, h, w, c] of 1 (grey) or 3 (red, green, blue) channels in grey levels 0..255, of any
type; results are float32 in 0..255, which Pillow would cut to integers (`levels`). A parameter is
[n]. The enhancers - `brightness`, `contrast`, `color`, `sharpness` - blend the image with a
degenerate one: black, its mean grey, its own greys, its own blur. `factor` 1 is the image itself,
less is less of it and more is more. References: Pillow's ImageOps and ImageEnhance.
"""

from __future__ import annotations

import tensorflow as tf

WHITE = 255.0


def levels(images: tf.Tensor) -> tf.Tensor:
    """Whole grey levels, as Pillow cuts them: towards zero."""
    return tf.cast(images, tf.uint8)


def blend(degenerate: tf.Tensor, images: tf.Tensor, factor: tf.Tensor) -> tf.Tensor:
    """From the degenerate images through the images, and beyond where the factor is more than 1."""
    images = tf.cast(images, tf.float32)
    return _clipped(degenerate + _per_image(factor) * (images - degenerate))


def brightness(images: tf.Tensor, factor: tf.Tensor) -> tf.Tensor:
    """Blend with black."""
    return blend(tf.constant(0.0), images, factor)


def contrast(images: tf.Tensor, factor: tf.Tensor) -> tf.Tensor:
    """Blend with the mean of the greys."""
    mean = tf.reduce_mean(grey(images), axis=[1, 2, 3], keepdims=True)
    return blend(tf.floor(mean + 0.5), images, factor)


def color(images: tf.Tensor, factor: tf.Tensor) -> tf.Tensor:
    """Blend with the greys; grey images stay as they are."""
    if images.shape[-1] == 1:
        return tf.cast(images, tf.float32)
    return blend(grey(images), images, factor)


def sharpness(images: tf.Tensor, factor: tf.Tensor) -> tf.Tensor:
    """Blend with a blur: a mean over 3 x 3 pixels, the middle five times; the border as it is."""
    images = tf.cast(images, tf.float32)
    rows = images[:, :-2] + images[:, 1:-1] + images[:, 2:]
    middle = images[:, 1:-1, 1:-1]
    square = rows[:, :, :-2] + rows[:, :, 1:-1] + rows[:, :, 2:]
    change = tf.floor((square + 4 * middle) / 13 + 0.5) - middle
    return blend(images + tf.pad(change, [[0, 0], [1, 1], [1, 1], [0, 0]]), images, factor)


def grey(images: tf.Tensor) -> tf.Tensor:
    """The luma of ITU-R 601-2 [n, h, w, 1], rounded as Pillow's mode `L`."""
    images = tf.cast(images, tf.float32)
    if images.shape[-1] == 1:
        return images
    # Sums of these integers are below 2^24, so that float32 is exact.
    luma = tf.tensordot(images, tf.constant([19595.0, 38470.0, 7471.0]), 1)
    return tf.floor((luma[..., tf.newaxis] + 32768) / 65536)


def invert(images: tf.Tensor) -> tf.Tensor:
    """White for black."""
    return WHITE - tf.cast(images, tf.float32)


def solarize(images: tf.Tensor, threshold: tf.Tensor) -> tf.Tensor:
    """Inverts what reaches the threshold."""
    images = tf.cast(images, tf.float32)
    return tf.where(images < _per_image(threshold), images, WHITE - images)


def add(images: tf.Tensor, amount: tf.Tensor) -> tf.Tensor:
    """Adds grey levels."""
    return _clipped(tf.cast(images, tf.float32) + _per_image(amount))


def posterize(images: tf.Tensor, bits: tf.Tensor) -> tf.Tensor:
    """Keeps so many of a level's eight bits."""
    step = _per_image(tf.pow(2.0, 8 - tf.floor(tf.cast(bits, tf.float32))))
    return tf.floor(tf.cast(images, tf.float32) / step) * step


def autocontrast(images: tf.Tensor) -> tf.Tensor:
    """Stretches each channel of each image to 0..255; one of a single level stays as it is."""
    images = tf.cast(images, tf.float32)
    low = tf.reduce_min(images, axis=[1, 2], keepdims=True)
    span = tf.reduce_max(images, axis=[1, 2], keepdims=True) - low
    return tf.where(span > 0, (images - low) * WHITE / tf.maximum(span, 1), images)


def equalize(images: tf.Tensor) -> tf.Tensor:
    """Makes the levels of each channel of each image about equally frequent.

    A channel with so few levels that Pillow's step is zero stays as it is.
    """
    height, width, channels = images.shape[1:]
    planes = tf.reshape(tf.transpose(tf.cast(images, tf.int32), [0, 3, 1, 2]), [-1, height * width])
    counts = tf.math.bincount(planes, minlength=256, maxlength=256, axis=-1)  # [n c, 256]
    brightest = tf.reduce_max(planes, axis=1, keepdims=True)
    last = tf.gather(counts, brightest, batch_dims=1)
    step = (height * width - last) // 255  # [n c, 1]
    below = tf.cumsum(counts, axis=1, exclusive=True)
    equal = tf.minimum((step // 2 + below) // tf.maximum(step, 1), 255)
    table = tf.where(step > 0, equal, tf.range(256))
    found = tf.gather(table, planes, batch_dims=1)
    found = tf.transpose(tf.reshape(found, [-1, channels, height, width]), [0, 2, 3, 1])
    return tf.cast(found, tf.float32)


def _per_image(parameter: tf.Tensor) -> tf.Tensor:
    return tf.reshape(tf.cast(parameter, tf.float32), [-1, 1, 1, 1])


def _clipped(images: tf.Tensor) -> tf.Tensor:
    return tf.clip_by_value(images, 0.0, WHITE)
