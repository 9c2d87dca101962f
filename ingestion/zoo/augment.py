"""Training with augmentation, for more or less invariant networks (Schiff et al. 2021, 4.2.1).

For every cell of a grid networks are trained with no, with partial (half of the perturbation's
range) and with full augmentation, from the same initial weights. All of them are tested on images
that are randomly perturbed over the full range: the test images of such a zoo are stored perturbed.
Training accuracy, and the target that ends training, are of the training images as they are. How a
network was augmented is in its record and is not a hyperparameter, so that CMI conditions on the
others, as in Table 3.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import tensorflow as tf

from ingestion.datasets.arrays import Data, Split
from ingestion.errors import ZooError
from ingestion.zoo.rescaled import random_crops
from pgdl_measures.errors import UnknownNameError
from pgdl_measures.perturbations.catalogue import perturbation, perturbations
from pgdl_measures.perturbations.value_range import ValueRange, value_range
from pgdl_measures.response_curves.perturbed import perturbed

LEVELS = {"none": 0.0, "partial": 0.5, "full": 1.0}  # and their shares of the range

# (images [n, h, w, c], seed [2]) -> images
Augmentation = Callable[[tf.Tensor, tf.Tensor], tf.Tensor]


@dataclass(frozen=True)
class Augment:
    """A perturbation and the levels that networks are trained with."""

    perturbation: str
    levels: tuple[str, ...]

    @property
    def name(self) -> str:
        """Of the perturbation, without the module that it is from."""
        return self.perturbation.rpartition(":")[2]


CROPS = Augment("crops", ("full",))  # of the rescaled protocol, which comes with its own


def parse_augment(text: str) -> Augment:
    """`rotation` is with all levels, `rotation:none,full` or `rotation:none|full` with these."""
    name, _, last = text.rpartition(":")
    levels = [level.strip() for level in re.split("[,|]", last)]
    registered = {known.name for known in perturbations()}
    # `module:name` has a colon, too.
    if not name or not (name in registered or ":" in name or set(levels) & set(LEVELS)):
        name, levels = text, list(LEVELS)
    for level in levels:
        if level not in LEVELS:
            raise UnknownNameError("level of augmentation", level, LEVELS)
    if len(set(levels)) < len(levels):
        raise ZooError(f"--augment {text} has a level twice")
    perturbation(name)  # raises where there is none
    return Augment(name, tuple(levels))


def augmentation(name: str, level: str, images: np.ndarray) -> Augmentation | None:
    """Random perturbation within a level's share of its range, for images like these."""
    if name == CROPS.perturbation:
        return random_crops
    share = LEVELS[level]
    return _random(name, share, value_range(tf.constant(images))) if share else None


def with_perturbed_test(data: Data, name: str, seed: int) -> Data:
    """The same data with test images that are randomly perturbed over the full range."""
    change = _random(name, 1.0, value_range(tf.constant(data.train.images)))
    images = change(tf.constant(data.test.images), tf.constant([seed, -1]))
    return replace(data, test=Split(images.numpy(), data.test.labels))


def _random(name: str, share: float, values: ValueRange) -> Augmentation:
    found = perturbation(name)

    def augment(images: tf.Tensor, seed: tf.Tensor) -> tf.Tensor:
        low, high = share * found.low, share * found.high
        magnitudes = tf.random.stateless_uniform(
            [tf.shape(images)[0]], seed, low, high, alg="philox"
        )
        return perturbed(images, values, found, magnitudes, seed + 1)

    return augment
