"""The operations of RandAugment and the single transformations of Wu et al. 2021, by name.

Operations, ranges and details of RandAugment are those of the implementation that the paper uses
(its footnote 3: github.com/ildoonet/pytorch-randaugment, RandAugment/augmentations.py at 48b8f50),
which calls Pillow. Some of it surprises: translations are in pixels, so that at M = 20 they move a
32 x 32 image by 67 pixels and leave it black; `SolarizeAdd` adds to all pixels; a
posterized image keeps M / 30 * 4 bits, at least one. All of it is kept, because the paper's numbers
are of it.

Images are uint8 [n, h, w, c]. Their colours are the first three channels, or the only one, where
`Color` is the identity and `CutoutAbs` fills with the luma of its grey. A fourth channel (the Pets
task) is treated like the alpha of a picture: what moves pixels moves it along, and what changes
colours leaves it.

The four single transformations are those of Table 1, which does not say their sizes; these are the
customary ones of its networks. `CenterCrop` enlarges the middle 7/8 (224 of 256 pixels),
`RandomCrop` moves by up to an eighth of the size into black (4 of 32), `RandomFlip` mirrors every
second image, `RandomRotation` turns by up to 30 degrees. Their magnitude is fixed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import tensorflow as tf

from pgdl_measures.perturbations import geometric, pointwise

MAX_MAGNITUDE = 30
CHANNELS = (1, 3, 4)

_CUTOUT_COLOUR = (125, 123, 114)
_CUTOUT_GREY = 123  # its luma

# (images [n, h, w, c], value [n], place [n, 2]) -> images
Change = Callable[[tf.Tensor, tf.Tensor, tf.Tensor], tf.Tensor]
# (value [n], place [n, 2], height, width) -> [n, 6]
Matrices = Callable[[tf.Tensor, tf.Tensor, int, int], tf.Tensor]


@dataclass(frozen=True)
class Operation:
    """The range of an operation's value."""

    low: float
    high: float

    def value(self, magnitude: float) -> float:
        """The value at a magnitude of 0 to 30."""
        return self.low + magnitude / MAX_MAGNITUDE * (self.high - self.low)


@dataclass(frozen=True)
class Changing(Operation):
    """An operation that computes new values for pixels."""

    change: Change


@dataclass(frozen=True)
class Moving(Operation):
    """An operation that moves pixels, by a matrix for each image."""

    matrices: Matrices
    signed: bool = False  # every second value is negated


def _colours(function: Callable[..., tf.Tensor], low: float, high: float) -> Changing:
    """A pointwise function of the colours and the value, in whole levels."""

    def change(images: tf.Tensor, value: tf.Tensor, place: tf.Tensor) -> tf.Tensor:
        found = pointwise.levels(function(images[..., :3], value))
        return _with_rest(found, images)

    return Changing(low, high, change)


def _fixed_colours(function: Callable[[tf.Tensor], tf.Tensor]) -> Changing:
    """A pointwise function that has no value."""
    return _colours(lambda images, value: function(images), 0, 1)


def _with_rest(colours: tf.Tensor, images: tf.Tensor) -> tf.Tensor:
    """The colours with the channel of `images` that is none."""
    has_more = images.shape[-1] > colours.shape[-1]
    return tf.concat([colours, images[..., 3:]], axis=-1) if has_more else colours


def _posterize(images: tf.Tensor, bits: tf.Tensor) -> tf.Tensor:
    return pointwise.posterize(images, tf.maximum(tf.floor(bits), 1.0))


def _solarize_add(images: tf.Tensor, amount: tf.Tensor) -> tf.Tensor:
    lighter = tf.floor(pointwise.add(images, amount))
    return pointwise.solarize(lighter, tf.fill(tf.shape(amount), 128.0))


