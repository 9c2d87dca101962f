"""Weight files from outside: what does not fit the model is refused before it is read."""

from __future__ import annotations

import io
import json
import resource
import zipfile
from collections.abc import Callable
from pathlib import Path

import h5py
import numpy as np
import pytest
from corpora import layer, write_model
from models.networks import NETWORKS, filled

from ingestion.errors import CorpusError
from ingestion.model_files.any_model import read_model
from ingestion.model_files.models import load_model

pytestmark = pytest.mark.keras2


@pytest.fixture()
def folder(tmp_path: Path) -> Path:
    config = {"model_config": [layer("Dense", units=2)], "input_shape": [3]}
    write_model(tmp_path / "model_0", config, seed=0, initial=False)
    return tmp_path / "model_0"


def _replaced(folder: Path, make: Callable[[h5py.Group, str], object]) -> None:
    """The file of the folder with another kernel."""
    with h5py.File(folder / "weights.hdf5", "a") as file:
        name = file.attrs["layer_names"][0].decode()
        group = file[name]
        kernel = group.attrs["weight_names"][0].decode()
        del group[kernel]
        make(group, kernel)


def _dataset(**arguments: object) -> Callable[[h5py.Group, str], object]:
    return lambda group, name: group.create_dataset(name, **arguments)


def _external(group: h5py.Group, name: str) -> None:
    group.create_dataset(name, (3, 2), "f4", external=[("/etc/passwd", 0, 24)])


def _virtual(group: h5py.Group, name: str) -> None:
    layout = h5py.VirtualLayout((3, 2), "f4")
    layout[:] = h5py.VirtualSource("/etc/passwd", "x", (3, 2))
    group.create_virtual_dataset(name, layout)


def _linked(group: h5py.Group, name: str) -> None:
    group[name] = h5py.ExternalLink("/etc/passwd", "/x")


def _soft(group: h5py.Group, name: str) -> None:
    group[name] = h5py.SoftLink("/nowhere")


def _group(group: h5py.Group, name: str) -> None:
    group.create_group(name)


COMPOUND = np.dtype([("a", "f4"), ("b", "f4")])
BAD: dict[str, tuple[Callable[[h5py.Group, str], object], str]] = {
    "4 GB": (_dataset(shape=(32768, 32768), dtype="f4", chunks=True), r"shapes \[\(32768, 32768\)"),
    "8 EB": (_dataset(shape=(2**30, 2**30), dtype="f8", chunks=True), "shapes"),
    "1e300": (_dataset(data=np.full((3, 2), 1e300)), "NaN or infinite"),
    "NaN": (_dataset(data=np.full((3, 2), np.nan)), "NaN or infinite"),
    "complex": (_dataset(data=np.ones((3, 2), complex)), "is of type complex128; expected real"),
    "text": (_dataset(data=np.full((3, 2), b"x")), r"is of type \|S1; expected real"),
    "strings": (_dataset(shape=(3, 2), dtype=h5py.string_dtype()), "is of type object"),
    "ragged": (_dataset(shape=(3, 2), dtype=h5py.vlen_dtype("f4")), "is of type object"),
    "compound": (_dataset(data=np.zeros((3, 2), COMPOUND)), "expected real numbers"),
    "empty": (_dataset(data=h5py.Empty("f4")), r"shapes \[None"),
    "never written": (_dataset(shape=(3, 2), dtype="f4"), "declares .* but none are stored"),
    "no numbers": (_dataset(data=np.zeros((0, 2))), r"shapes \[\(0, 2\)"),
    "one number": (_dataset(data=1.0), r"shapes \[\(\)"),
    "a huge chunk": (
        _dataset(shape=(3, 2), maxshape=(None, None), dtype="f4", chunks=(2**14, 2**14)),
        "is stored in chunks",
    ),
    "external data": (_external, "lies in other files"),
    "virtual data": (_virtual, "lies in other files"),
    "a link to another file": (_linked, "is a link to elsewhere"),
    "a link to nowhere": (_soft, "is a link to elsewhere"),
    "a group": (_group, "has no weight"),
    "nothing": (lambda group, name: None, "has no weight"),
}


@pytest.mark.parametrize("name", BAD)
def test_a_bad_array_is_named_and_nothing_large_is_read(folder: Path, name: str) -> None:
    make, message = BAD[name]
    _replaced(folder, make)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(CorpusError, match=message) as caught:
        load_model(folder)
    assert len(str(caught.value).splitlines()) == 1 and "weights.hdf5" in str(caught.value)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 500 * 1024  # KB


