"""Where images and labels come from: `digits`, `npz:FILE` or `tfds:NAME`."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from ingestion.datasets.array_forms import make_data, make_lazy_split
from ingestion.datasets.arrays import Data, Split, stratified_order
from ingestion.datasets.large_arrays import new_array
from ingestion.datasets.npz import has_array, read_arrays
from ingestion.errors import ZooError, first_line

FORMS = "digits, npz:FILE or tfds:NAME"
_Arrays = tuple[np.ndarray, np.ndarray]


def load_source(
    source: str,
    image_size: int | None = None,
    *,
    scale: str = "unit",
    need_test: bool = True,
    images_only: bool = True,
) -> Data:
    """The data that `source` names; `image_size` makes images square.

    Images of bytes are divided by 255, or with the scale "none" left as they are. Without
    `need_test` there may be training data only; without `images_only` its inputs may be vectors,
    sequences or token ids.
    """
    kind, _, _ = source.partition(":")
    parts = ("train", "test") if need_test or _has_test(source) else ("train",)
    own_size = image_size if kind == "tfds" else None
    arrays = [array for part in parts for array in _arrays(source, part, own_size, "square")]
    data = make_data(*arrays, scale=scale, images_only=images_only)
    return data if image_size == own_size else _resized(data, image_size)


def check_source(source: str) -> None:
    """Raises, without reading anything, where `source` does not name data."""
    kind, _, name = source.partition(":")
    if kind == "npz" and name:
        if not Path(name).is_file():
            raise ZooError(f"{name}: no such file")
    elif not (kind == "tfds" and name) and source != "digits":
        hint = f"; did you mean npz:{source}?" if source.endswith(".npz") else ""
        raise ZooError(f"unknown data {source!r}; expected {FORMS}{hint}")


def load_part(
    source: str, part: str, image_size: int | None = None, resize: str = "square"
) -> Split:
    """The `train` or `test` part alone, whose bytes stay bytes until they are taken.

    `resize` brings images of a tfds data set to `image_size`: `square` stretches them,
    `short-side` scales the shorter side and crops the other centrally.
    """
    name = "training" if part == "train" else part
    return make_lazy_split(name, *_arrays(source, part, image_size, resize))


def _has_test(source: str) -> bool:
    kind, _, name = source.partition(":")
    if kind == "npz":
        return has_array(Path(name), "x_test")
    if kind != "tfds" or not name:
        return True
    with _tfds_errors(name):
        splits = _tfds_builder(name).info.splits
    return not splits or "test" in splits  # a mocked data set has none


def _resized(data: Data, size: int | None) -> Data:
    import tensorflow as tf

    train, test = (
        Split(tf.image.resize(s.images, [size, size], antialias=True).numpy(), s.labels)
        for s in (data.train, data.test)
    )
    return replace(data, train=train, test=test)


def source_name(source: str) -> str:
    """A short name for the data of a source."""
    kind, _, name = source.partition(":")
    return Path(name).stem if kind == "npz" else (name or kind).replace("/", "_").split(":")[0]


def _arrays(source: str, part: str, image_size: int | None, resize: str) -> _Arrays:
    kind, _, name = source.partition(":")
    if kind == "tfds" and name:
        return _tfds(name, part, image_size, resize)
    if image_size is not None:
        raise ZooError(f"--image-size resizes tfds data only, and the data is {source!r}")
    if source == "digits":
        return _digits(part)
    if kind == "npz" and name:
        images, labels = read_arrays(Path(name), [f"x_{part}", f"y_{part}"])
        return images, labels
    check_source(source)
    raise AssertionError(source)


def _digits(part: str) -> _Arrays:
    """scikit-learn's 1,797 8x8 digits; one half of every class is for testing, always the same."""
    try:
        from sklearn.datasets import load_digits
    except ImportError as error:
        raise ZooError(
            "the digits come with scikit-learn, which is missing: pip install 'pgdl-measures[zoo]'"
        ) from error
    digits = load_digits()
    images, labels = (digits.images / 16).astype(np.float32), digits.target
    order = stratified_order(labels, seed=0)
    half = len(order) // 2
    rows = order[:half] if part == "train" else order[half:]
    return images[rows], labels[rows]


