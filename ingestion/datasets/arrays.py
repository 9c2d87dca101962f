"""Inputs and labels in memory: subsets of them, their shape, and their fingerprint."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ingestion.errors import ZooError


class ByteImages:
    """Images that are kept as bytes, perhaps in their file, and become floats when some of them are
    taken: a quarter of the memory, or next to none. They are divided by 255, or stay as they are
    (the scale "none")."""

    def __init__(self, array: np.ndarray, scale: str = "unit") -> None:
        self.array, self.scale = array, scale
        self.shape = array.shape

    def __len__(self) -> int:
        return len(self.array)

    def __getitem__(self, rows: Any) -> np.ndarray:
        return self.array[rows] / np.float32(255 if self.scale == "unit" else 1)


@dataclass(frozen=True)
class Split:
    """One part of a data set: images `[n, height, width, channels]` float32, labels `[n]` int32.

    What is not an image is `[n, ...]` float32.
    """

    images: np.ndarray
    labels: np.ndarray

    def __len__(self) -> int:
        return len(self.labels)

    def take(self, rows: np.ndarray) -> Split:
        """Some of the examples."""
        return Split(self.images[rows], self.labels[rows])

    def limited(self, n: int | None) -> Split:
        """At most that many examples, always the same, classes in proportion."""
        if n is None or n >= len(self):
            return self
        if n < 1:
            raise ZooError(f"a data set needs at least one example, asked for {n}")
        return self.take(np.sort(stratified_order(self.labels, seed=0)[:n]))


@dataclass(frozen=True)
class ByteSplit(Split):
    """One part of a data set whose images stay bytes."""

    images: ByteImages  # type: ignore[assignment]

    def take(self, rows: np.ndarray) -> ByteSplit:
        images = ByteImages(self.images.array[rows], self.images.scale)
        return ByteSplit(images, self.labels[rows])

    def scaled(self, scale: str) -> ByteSplit:
        """The same images in the scale "unit" or "none"."""
        return ByteSplit(ByteImages(self.images.array, scale), self.labels)


@dataclass(frozen=True)
class Data:
    """A data set for classification."""

    train: Split
    test: Split  # of no examples where there is no test set
    validation: Split | None = None  # training examples that are held out
    scale: str = "floats"  # or of images that were bytes: "unit", divided by 255, or "none"

    @property
    def shape(self) -> tuple[int, ...]:
        """Of one image, or of one example of another kind."""
        return self.train.images.shape[1:]

    @property
    def classes(self) -> int:
        """One more than the largest label."""
        return int(max(split.labels.max(initial=0) for split in (self.train, self.test))) + 1

    def limited(self, train: int | None, test: int | None) -> Data:
        """At most that many examples of each split, always the same, classes in proportion."""
        return replace(self, train=self.train.limited(train), test=self.test.limited(test))

    def held_out(self, share: float) -> Data:
        """The same data with a share of the training examples, always the same, kept apart."""
        training = len(self.train) - round(share * len(self.train))
        if not 0 < training < len(self.train):
            raise ZooError(
                f"a validation share of {share:g} of {len(self.train)} training examples leaves "
                f"{training} to train on and {len(self.train) - training} to validate; use more "
                "examples"
            )
        order = stratified_order(self.train.labels, seed=1)
        parts = [np.sort(rows) for rows in np.split(order, [training])]
        train, held = (Split(self.train.images[r], self.train.labels[r]) for r in parts)
        return replace(self, train=train, validation=held)

    def without_channels(self) -> Data:
        """Examples `[height, width, 1]` as `[height, width]`: grey images, or sequences."""
        train, test = (Split(s.images[..., 0], s.labels) for s in (self.train, self.test))
        return replace(self, train=train, test=test)

    def in_unit_scale(self) -> Data:
        """Bytes that are not yet divided by 255 are; other images stay as they are."""
        if self.scale != "none":
            return self
        train, test = (Split(s.images / 255, s.labels) for s in (self.train, self.test))
        return replace(self, train=train, test=test, scale="unit")

    def fingerprint(self) -> str:
        """Equal for equal data, whatever file it came from."""
        digest = hashlib.sha256()
        for split in filter(None, (self.train, self.test, self.validation)):
            for array in (split.images, split.labels):
                digest.update(repr(array.shape).encode())
                digest.update(np.ascontiguousarray(array).data)
        return digest.hexdigest()[:16]


def of_one_shape(data: Mapping[str, Data]) -> tuple[dict[str, Data], list[str]]:
    """Data sets whose images are brought to one shape, with a sentence about each that changed.

    Smaller images get a border of their darkest value, grey ones the same grey in each channel.
    """
    shapes = [one.shape for one in data.values()]
    height, width, channels = (max(sizes) for sizes in zip(*shapes))
    common, notes = {}, []
    for name, one in data.items():
        if one.shape == (height, width, channels):
            common[name] = one
            continue
        if one.shape[-1] not in (1, channels):
            raise ZooError(
                f"images of {name} have {one.shape[-1]} channels, others {channels}; only grey "
                "images can be given more channels"
            )
        black = float(one.train.images.min())
        train, test = (
            _padded(split, height, width, channels, black) for split in (one.train, one.test)
        )
        common[name] = replace(one, train=train, test=test)
        notes.append(
            f"images of {name} {one.shape} are padded to {(height, width, channels)}, as the "
            "other data is"
        )
    return common, notes


def _padded(split: Split, height: int, width: int, channels: int, black: float) -> Split:
    margins = [(full - has) for full, has in zip((height, width), split.images.shape[1:3])]
    sides = [(0, 0), *((m // 2, m - m // 2) for m in margins), (0, 0)]
    images = np.pad(split.images, sides, constant_values=black)
    repeats = channels // images.shape[-1]
    return Split(np.repeat(images, repeats, axis=-1), split.labels)


def stratified_order(labels: np.ndarray, seed: int) -> np.ndarray:
    """A random order of the examples of which every beginning has all classes in proportion."""
    rng = np.random.default_rng(seed)
    place = np.empty(len(labels))
    for label in np.unique(labels):
        rows = np.flatnonzero(labels == label)
        place[rows] = (rng.permutation(len(rows)) + rng.random(len(rows))) / len(rows)
    return np.argsort(place, kind="stable")
