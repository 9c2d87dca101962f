"""The CIFAR-10 policy of AutoAugment (Cubuk et al. 2019), on half of the images.

The competition trained tasks 6 and 7 this way: "we randomly apply data augmentation (the cifar10
policy from AutoAugment) to half the examples" (the organizers' `pgdl/README.md`). An image draws
one of 25 pairs of operations, and each of the two is applied with its probability. Magnitudes are
ten levels from nothing to the largest: 0.3 of a shear, 150/331 of a side of a translation, 30
degrees of a rotation, 0.9 of an enhancement, four bits less, all levels solarized. Signs are drawn.
"""

from __future__ import annotations

import numpy as np
import tensorflow as tf

from pgdl_measures.perturbations.operations import OPERATIONS
from pgdl_measures.perturbations.randaugment import Draws, randaugment

# Their Table 7: operation, probability, level of 0 to 9.
_POLICY = (
    (("Invert", 0.1, 7), ("Contrast", 0.2, 6)),
    (("Rotate", 0.7, 2), ("TranslateX", 0.3, 9)),
    (("Sharpness", 0.8, 1), ("Sharpness", 0.9, 3)),
    (("ShearY", 0.5, 8), ("TranslateY", 0.7, 9)),
    (("AutoContrast", 0.5, 8), ("Equalize", 0.9, 2)),
    (("ShearY", 0.2, 7), ("Posterize", 0.3, 7)),
    (("Color", 0.4, 3), ("Brightness", 0.6, 7)),
    (("Sharpness", 0.3, 9), ("Brightness", 0.7, 9)),
    (("Equalize", 0.6, 5), ("Equalize", 0.5, 1)),
    (("Contrast", 0.6, 7), ("Sharpness", 0.6, 5)),
    (("Color", 0.7, 7), ("TranslateX", 0.5, 8)),
    (("Equalize", 0.3, 7), ("AutoContrast", 0.4, 8)),
    (("TranslateY", 0.4, 3), ("Sharpness", 0.2, 6)),
    (("Brightness", 0.9, 6), ("Color", 0.2, 8)),
    (("Solarize", 0.5, 2), ("Invert", 0.0, 3)),
    (("Equalize", 0.2, 0), ("AutoContrast", 0.6, 0)),
    (("Equalize", 0.2, 8), ("Equalize", 0.6, 4)),
    (("Color", 0.9, 9), ("Equalize", 0.6, 6)),
    (("AutoContrast", 0.8, 4), ("Solarize", 0.2, 8)),
    (("Brightness", 0.1, 3), ("Color", 0.7, 0)),
    (("Solarize", 0.4, 5), ("AutoContrast", 0.9, 3)),
    (("TranslateY", 0.9, 9), ("TranslateY", 0.7, 9)),
    (("AutoContrast", 0.9, 2), ("Solarize", 0.8, 3)),
    (("Equalize", 0.8, 8), ("Invert", 0.1, 3)),
    (("TranslateY", 0.7, 9), ("AutoContrast", 0.9, 1)),
)
_SHARE = 0.5  # of the images


def autoaugment(images: tf.Tensor, seed: tf.Tensor) -> tf.Tensor:
    """Applies to each of the uint8 images [n, h, w, c] a pair of operations that it draws."""
    n = images.shape[0]
    pair = tf.random.stateless_uniform([n], [seed, 0], 0, len(_POLICY), tf.int32, alg="philox")
    uniform = tf.random.stateless_uniform([n, 2, 2], [seed, 1], alg="philox")
    chosen = tf.random.stateless_uniform([n, 1], [seed, 2], alg="philox") < _SHARE
    number, probability, middle, swing = (
        tf.gather(column, pair) for column in _columns(*images.shape[1:3])
    )
    applied = chosen & (uniform[..., 0] < probability)
    value = middle + tf.where(uniform[..., 1] < 0.5, -swing, swing)
    place = tf.zeros([n, 1, 2])
    for step in range(2):
        now = Draws(number[:, step : step + 1], value[:, step : step + 1], place)
        mask = applied[:, step, tf.newaxis, tf.newaxis, tf.newaxis]
        images = tf.where(mask, randaugment(images, now), images)
    return images


def _columns(height: int, width: int) -> tuple[np.ndarray, ...]:
    """Of each pair [25, 2]: operation, probability, and value as a middle and a random swing."""
    known = list(OPERATIONS)
    names = {"TranslateX": "TranslateXabs", "TranslateY": "TranslateYabs"}
    rows = [
        [
            (known.index(names.get(name, name)), chance, *_value(name, level / 9, height, width))
            for name, chance, level in pair
        ]
        for pair in _POLICY
    ]
    number, *rest = np.moveaxis(np.array(rows), -1, 0)
    return number.astype(np.int32), *(column.astype(np.float32) for column in rest)


def _value(name: str, share: float, height: int, width: int) -> tuple[float, float]:
    if name in ("Color", "Contrast", "Brightness", "Sharpness"):
        return 1.0, 0.9 * share
    swings = {
        "Rotate": 30.0,
        "ShearX": 0.3,
        "ShearY": 0.3,
        "TranslateX": 150 / 331 * width,
        "TranslateY": 150 / 331 * height,
    }
    if name in swings:
        return 0.0, swings[name] * share
    if name == "Posterize":
        return 8.0 - round(4 * share), 0.0
    return (256.0 * (1 - share) if name == "Solarize" else 0.0), 0.0
