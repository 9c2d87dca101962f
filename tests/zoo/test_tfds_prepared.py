"""`tfds:NAME` on real data directories: small data sets that are prepared here, and read back."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ingestion.datasets.sources import load_source
from ingestion.errors import ZooError

tfds = pytest.importorskip("tensorflow_datasets")

SIZES = [(6, 5, 3)] * 12
CLASSES = [i % 3 for i in range(12)]


def _prepare(folder: Path, name: str, **changes: Any) -> list[np.ndarray]:
    """Writes a data set of that name, as `tfds build` does, and returns its images."""
    settings = {
        "dtype": np.uint8,
        "sizes": SIZES,
        "label": tfds.features.ClassLabel(num_classes=3),
        "labels": CLASSES,
        "splits": {"train": range(8), "test": range(8, 12)},
        "keys": ("image", "label"),
        **changes,
    }
    rng = np.random.default_rng(0)
    images = [rng.integers(0, 256, size).astype(settings["dtype"]) for size in settings["sizes"]]

    with tfds.core.registered.skip_registration():  # it is found by its folder, as a user's is

        class Tiny(tfds.core.GeneratorBasedBuilder):
            VERSION = tfds.core.Version("1.0.0")
            pkg_dir_path = folder  # where its code and metadata are

            def _info(self) -> Any:
                shape = (None, None, 3) if len(set(settings["sizes"])) > 1 else settings["sizes"][0]
                floats = settings["dtype"] == np.float32
                kind = tfds.features.Tensor if floats else tfds.features.Image
                image = kind(shape=shape, dtype=settings["dtype"])
                features = tfds.features.FeaturesDict({"image": image, "label": settings["label"]})
                return tfds.core.DatasetInfo(
                    builder=self, features=features, supervised_keys=settings["keys"]
                )

            def _split_generators(self, manager: Any) -> dict[str, Any]:
                return {name: self._generate_examples(r) for name, r in settings["splits"].items()}

            def _generate_examples(self, rows: range) -> Iterator[tuple[int, dict[str, Any]]]:
                for i in rows:
                    yield i, {"image": images[i], "label": settings["labels"][i]}

    Tiny.name = name
    Tiny(data_dir=folder).download_and_prepare()
    return images


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TFDS_DATA_DIR", str(tmp_path))
    return tmp_path


def test_a_prepared_data_set_is_read_from_its_folder(folder: Path) -> None:
    images = _prepare(folder, "tiny_bytes")
    data = load_source("tfds:tiny_bytes")
    assert data.shape == (6, 5, 3) and (len(data.train), len(data.test)) == (8, 4)
    ours = {image.tobytes() for image in np.round(255 * data.train.images).astype(np.uint8)}
    assert ours == {image.tobytes() for image in images[:8]}
    assert load_source("tfds:tiny_bytes", image_size=4).shape == (4, 4, 3)


def test_floats_stay_as_they_are(folder: Path) -> None:
    images = _prepare(folder, "tiny_floats", dtype=np.float32)
    data = load_source("tfds:tiny_floats")
    assert {i.tobytes() for i in data.test.images} == {i.tobytes() for i in images[8:]}
    resized = load_source("tfds:tiny_floats", image_size=2).test.images
    assert (resized != np.round(resized)).any()


def test_training_data_alone_is_enough_where_no_test_data_is_needed(folder: Path) -> None:
    _prepare(folder, "tiny_train_only", splits={"train": range(12)})
    data = load_source("tfds:tiny_train_only", need_test=False)
    assert (len(data.train), len(data.test)) == (12, 0)
    _prepare(folder, "tiny_both")
    assert len(load_source("tfds:tiny_both", need_test=False).test) == 4


@pytest.mark.parametrize(
    ("name", "changes", "message"),
    [
        ("tiny_sixteen", {"dtype": np.uint16},
         "the images of 'tiny_sixteen' are uint16; expected uint8 or float32"),
        ("tiny_sizes", {"sizes": [(5 + i, 6, 3) for i in range(12)]},
         r"the images of 'tiny_sizes' have different sizes, from \(5, 6, 3\) to \(12, 6, 3\); "
         "give --image-size N"),
        ("tiny_texts", {"label": tfds.features.Text(), "labels": [f"c{i % 3}" for i in range(12)]},
         "the labels of 'tiny_texts' are object, not numbers of classes; prepare it with Class"),
        ("tiny_train", {"splits": {"train": range(12)}},
         "the data set 'tiny_train' has no split 'test'; it has train"),
        ("tiny_keys", {"keys": None}, "'tiny_keys' does not say which of its features are image"),
    ],
)  # fmt: skip
def test_what_cannot_be_trained_on_is_said_in_a_sentence(
    name: str, changes: dict[str, Any], message: str, folder: Path
) -> None:
    _prepare(folder, name, **changes)
    with pytest.raises(ZooError, match=message):
        load_source(f"tfds:{name}")