def _tfds(name: str, part: str, image_size: int | None, resize: str) -> _Arrays:
    with _tfds_errors(name):
        builder = _tfds_builder(name)
        _check_features(name, builder.info, part)
        dataset = builder.as_dataset(split=part, as_supervised=True)
    return stack_images(dataset, name, image_size, resize)


def _tfds_builder(name: str) -> Any:
    """Of a data set that is prepared, or is downloaded and prepared now."""
    import tensorflow_datasets as tfds

    # As tfds itself does, but now: the variable may have been set since it was imported.
    builder = tfds.builder(name, data_dir=os.environ.get("TFDS_DATA_DIR"))
    builder.download_and_prepare()
    return builder


@contextlib.contextmanager
def _tfds_errors(name: str) -> Iterator[None]:
    """What goes wrong with a data set of tfds, in a sentence."""
    try:
        import tensorflow_datasets as tfds
    except ImportError as error:
        raise ZooError(f"{error}; tfds: data needs `pip install tensorflow-datasets`") from error
    try:
        yield
    except tfds.core.DatasetNotFoundError as error:
        raise ZooError(f"tensorflow-datasets does not know {name!r}") from error
    except ImportError as error:
        raise ZooError(
            f"tensorflow-datasets needs another package for {name!r} ({error}); install it with pip"
        ) from error
    except (OSError, ValueError, AssertionError, tfds.download.DownloadError) as error:
        raise ZooError(
            f"cannot get the data set {name!r} ({first_line(error)}). Where there is network, run "
            f"`python -c \"import tensorflow_datasets as tfds; tfds.load('{name}')\"`, bring the "
            "folder that it fills (~/tensorflow_datasets) here, and name it in TFDS_DATA_DIR"
        ) from error


def _check_features(name: str, info: Any, part: str) -> None:
    """What a classifier of images cannot be trained on is said before anything is read."""
    if info.splits and part not in info.splits:  # a mocked data set has none
        has = ", ".join(info.splits) or "none"
        raise ZooError(f"the data set {name!r} has no split {part!r}; it has {has}")
    if info.supervised_keys is None or len(info.supervised_keys) != 2:
        raise ZooError(f"the data set {name!r} does not say which of its features are image, label")
    image, label = (info.features[key] for key in info.supervised_keys)
    if image.np_dtype not in (np.uint8, np.float32):
        raise ZooError(
            f"the images of {name!r} are {np.dtype(image.np_dtype).name}; expected uint8 or float32"
        )
    if not np.issubdtype(np.dtype(label.np_dtype), np.integer):
        raise ZooError(
            f"the labels of {name!r} are {np.dtype(label.np_dtype).name}, not numbers of classes; "
            "prepare it with ClassLabel"
        )


def stack_images(split: Any, name: str, image_size: int | None, resize: str) -> _Arrays:
    """All images in one array, which is filled as they are read and is in a file where it is
    large."""
    import tensorflow as tf

    if image_size is not None:
        resized = _short_side if resize == "short-side" else _square

        def resize_image(image: Any, label: Any) -> tuple[Any, Any]:
            small = resized(image, image_size)
            return tf.cast(tf.round(small), tf.uint8) if image.dtype == tf.uint8 else small, label

        split = split.map(resize_image)
    images, labels, shapes = np.empty(0), [], set()
    for i, (image, label) in enumerate(split.as_numpy_iterator()):
        if not i:
            images = new_array((int(split.cardinality()), *image.shape), image.dtype)
        shapes.add(image.shape)
        labels.append(label)
        if len(shapes) == 1:
            images[i] = image
    if len(shapes) > 1:
        raise ZooError(
            f"the images of {name!r} have different sizes, from {min(shapes)} to {max(shapes)}; "
            "give --image-size N to make them N x N"
        )
    return images, np.asarray(labels)


def _square(image: Any, size: int) -> Any:
    import tensorflow as tf

    return tf.image.resize(image, [size, size], antialias=True)


def _short_side(image: Any, size: int) -> Any:
    """As networks of ImageNet see images: the shorter side scaled, the other cropped centrally."""
    import tensorflow as tf

    sides = tf.cast(tf.shape(image)[:2], tf.float32)
    scaled = tf.cast(tf.round(sides * size / tf.reduce_min(sides)), tf.int32)
    return tf.image.resize_with_crop_or_pad(
        tf.image.resize(image, scaled, antialias=True), size, size
    )
