"""Inputs and labels in memory: checked, cut down to size, and known by a fingerprint.

Inputs are images, or, where that is allowed, vectors, sequences and token ids.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ingestion.errors import ZooError

_EXACT = 1 << 24  # up to here every integer is a float32


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
        kept = len(self.train) - round(share * len(self.train))
        if not 0 < kept < len(self.train):
            raise ZooError(
                f"a validation share of {share:g} of {len(self.train)} training examples leaves "
                f"{kept} to train on and {len(self.train) - kept} to validate; use more examples"
            )
        order = stratified_order(self.train.labels, seed=1)
        parts = [np.sort(rows) for rows in np.split(order, [kept])]
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


def make_data(
    x_train: np.ndarray,
    y_train: np.ndarray,
    x_test: np.ndarray | None = None,
    y_test: np.ndarray | None = None,
    *,
    scale: str = "unit",
    images_only: bool = True,
) -> Data:
    """Arrays of any usual form as data; the test set may be missing.

    Bytes are divided by 255, or with the scale "none" become floats of the same value. Floats stay
    as they are. Without `images_only` the inputs may be of any shape, and integers (token ids)
    become floats of the same value.
    """
    if not images_only:
        x_train = _numbers("training", x_train)
        x_test = None if x_test is None else _numbers("test", x_test)
    train = make_split("training", x_train, y_train, scale, images_only)
    if x_test is None or y_test is None:
        test = Split(train.images[:0], train.labels[:0])
    else:
        test = make_split("test", x_test, y_test, scale, images_only)
        kinds = [np.asanyarray(images).dtype for images in (x_train, x_test)]
        if (kinds[0] == np.uint8) != (kinds[1] == np.uint8):
            raise ZooError(
                f"training images are {kinds[0]}, test images {kinds[1]}; expected both to be "
                "bytes, or both floats"
            )
    are_bytes = np.asanyarray(x_train).dtype == np.uint8
    data = Data(train, test, scale=scale if are_bytes else "floats")
    if data.test.images.shape[1:] != data.shape:
        raise ZooError(
            f"training images have shape {data.shape}, test images {data.test.images.shape[1:]}"
        )
    return data


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


def make_split(
    name: str,
    images: np.ndarray,
    labels: np.ndarray,
    scale: str = "unit",
    images_only: bool = True,
) -> Split:
    """Arrays of any usual form as one part of a data set; the options are those of `make_data`."""
    images, labels = _checked(name, images, labels, images_only)
    if images.dtype == np.uint8 and scale == "unit":
        images = images / np.float32(255)
    if not np.isfinite(images).all():
        raise ZooError(f"{name} images have values that are NaN or infinite")
    return Split(images.astype(np.float32), labels)


def make_lazy_split(name: str, images: np.ndarray, labels: np.ndarray) -> Split:
    """The same, of which bytes are only scaled when they are taken."""
    checked, classes = _checked(name, images, labels)
    if checked.dtype == np.uint8:
        return ByteSplit(ByteImages(checked), classes)
    return make_split(name, images, labels)


def _numbers(name: str, inputs: np.ndarray) -> np.ndarray:
    """Integers that are no bytes as floats, if that changes none of them."""
    inputs = np.asanyarray(inputs)
    if inputs.dtype == np.uint8 or inputs.dtype.kind not in "iub":
        return inputs
    if inputs.size and max(abs(int(inputs.min())), abs(int(inputs.max()))) > _EXACT:
        raise ZooError(
            f"{name} inputs are integers up to {inputs.max()}; a network takes floats, which hold "
            f"integers up to {_EXACT} only. Scale them as in training, and give floats"
        )
    return inputs.astype(np.float32)


def _checked(
    name: str, images: np.ndarray, labels: np.ndarray, images_only: bool = True
) -> tuple[np.ndarray, np.ndarray]:
    """Images `[n, height, width, channels]` of bytes or floats, and labels `[n]` int32."""
    images, labels = np.asanyarray(images), np.asarray(labels)
    if images.ndim == 3:
        images = images[..., None]
    if images.ndim and not len(images):
        raise ZooError(f"there are no {name} images: their shape is {images.shape}")
    if (images_only and images.ndim != 4) or images.ndim < 2:
        raise ZooError(
            f"{name} images have shape {images.shape}; expected [n, height, width(, channels)]"
            + ("" if images_only else ", or vectors [n, length]")
        )
    if labels.ndim == 2 and labels.shape[1] == 1:
        labels = labels[:, 0]
    if labels.ndim == 2 and np.isin(labels, (0, 1)).all() and (labels.sum(axis=1) == 1).all():
        labels = labels.argmax(axis=1)  # one-hot
    if labels.shape != (len(images),) or not np.issubdtype(labels.dtype, np.integer):
        hint = ""
        if labels.shape == (len(images),) and np.issubdtype(labels.dtype, np.floating):
            hint = "; convert them with .astype(int)"
        elif labels.ndim == 2 and len(labels) == len(images):
            hint = "; take the class of each with .argmax(axis=1)"
        raise ZooError(
            f"{name} labels have shape {labels.shape} and type {labels.dtype}; "
            f"expected {len(images)} integers, one per image{hint}"
        )
    if labels.min() < 0:
        raise ZooError(f"{name} labels go down to {labels.min()}; expected classes 0, 1, …")
    if images.dtype != np.uint8 and not np.issubdtype(images.dtype, np.floating):
        raise ZooError(f"{name} images are {images.dtype}; expected bytes or floats")
    return images, labels.astype(np.int32)