def _attribute(value: object) -> Callable[[h5py.File], None]:
    def change(file: h5py.File) -> None:
        file.attrs["layer_names"] = value

    return change


@pytest.mark.parametrize(
    "change",
    [
        _attribute(5),
        _attribute(np.zeros((2, 2))),
        _attribute(np.array([b"nowhere"])),
        _attribute(np.array([b"..", b"/"])),
        _attribute(np.array([b"\xff\xfe"])),
        _attribute(h5py.Empty("S1")),
        lambda file: file.attrs.pop("layer_names"),
        lambda file: file.create_dataset("model_weights", data=1),
    ],
)
def test_other_contents_are_refused(folder: Path, change: Callable[[h5py.File], None]) -> None:
    with h5py.File(folder / "weights.hdf5", "a") as file:
        change(file)
    with pytest.raises(CorpusError, match=r"weights\.hdf5"):
        load_model(folder)


def _rewritten(path: Path, change: Callable[[dict[str, bytes]], None]) -> None:
    with zipfile.ZipFile(path) as file:
        members = {name: file.read(name) for name in file.namelist()}
    change(members)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        for name, content in members.items():
            file.writestr(name, content)


def _without_weights(members: dict[str, bytes]) -> None:
    content = io.BytesIO(members["model.weights.h5"])
    with h5py.File(content, "a") as file:
        del file["layers/conv2d/vars/0"]
    members["model.weights.h5"] = content.getvalue()


def _other_shape(members: dict[str, bytes]) -> None:
    content = io.BytesIO(members["model.weights.h5"])
    with h5py.File(content, "a") as file:
        del file["layers/conv2d/vars/0"]
        file.create_dataset("layers/conv2d/vars/0", (32768, 32768), "f4", chunks=True)
    members["model.weights.h5"] = content.getvalue()


ZIPS: dict[str, tuple[Callable[[dict[str, bytes]], object], str]] = {
    "no configuration": (lambda m: m.pop("config.json"), r"it has no config\.json"),
    "no weights": (lambda m: m.pop("model.weights.h5"), r"it has no model\.weights\.h5"),
    "a folder": (
        lambda m: m.update({"config.json/": b""}) or m.pop("config.json"),  # type: ignore[func-returns-value]
        r"it has no config\.json",
    ),
    "a bomb": (lambda m: m.update({"config.json": b" " * 2**26}), "to 67108864"),
    "weights that are a bomb": (
        lambda m: m.update({"model.weights.h5": bytes(2**28)}),
        "to 268435456",
    ),
    "brackets": (lambda m: m.update({"config.json": b"[" * 200_000}), "nested too deeply"),
    "no JSON": (lambda m: m.update({"config.json": b"\xff"}), "not JSON"),
    "a number": (lambda m: m.update({"config.json": b"5"}), "has no configuration; found 5"),
    "weights that are none": (lambda m: m.update({"model.weights.h5": b"x"}), "not a whole hdf5"),
    "an array less": (_without_weights, "layer .* has no weight layers/conv2d/vars/0"),
    "an array of 4 GB": (_other_shape, r"of shape \(32768, 32768\); the model has"),
}


@pytest.mark.parametrize("name", ZIPS)
def test_a_keras_file_that_is_not_whole_is_named(tmp_path: Path, name: str) -> None:
    change, message = ZIPS[name]
    path = tmp_path / "mine.keras"
    filled(NETWORKS["residual"]()).save(path)
    _rewritten(path, change)  # type: ignore[arg-type]
    with pytest.raises(CorpusError, match=message) as caught:
        read_model(path)
    assert "mine.keras" in str(caught.value)


def test_a_cut_off_file_is_named_wherever_it_is_cut(tmp_path: Path) -> None:
    for suffix in ("keras", "h5"):
        path = tmp_path / f"mine.{suffix}"
        filled(NETWORKS["chain"]()).save(path)
        content = path.read_bytes()
        for part in (0.0, 0.3, 0.6, 0.9):
            path.write_bytes(content[: int(part * len(content))])
            with pytest.raises(CorpusError, match=path.name):
                read_model(path)


def test_metadata_of_a_saved_model_is_only_data(tmp_path: Path) -> None:
    (tmp_path / "saved_model.pb").touch()
    for content in (b"\xff", b"\x0a\xff\xff\xff\x7f", b"\x0a\x02\x1a\x00", json.dumps({}).encode()):
        (tmp_path / "keras_metadata.pb").write_bytes(content)
        with pytest.raises(CorpusError, match=r"keras_metadata\.pb"):
            read_model(tmp_path)
