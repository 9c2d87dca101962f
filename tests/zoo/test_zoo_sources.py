"""Data comes from scikit-learn, a file or tensorflow-datasets; what is wrong with it is said."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from ingestion.datasets.array_forms import make_data
from ingestion.datasets.arrays import stratified_order
from ingestion.datasets.sources import load_source
from ingestion.errors import ZooError

IMAGES = np.arange(6 * 4 * 5, dtype=np.uint8).reshape(6, 4, 5)
LABELS = np.array([0, 1, 2, 0, 1, 2])
ARRAYS = {"x_train": IMAGES, "y_train": LABELS, "x_test": IMAGES[:3], "y_test": LABELS[:3]}


def test_digits_are_all_there_split_evenly_in_every_class() -> None:
    pytest.importorskip("sklearn")
    data = load_source("digits")
    assert len(data.train) + len(data.test) == 1797
    assert data.shape == (8, 8, 1) and data.classes == 10
    assert data.train.images.max() == 1.0 and data.train.images.min() == 0.0
    counts = [np.bincount(split.labels) for split in (data.train, data.test)]
    assert np.abs(counts[0] - counts[1]).max() <= 1
    assert load_source("digits").fingerprint() == data.fingerprint()


def test_bytes_of_an_npz_are_scaled_and_get_a_channel(tmp_path: Path) -> None:
    np.savez(tmp_path / "a.npz", **ARRAYS)
    data = load_source(f"npz:{tmp_path / 'a.npz'}")
    assert data.shape == (4, 5, 1)
    assert data.train.images.dtype == np.float32 and data.train.labels.dtype == np.int32
    assert np.array_equal(data.train.images[..., 0], IMAGES / np.float32(255))


def test_images_of_a_file_are_resized_when_asked(tmp_path: Path) -> None:
    halves = np.repeat([0, 255], 2).astype(np.uint8) * np.ones((6, 4, 1), np.uint8)
    np.savez(tmp_path / "a.npz", **{**ARRAYS, "x_train": halves, "x_test": halves[:3]})
    data = load_source(f"npz:{tmp_path / 'a.npz'}", image_size=2)
    assert data.shape == (2, 2, 1)
    assert (np.diff(data.train.images[..., 0], axis=-1) > 0.5).all()


def test_an_npz_without_the_arrays_is_told_which_it_has(tmp_path: Path) -> None:
    np.savez(tmp_path / "a.npz", images=IMAGES, labels=LABELS)
    with pytest.raises(ZooError, match="has the arrays images, labels; expected x_train, y_train"):
        load_source(f"npz:{tmp_path / 'a.npz'}")


def test_an_npz_with_pickles_is_not_unpickled(tmp_path: Path) -> None:
    np.savez(tmp_path / "a.npz", **{**ARRAYS, "x_train": np.array([object()])})
    with pytest.raises(ZooError, match=r"a\.npz: is not a whole \.npz file of plain arrays"):
        load_source(f"npz:{tmp_path / 'a.npz'}")


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("cifar10", "unknown data 'cifar10'; expected digits, npz:FILE or tfds:NAME"),
        ("npz:nowhere.npz", "nowhere.npz: no such file"),
        ("npz:", "unknown data"),
    ],
)
def test_a_source_that_is_none_is_named(source: str, message: str) -> None:
    with pytest.raises(ZooError, match=message):
        load_source(source)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"x_train": IMAGES[:, 0]}, r"training images have shape \(6, 5\)"),
        ({"y_train": LABELS[:4]}, "expected 6 integers"),
        ({"y_train": LABELS / 2}, "type float64"),
        ({"y_test": LABELS[:3] - 1}, "test labels go down to -1"),
        ({"x_test": IMAGES[:3, :2]}, r"test images \(2, 5, 1\)"),
        ({"x_train": IMAGES * np.nan}, "training images have values that are NaN or infinite"),
        ({"x_train": IMAGES + 1e300}, "NaN or infinite, or too large for a float32"),
        ({"y_train": LABELS + 2**32}, "training labels go up to 4294967"),
        ({"y_train": LABELS.astype("datetime64[D]")}, "type datetime64"),
        ({"y_train": LABELS.astype("timedelta64[D]")}, "type timedelta64"),
        ({"x_train": IMAGES.astype(np.int64)}, "are int64; expected bytes or floats"),
    ],
)
def test_arrays_that_do_not_fit_are_refused(changes: dict, message: str) -> None:
    with pytest.raises(ZooError, match=message):
        make_data(**{**ARRAYS, **changes})


def test_every_beginning_of_a_stratified_order_has_the_classes_in_proportion() -> None:
    labels = np.repeat([0, 1, 2], [600, 300, 100])
    order = stratified_order(labels, seed=0)
    assert sorted(order) == list(range(1000))
    for n in (10, 50, 100, 500):
        counts = np.bincount(labels[order[:n]], minlength=3)
        assert np.abs(counts - n * np.array([0.6, 0.3, 0.1])).max() <= 1.5


@pytest.mark.parametrize("name", ["cifar10", "svhn_cropped", "fashion_mnist"])
def test_tfds_data_sets_of_one_size_are_read_as_they_are(name: str) -> None:
    testing = pytest.importorskip("tensorflow_datasets").testing
    with testing.mock_data(num_examples=5):
        data = load_source(f"tfds:{name}")
    assert data.shape == ((28, 28, 1) if name == "fashion_mnist" else (32, 32, 3))
    assert len(data.train) == len(data.test) == 5
    assert data.train.images.min() >= 0 and 0.9 < data.train.images.max() <= 1


def test_tfds_images_of_many_sizes_are_resized_when_asked() -> None:
    testing = pytest.importorskip("tensorflow_datasets").testing
    with testing.mock_data(num_examples=5):
        with pytest.raises(ZooError, match=r"different sizes.*--image-size"):
            load_source("tfds:oxford_iiit_pet")
        assert load_source("tfds:oxford_iiit_pet", image_size=32).shape == (32, 32, 3)


def test_a_data_set_that_cannot_be_downloaded_says_how_to_get_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tfds = pytest.importorskip("tensorflow_datasets")

    def no_network(*unused: object, **unused_too: object) -> None:
        raise ConnectionError("the network is unreachable")

    monkeypatch.setattr(tfds.core.DatasetBuilder, "download_and_prepare", no_network)
    monkeypatch.setenv("TFDS_DATA_DIR", str(tmp_path))
    with pytest.raises(ZooError, match=r"network is unreachable.*tfds.load.*TFDS_DATA_DIR"):
        load_source("tfds:fashion_mnist")


def test_a_data_set_that_does_not_exist_is_named() -> None:
    pytest.importorskip("tensorflow_datasets")
    with pytest.raises(ZooError, match="does not know 'fashion_minst'"):
        load_source("tfds:fashion_minst")
