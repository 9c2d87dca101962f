"""Images stay bytes, in their file where that is large, and are the same numbers as floats."""

from __future__ import annotations

import tracemalloc
from pathlib import Path

import numpy as np
import pytest
import tensorflow as tf

from ingestion.datasets import large_arrays, npz, sources
from ingestion.datasets.array_forms import make_split
from ingestion.datasets.arrays import ByteImages
from ingestion.datasets.sources import load_part
from ingestion.errors import ZooError
from pgdl_measures.adversarial.examination import examine
from pgdl_measures.network.compiled import network


def _write(path: Path, images: np.ndarray, labels: np.ndarray) -> str:
    np.savez(path, x_test=images, y_test=labels)
    return f"npz:{path}"


@pytest.fixture
def byte_images() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    images = rng.integers(256, size=(300, 20, 20, 3), dtype=np.uint8)
    return images, rng.integers(2, size=300)


def test_an_array_in_its_file_is_the_array(byte_images, tmp_path, monkeypatch):
    monkeypatch.setattr(npz, "LARGE", 1)
    source = _write(tmp_path / "a.npz", *byte_images)
    split = load_part(source, "test")
    assert isinstance(split.images, ByteImages) and isinstance(split.images.array, np.memmap)
    expected = make_split("test", *byte_images)
    np.testing.assert_array_equal(split.images[10:20], expected.images[10:20])
    np.testing.assert_array_equal(split.labels, expected.labels)
    limited = split.limited(50)
    np.testing.assert_array_equal(limited.images[:], expected.limited(50).images)


def test_a_file_with_objects_is_refused_in_its_file_too(tmp_path, monkeypatch):
    monkeypatch.setattr(npz, "LARGE", 1)
    path = tmp_path / "a.npz"
    np.savez(path, x_test=np.array([{}], object), y_test=np.zeros(1, int))
    with pytest.raises(ZooError, match=r"is not a whole \.npz file of plain arrays"):
        load_part(f"npz:{path}", "test")


def test_bytes_and_floats_give_one_examination(byte_images, tmp_path):
    split = load_part(_write(tmp_path / "a.npz", *byte_images), "test")
    floats = make_split("test", *byte_images)
    model = tf.keras.Sequential([tf.keras.layers.Flatten(), tf.keras.layers.Dense(2)])
    model.build((None, 14, 14, 3))
    bound = network(model, (14, 14, 3))
    one, other = (
        examine(bound, part.images, part.labels, eps=1).outcomes["strongest"].differences
        for part in (split, floats)
    )
    np.testing.assert_array_equal(one, other)


def test_the_memory_does_not_grow_with_the_images(tmp_path, monkeypatch):
    """79 MB of bytes in a file, which would be 315 MB as floats."""
    monkeypatch.setattr(npz, "LARGE", 1)
    path = tmp_path / "large.npz"
    _write(path, np.zeros((400, 256, 256, 3), np.uint8), np.zeros(400, int))
    model = tf.keras.Sequential(
        [tf.keras.layers.AveragePooling2D(32), tf.keras.layers.Flatten(), tf.keras.layers.Dense(2)]
    )
    model.build((None, 224, 224, 3))
    bound = network(model, (224, 224, 3))
    tracemalloc.start()
    split = load_part(f"npz:{path}", "test")
    examine(bound, split.images, split.labels, eps=1, generators=("random",))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 160e6  # the bytes and floats of a batch of 85 images, 17 and 67 MB


@pytest.fixture
def all_large(monkeypatch):
    monkeypatch.setattr(npz, "LARGE", 1)
    monkeypatch.setattr(large_arrays, "LARGE", 1)


@pytest.mark.parametrize("order", ["C", "F"])
def test_a_compressed_array_goes_through_a_file(
    byte_images, tmp_path, all_large, monkeypatch, order
):
    monkeypatch.setattr(npz, "PIECE", 1000)
    images, labels = byte_images
    np.savez_compressed(tmp_path / "a.npz", x=np.asarray(images, order=order), y=labels)
    found, found_labels = npz.read_arrays(tmp_path / "a.npz", ["x", "y"])
    assert isinstance(found, np.memmap)
    np.testing.assert_array_equal(found, images)
    np.testing.assert_array_equal(found_labels, labels)


def test_the_memory_does_not_grow_with_compressed_images_nor_resized_ones(tmp_path, all_large):
    """79 MB of bytes, compressed in a file, and as the images of a data set."""
    shape = (400, 256, 256, 3)
    np.savez_compressed(tmp_path / "a.npz", x_test=np.zeros(shape, np.uint8), y_test=[0] * 400)
    many = tf.data.Dataset.from_tensors((tf.ones([300, 256, 3], tf.uint8), 0)).repeat(400)
    tracemalloc.start()
    split = load_part(f"npz:{tmp_path / 'a.npz'}", "test")
    resized, _ = sources.stack_images(many, "many", 256, "short-side")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert len(split) == 400 and resized.shape == shape and (resized[-1] == 1).all()
    assert peak < 60e6  # a piece of 17 MB, and what decompresses it


def test_a_full_disk_is_told(tmp_path, all_large, monkeypatch):
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(large_arrays.os, "posix_fallocate", full)
    with pytest.raises(ZooError, match=r"has no room for 12 bytes .* set TMPDIR"):
        large_arrays.new_array((3, 4), np.uint8)


def test_the_shorter_side_is_scaled_and_the_other_cropped():
    """Against Pillow, whose bilinear filter is TensorFlow's with antialiasing."""
    image_module = pytest.importorskip("PIL.Image")
    rows, columns = np.indices((40, 100))
    image = np.stack([rows * 6, columns * 2, (rows + columns)], axis=-1).astype(np.uint8)
    dataset = tf.data.Dataset.from_tensors((image, 0))
    (found,), _ = sources.stack_images(dataset, "one", 20, "short-side")
    pillow = image_module.fromarray(image).resize((50, 20), image_module.Resampling.BILINEAR)
    expected = np.asarray(pillow)[:, 15:35]
    np.testing.assert_allclose(found.astype(int), expected.astype(int), atol=1)
    (stretched,), _ = sources.stack_images(dataset, "one", 20, "square")
    assert np.abs(stretched.astype(int) - expected).max() > 20