def _cutout(images: tf.Tensor, value: tf.Tensor, place: tf.Tensor) -> tf.Tensor:
    """Fills a square of `value` pixels and one more, as Pillow's rectangles include both ends."""

    def inside(size: int, centre: tf.Tensor) -> tf.Tensor:  # [n, size]
        first = tf.floor(tf.maximum(0.0, centre * size - value / 2))[:, tf.newaxis]
        pixels = tf.range(size, dtype=tf.float32)
        return (pixels >= first) & (pixels <= first + value[:, tf.newaxis])

    height, width, channels = images.shape[1:]
    rows, columns = inside(height, place[:, 1]), inside(width, place[:, 0])
    square = (rows[:, :, tf.newaxis] & columns[:, tf.newaxis, :])[..., tf.newaxis]
    colour = tf.constant([_CUTOUT_GREY] if channels == 1 else _CUTOUT_COLOUR, tf.uint8)
    return _with_rest(tf.where(square, colour, images[..., :3]), images)


def _center_crop(images: tf.Tensor, value: tf.Tensor, place: tf.Tensor) -> tf.Tensor:
    matrices = geometric.zoom(value, *images.shape[1:3])
    enlarged = geometric.affine(tf.cast(images, tf.float32), matrices, interpolation="bilinear")
    return pointwise.levels(tf.round(enlarged))


def _random_crop(value: tf.Tensor, place: tf.Tensor, height: int, width: int) -> tf.Tensor:
    def shift(size: int, u: tf.Tensor) -> tf.Tensor:
        most = tf.floor(value * size)
        return tf.floor(u * (2 * most + 1)) - most

    return geometric.translation(shift(width, place[:, 0]), shift(height, place[:, 1]))


def _rotation(value: tf.Tensor, place: tf.Tensor, height: int, width: int) -> tf.Tensor:
    return geometric.rotation(value, height, width)


def _shear_x(value: tf.Tensor, place: tf.Tensor, height: int, width: int) -> tf.Tensor:
    return geometric.shear(value, tf.zeros_like(value))


def _shear_y(value: tf.Tensor, place: tf.Tensor, height: int, width: int) -> tf.Tensor:
    return geometric.shear(tf.zeros_like(value), value)


def _translation_x(value: tf.Tensor, place: tf.Tensor, height: int, width: int) -> tf.Tensor:
    return geometric.translation(value, tf.zeros_like(value))


def _translation_y(value: tf.Tensor, place: tf.Tensor, height: int, width: int) -> tf.Tensor:
    return geometric.translation(tf.zeros_like(value), value)


def _random_rotation(value: tf.Tensor, place: tf.Tensor, height: int, width: int) -> tf.Tensor:
    return geometric.rotation((2 * place[:, 0] - 1) * value, height, width)


def _random_flip(value: tf.Tensor, place: tf.Tensor, height: int, width: int) -> tf.Tensor:
    return geometric.mirror(place[:, 0] < value, width)


RANDAUGMENT: dict[str, Operation] = {
    "AutoContrast": _fixed_colours(pointwise.autocontrast),
    "Equalize": _fixed_colours(pointwise.equalize),
    "Invert": _fixed_colours(pointwise.invert),
    "Rotate": Moving(0, 30, _rotation, signed=True),
    "Posterize": _colours(_posterize, 0, 4),
    "Solarize": _colours(pointwise.solarize, 0, 256),
    "SolarizeAdd": _colours(_solarize_add, 0, 110),
    "Color": _colours(pointwise.color, 0.1, 1.9),
    "Contrast": _colours(pointwise.contrast, 0.1, 1.9),
    "Brightness": _colours(pointwise.brightness, 0.1, 1.9),
    "Sharpness": _colours(pointwise.sharpness, 0.1, 1.9),
    "ShearX": Moving(0, 0.3, _shear_x, signed=True),
    "ShearY": Moving(0, 0.3, _shear_y, signed=True),
    "CutoutAbs": Changing(0, 40, _cutout),
    "TranslateXabs": Moving(0, 100, _translation_x, signed=True),
    "TranslateYabs": Moving(0, 100, _translation_y, signed=True),
}

SINGLE: dict[str, Operation] = {
    "CenterCrop": Changing(7 / 8, 7 / 8, _center_crop),
    "RandomCrop": Moving(1 / 8, 1 / 8, _random_crop),
    "RandomFlip": Moving(1 / 2, 1 / 2, _random_flip),
    "RandomRotation": Moving(30, 30, _random_rotation),
}

OPERATIONS = {**RANDAUGMENT, **SINGLE}
