"""The perturbations T_alpha of Section 4.2 of Schiff et al. 2021, as functions of image batches.

Each is `(images, magnitude, rng) -> images`, the signature of a user's own too (see `catalogue`).
Images are float32 [n, h, w, c] with black at 0 and white at 1; `magnitude` is [n, 1, 1, 1], one
number for each image that broadcasts over it; `rng` is a seed for `tf.random.stateless_*`, int32
[2]. A magnitude of 0 leaves the images as they are.

Rotations interpolate bilinearly, because a network should see an angle and not the jagged
edges that nearest pixels have. Translations are by whole pixels, as in torchvision, because half a
pixel would be a blur. What comes from outside the image is black. Colours follow Pillow and
torchvision: brightness, contrast and saturation are blends with black, with the mean grey and with
the greys by a factor of 1 + magnitude; the hue turns by that share of the circle. A fourth channel
is no colour, so jitter leaves it; images of one or two channels have neither saturation nor hue.
Noise is of all channels. Intensity is a factor of the values that the network is given, whatever
these stand for: it gets the inputs as they are (`Perturbation.of_values`).
"""

from __future__ import annotations

import tensorflow as tf

from pgdl_measures.perturbations import geometric, pointwise


def rotation(images: tf.Tensor, magnitude: tf.Tensor, rng: tf.Tensor) -> tf.Tensor:
    """Turns by `magnitude` degrees about the centre, counterclockwise as one sees it."""
    matrices = geometric.rotation(_vector(magnitude), *images.shape[1:3])
    return geometric.affine(images, matrices, interpolation="bilinear")


def translation_x(images: tf.Tensor, magnitude: tf.Tensor, rng: tf.Tensor) -> tf.Tensor:
    """Shifts by that share of the width: left if negative, right if positive."""
    pixels = tf.round(_vector(magnitude) * images.shape[2])
    return geometric.affine(images, geometric.translation(-pixels, tf.zeros_like(pixels)))


def translation_y(images: tf.Tensor, magnitude: tf.Tensor, rng: tf.Tensor) -> tf.Tensor:
    """Shifts by that share of the height: up if negative, down if positive."""
    pixels = tf.round(_vector(magnitude) * images.shape[1])
    return geometric.affine(images, geometric.translation(tf.zeros_like(pixels), -pixels))


def colour_jitter(images: tf.Tensor, magnitude: tf.Tensor, rng: tf.Tensor) -> tf.Tensor:
    """Brightness, contrast, saturation and hue, one after the other, all by `magnitude`."""
    levels, factor = pointwise.WHITE * images[..., :3], 1 + _vector(magnitude)
    levels = pointwise.brightness(levels, factor)
    if images.shape[-1] < 3:  # every channel is a grey of its own
        mean = tf.reduce_mean(levels, axis=[1, 2], keepdims=True)
        return pointwise.blend(mean, levels, factor) / pointwise.WHITE
    levels = pointwise.color(pointwise.contrast(levels, factor), factor)
    colours = hue(levels / pointwise.WHITE, magnitude)
    return tf.concat([colours, images[..., 3:]], axis=-1)


def hue(colours: tf.Tensor, magnitude: tf.Tensor) -> tf.Tensor:
    """Turns the hue of colours [n, h, w, 3] by that share of the circle."""
    h, s, v = tf.unstack(tf.image.rgb_to_hsv(colours), axis=-1)
    turned = tf.math.floormod(h + magnitude[..., 0], 1.0)
    # The way to HSV and back rounds; where nothing is turned, nothing is to change.
    return tf.where(magnitude == 0, colours, tf.image.hsv_to_rgb(tf.stack([turned, s, v], -1)))


def noise(images: tf.Tensor, magnitude: tf.Tensor, rng: tf.Tensor) -> tf.Tensor:
    """Adds Gaussian noise of that standard deviation; the same noise at every magnitude."""
    noisy = images + magnitude * tf.random.stateless_normal(tf.shape(images), rng, alg="philox")
    return tf.where(magnitude == 0, images, tf.clip_by_value(noisy, 0.0, 1.0))


def intensity(images: tf.Tensor, magnitude: tf.Tensor, rng: tf.Tensor) -> tf.Tensor:
    """Scales all values by 1 + `magnitude`, beyond white where that is where it leads."""
    return images * (1 + magnitude)


def _vector(magnitude: tf.Tensor) -> tf.Tensor:
    return tf.reshape(magnitude, [-1])
