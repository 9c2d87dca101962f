"""Where the data of a zoo comes from: `digits`, `npz:FILE` or `tfds:NAME`."""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import Any

import numpy as np

from ingestion.arrays import Data, make_data, stratified_order
from ingestion.errors import ZooError

FORMS = "digits, npz:FILE or tfds:NAME"
_NPZ_KEYS = ("x_train", "y_train", "x_test", "y_test")


def load_source(source: str, image_size: int | None = None) -> Data:
    """The data that `source` names; `image_size` makes images of a tfds data set square."""
    kind, _, name = source.partition(":")
    if kind == "tfds" and name:
        return _tfds(name, image_size)
    if image_size is not None:
        raise ZooError(f"--image-size resizes tfds data only, and the data is {source!r}")
    if source == "digits":
        return _digits()
    if kind == "npz" and name:
        return _npz(Path(name))
    raise ZooError(f"unknown data {source!r}; expected {FORMS}")


def source_name(source: str) -> str:
    """A short name for the data of a source."""
    kind, _, name = source.partition(":")
    return Path(name).stem if kind == "npz" else (name or kind).replace("/", "_").split(":")[0]


def _digits() -> Data:
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
    train, test = np.split(order, [len(order) // 2])
    return make_data(images[train], labels[train], images[test], labels[test])


def _npz(path: Path) -> Data:
    if not path.is_file():
        raise ZooError(f"{path}: no such file")
    try:
        with np.load(path, allow_pickle=False) as file:
            missing = [key for key in _NPZ_KEYS if key not in file]
            if missing:
                raise ZooError(
                    f"{path}: has the arrays {', '.join(sorted(file)) or 'none'}; "
                    f"expected {', '.join(_NPZ_KEYS)}"
                )
            return make_data(*(file[key] for key in _NPZ_KEYS))
    except (OSError, ValueError, AttributeError, TypeError, zipfile.BadZipFile) as error:
        raise ZooError(f"{path}: is not a whole .npz file of plain arrays ({error})") from error


def _tfds(name: str, image_size: int | None) -> Data:
    try:
        import tensorflow_datasets as tfds
    except ImportError as error:
        raise ZooError(f"{error}; tfds: data needs `pip install tensorflow-datasets`") from error
    try:
        dataset = tfds.load(name, split=["train", "test"], as_supervised=True)
    except tfds.core.DatasetNotFoundError as error:
        raise ZooError(f"tensorflow-datasets does not know {name!r}") from error
    except ImportError as error:
        raise ZooError(
            f"tensorflow-datasets needs another package for {name!r} ({error}); install it with pip"
        ) from error
    except (OSError, ValueError, AssertionError, tfds.download.DownloadError) as error:
        raise ZooError(
            f"cannot get the data set {name!r} ({_first_line(error)}). Where there is network, run "
            f"`python -c \"import tensorflow_datasets as tfds; tfds.load('{name}')\"`, bring the "
            "folder that it fills (~/tensorflow_datasets) here, and name it in TFDS_DATA_DIR"
        ) from error
    train, test = (_arrays(split, name, image_size) for split in dataset)
    return make_data(*train, *test)


def _arrays(split: Any, name: str, image_size: int | None) -> tuple[np.ndarray, np.ndarray]:
    import tensorflow as tf

    if image_size is not None:

        def resize(image: Any, label: Any) -> tuple[Any, Any]:
            resized = tf.image.resize(image, [image_size, image_size], antialias=True)
            return tf.cast(tf.round(resized), tf.uint8), label

        split = split.map(resize)
    images, labels = zip(*split.as_numpy_iterator())
    shapes = sorted({image.shape for image in images})
    if len(shapes) > 1:
        raise ZooError(
            f"the images of {name!r} have different sizes, from {shapes[0]} to {shapes[-1]}; "
            "give --image-size N to make them N x N"
        )
    return np.stack(images), np.asarray(labels)


def _first_line(error: BaseException) -> str:
    lines = str(error).strip().splitlines()
    return lines[0] if lines else type(error).__name__
