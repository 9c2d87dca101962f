"""Binary files from outside: a reader returns a value or says what is wrong, and nothing else.

See `fuzzing.py` for how, and for the number of inputs.
"""

from __future__ import annotations

import io
import json
import shutil
import zipfile
from pathlib import Path

import h5py
import numpy as np
import pytest
import tensorflow as tf
from fuzzing import fuzz
from hypothesis import strategies as st
from mutations import damaged_bytes, damaged_json

from ingestion.datasets.arrays import Split
from ingestion.datasets.data import load_dataset
from ingestion.datasets.shards import write_shards
from ingestion.datasets.sources import load_source
from ingestion.model_files.any_model import read_model
from ingestion.model_files.models import load_model
from ingestion.model_files.weights import write_weights
from pgdl_measures.data import training_data
from starting_kit_adapter.submission.unzip import unzip

SHAPE, CLASSES = (3, 3, 1), 2
CONFIG = {
    "model_config": [
        {"layer_name": "Conv2D", "filters": 2.0, "kernel_size": [2.0, 2.0], "activation": "relu"},
        {"layer_name": "Flatten"},
        {"layer_name": "Dense", "units": float(CLASSES)},
    ],
    "input_shape": list(SHAPE),
}
ODD_ARRAYS = {
    "float64 too large": np.full((8, CLASSES), 1e300),
    "not a number": np.full((8, CLASSES), np.nan, np.float32),
    "complex": np.ones((8, CLASSES), np.complex64),
    "text": np.full((8, CLASSES), b"text"),
    "compound": np.zeros((8, CLASSES), [("a", "f4"), ("b", "i4")]),
    "boolean": np.ones((8, CLASSES), bool),
    "scalar": np.float32(1),
    "no elements": np.zeros((0, CLASSES), np.float32),
    "another rank": np.zeros((8, CLASSES, 1), np.float32),
    "half": np.ones((8, CLASSES), np.float16),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model of the corpus; its weights are small, so that a mutation meets what tells of them."""
    found = tmp_path_factory.mktemp("model_0")
    (found / "config.json").write_text(json.dumps(CONFIG))
    kernel = np.arange(8, dtype=np.float32).reshape(2, 2, 1, 2)
    write_weights(
        found / "weights.hdf5",
        [
            ("conv2d", [("kernel:0", kernel), ("bias:0", np.zeros(2, np.float32))]),
            ("flatten", []),
            ("dense", [("kernel:0", np.ones((8, CLASSES))), ("bias:0", np.zeros(CLASSES))]),
        ],
    )
    load_model(found)
    return found


def test_configurations(folder, tmp_path):
    shutil.copytree(folder, tmp_path / "model_0")

    def read(data: bytes) -> None:
        (tmp_path / "model_0" / "config.json").write_bytes(data)
        load_model(tmp_path / "model_0")

    fuzz("config.json", read, damaged_json(CONFIG), 150)


def test_weights(folder, tmp_path):
    shutil.copytree(folder, tmp_path / "model_0")

    def read(data: bytes) -> None:
        (tmp_path / "model_0" / "weights.hdf5").write_bytes(data)
        load_model(tmp_path / "model_0")

    fuzz("weights.hdf5", read, damaged_bytes((folder / "weights.hdf5").read_bytes()), 150)


@st.composite
def odd_weights(draw: st.DrawFn, valid: Path) -> bytes:
    """A whole hdf5 file in which some object is missing or something else."""
    copied = io.BytesIO(valid.read_bytes())
    with h5py.File(copied, "r+") as file:
        names: list[str] = []
        file.visit(names.append)
        for _ in range(draw(st.integers(1, 2))):
            name = draw(st.sampled_from(names))
            if name not in file:
                continue
            kind = draw(
                st.sampled_from(["remove", "attribute", "loop", "link", "huge", *ODD_ARRAYS])
            )
            if kind == "attribute":
                holder = draw(st.sampled_from([file, file[name]]))
                attribute = draw(st.sampled_from(["layer_names", "weight_names", "backend"]))
                odd = [5, "x", np.array([b"x"] * 3), np.zeros((2, 2)), h5py.Empty("f4"), b"\xff"]
                holder.attrs[attribute] = odd[draw(st.integers(0, len(odd) - 1))]
                continue
            del file[name]
            if kind == "loop":
                file[name] = h5py.SoftLink("/")
            elif kind == "link":
                file[name] = h5py.ExternalLink("/etc/passwd", "/")
            elif kind == "huge":
                file.create_dataset(name, (2**40,), "f4", chunks=(2**20,))
            elif kind != "remove":
                file[name] = ODD_ARRAYS[kind]
    return copied.getvalue()


def test_weights_of_another_kind(folder, tmp_path):
    shutil.copytree(folder, tmp_path / "model_0")

    def read(data: bytes) -> None:
        (tmp_path / "model_0" / "weights.hdf5").write_bytes(data)
        load_model(tmp_path / "model_0")

    fuzz("weights.hdf5 (objects)", read, odd_weights(folder / "weights.hdf5"), 150)


@pytest.mark.parametrize("suffix", [".keras", ".h5"])
def test_saved_models(suffix, tmp_path):
    model = tf.keras.Sequential(
        [tf.keras.layers.Input(SHAPE), tf.keras.layers.Flatten(), tf.keras.layers.Dense(CLASSES)]
    )
    path = tmp_path / f"model{suffix}"
    model.save(path)
    read_model(path)

    def read(data: bytes) -> None:
        path.write_bytes(data)
        read_model(path)

    fuzz(f"*{suffix}", read, damaged_bytes(path.read_bytes()), 100)


def test_the_configuration_in_a_saved_model(tmp_path):
    model = tf.keras.Sequential(
        [tf.keras.layers.Input(SHAPE), tf.keras.layers.Flatten(), tf.keras.layers.Dense(CLASSES)]
    )
    path = tmp_path / "model.keras"
    model.save(path)
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}

    def read(data: bytes) -> None:
        with zipfile.ZipFile(path, "w") as archive:
            for name, content in {**members, "config.json": data}.items():
                archive.writestr(name, content)
        read_model(path)

    fuzz("*.keras (configuration)", read, damaged_json(json.loads(members["config.json"])), 100)


def test_shards(tmp_path):
    inputs = np.arange(4 * 9, dtype=np.float32).reshape(4, *SHAPE)
    write_shards(tmp_path / "train", Split(inputs, np.array([0, 1, 0, 1], np.int32)))
    (path,) = tmp_path.glob("train/*.tfrecord")

    def read(data: bytes) -> None:
        path.write_bytes(data)
        training_data(load_dataset([path]))

    fuzz("*.tfrecord", read, damaged_bytes(path.read_bytes()), 150)


def test_arrays(tmp_path):
    path = tmp_path / "a.npz"
    images, labels = np.zeros((6, *SHAPE), np.uint8), np.array([0, 1] * 3)
    np.savez(path, x_train=images, y_train=labels, x_test=images, y_test=labels)
    load_source(f"npz:{path}")

    def read(data: bytes) -> None:
        path.write_bytes(data)
        load_source(f"npz:{path}")

    fuzz("*.npz", read, damaged_bytes(path.read_bytes()), 300)


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_LZMA])
def test_submissions(method, tmp_path):
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", method) as archive:
        archive.writestr("complexity.py", "def complexity(model, dataset): return 1.0\n" * 5)
        archive.writestr("folder/weights.bin", bytes(100))
        archive.writestr("metadata", "description: d\n")

    def read(data: bytes) -> None:
        target = tmp_path / "unpacked"
        shutil.rmtree(target, ignore_errors=True)
        target.mkdir()
        (tmp_path / "s.zip").write_bytes(data)
        try:
            unzip(tmp_path / "s.zip", target)
        finally:
            assert {path.name for path in tmp_path.iterdir()} <= {"s.zip", "unpacked"}

    fuzz(f"submission.zip (method {method})", read, damaged_bytes(content.getvalue()), 200)
