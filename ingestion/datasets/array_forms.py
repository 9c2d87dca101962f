"""Data from arrays of any usual form: checked, and converted to what networks take.

Inputs are images, or, where that is allowed, vectors, sequences and token ids.
"""

from __future__ import annotations

import numpy as np

from ingestion.datasets.arrays import ByteImages, ByteSplit, Data, Split
from ingestion.errors import ZooError

_EXACT = 1 << 24  # up to here every integer is a float32


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
    with np.errstate(over="ignore"):  # what is too large becomes infinite
        images = images.astype(np.float32)
    if not np.isfinite(images).all():
        raise ZooError(
            f"{name} images have values that are NaN or infinite, or too large for a float32"
        )
    return Split(images, labels)


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
    if labels.shape != (len(images),) or labels.dtype.kind not in "iu":
        hint = ""
        if labels.shape == (len(images),) and np.issubdtype(labels.dtype, np.floating):
            hint = "; convert them with .astype(int)"
        elif labels.shape == (len(images),) and labels.dtype.kind in "US":
            hint = "; number them by np.unique(labels, return_inverse=True)[1]"
        elif labels.ndim == 2 and len(labels) == len(images):
            hint = "; take the class of each with .argmax(axis=1)"
        raise ZooError(
            f"{name} labels have shape {labels.shape} and type {labels.dtype}; "
            f"expected {len(images)} integers, one per image{hint}"
        )
    if labels.min() < 0:
        raise ZooError(f"{name} labels go down to {labels.min()}; expected classes 0, 1, …")
    if labels.max() > np.iinfo(np.int32).max:  # it would become another one
        raise ZooError(f"{name} labels go up to {labels.max()}; expected classes 0, 1, …")
    if images.dtype != np.uint8 and not np.issubdtype(images.dtype, np.floating):
        raise ZooError(f"{name} images are {images.dtype}; expected bytes or floats")
    return images, labels.astype(np.int32)
