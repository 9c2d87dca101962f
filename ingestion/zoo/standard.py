"""Training augmentation by name, as a hyperparameter of a grid.

none               images as they are
crop_flip          the standard of CIFAR-10: a random crop after padding with zeros by an eighth of
                   a side (4 pixels of 32), mirrored in half of the cases
randaugment        RandAugment with the N = 2 and M = 20 of Wu et al. 2021: the very examples by
                   which ContRE measures
autoaugment        the CIFAR-10 policy of AutoAugment on half of the images (tasks 6 and 7 of the
                   competition)
PERTURBATION:LEVEL a perturbation of Schiff et al. 2021 within half (partial) or all (full) of its
                   range
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import tensorflow as tf

from ingestion.errors import ZooError
from ingestion.zoo.augment import LEVELS, Augmentation, augmentation, parse_augment
from ingestion.zoo.autoaugment import autoaugment
from ingestion.zoo.jobs import Job
from ingestion.zoo.rescaled import random_crops
from pgdl_measures.errors import UnknownNameError
from pgdl_measures.perturbations.randaugment import draw, randaugment
from pgdl_measures.perturbations.value_range import from_levels, to_levels, value_range

_COUNT, _MAGNITUDE = 2, 20.0


def augmentation_of(job: Job, images: np.ndarray) -> Augmentation | None:
    """How the images of a model are changed in training; black and white are their extremes."""
    if job.augment is not None:
        return augmentation(job.augment["perturbation"], job.augment["level"], images)
    return training_augmentation(job.training["augmentation"], images)


def training_augmentation(name: str, images: np.ndarray) -> Augmentation | None:
    """The augmentation of that name; black and white are the extremes of `images`."""
    if name == "none":
        return None
    if name == "crop_flip":
        return crop_flip
    if name in _ON_BYTES:
        return _on_bytes(_ON_BYTES[name], images)
    perturbation, level = _perturbation(name)
    return augmentation(perturbation, level, images)


def check_augmentation(name: object) -> None:
    """Raises where there is no augmentation of that name."""
    if name not in ("none", "crop_flip", *_ON_BYTES):
        _perturbation(name)


def crop_flip(images: tf.Tensor, seed: tf.Tensor) -> tf.Tensor:
    """Images [n, h, w, c], each cropped after padding, and mirrored in half of the cases."""
    cropped = random_crops(images, seed, padding="CONSTANT")
    draws = tf.random.stateless_uniform([tf.shape(images)[0], 1, 1, 1], seed + 1, alg="philox")
    return tf.where(draws < 0.5, tf.reverse(cropped, [2]), cropped)


def _randaugment(images: tf.Tensor, seed: tf.Tensor) -> tf.Tensor:
    return randaugment(images, draw(images.shape[0], count=_COUNT, magnitude=_MAGNITUDE, seed=seed))


_ON_BYTES: dict[str, Callable[[tf.Tensor, tf.Tensor], tf.Tensor]] = {
    "randaugment": _randaugment,
    "autoaugment": autoaugment,
}


def _on_bytes(
    change: Callable[[tf.Tensor, tf.Tensor], tf.Tensor], images: np.ndarray
) -> Augmentation:
    """Of an operation on bytes (images, one number as seed), one on the data's own values."""
    values = value_range(tf.constant(images))

    def augment(batch: tf.Tensor, seed: tf.Tensor) -> tf.Tensor:
        one = tf.random.stateless_uniform([], seed, None, None, tf.int32, alg="philox")
        return from_levels(change(to_levels(batch, values), one), values)

    return augment


def _perturbation(name: object) -> tuple[str, str]:
    if not isinstance(name, str) or ":" not in name:
        known = ("none", "crop_flip", *_ON_BYTES, "rotation:partial", "rotation:full")
        raise UnknownNameError("augmentation", str(name), known)
    found = parse_augment(name)
    if len(found.levels) != 1:
        raise ZooError(f"augmentation {name} has no one level; expected {', '.join(LEVELS)}")
    return found.perturbation, found.levels[0]
