"""The Keras-2 `save_weights` file (hdf5): read and written directly, alike under every Keras.

Layout: attribute `layer_names` on the root; per layer a group with attribute `weight_names`, under
which each named data set is one weight. In a whole model that was saved as hdf5 the same stands in
the group `model_weights`.
"""

from __future__ import annotations

import contextlib
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import Any

import h5py
import numpy as np

from ingestion.errors import CorpusError, check_file
from ingestion.model_files.hdf5 import Shape, member, names, opened, read_array
from ingestion.model_files.keras_names import safe_name
from scoring.files import listed

Expected = tuple[str, list[Shape]]  # the name of a layer and the shapes of its weights

_LONGEST_ATTRIBUTE = 60_000  # bytes; hdf5 has 64 KB for all attributes of a group


def read_weights(
    path: Path, layers: Sequence[Expected], *, by_name: bool
) -> list[list[np.ndarray]]:
    """The weights of the layers, which all have some; found by name, or in the file's order.

    Everything is compared with what is expected before the first array is read.
    """
    with _root(path) as root:
        found = {name: _weight_names(root, name, path) for name in names(root, "layer_names", path)}
        found = {name: weights for name, weights in found.items() if weights}
        if len(found) != len(layers):
            raise CorpusError(
                path,
                f"has weights of {len(found)} layers; the model has {len(layers)} layers with some",
            )
        stored = {name: _stored_name(name, found) for name, _ in layers}
        missing = [name for name, there in stored.items() if there not in found]
        if by_name and missing:
            raise CorpusError(path, f"has no weights of the layers {', '.join(missing[:8])}")
        order = [stored[name] for name, _ in layers] if by_name else list(found)
        for name, (expected, shapes) in zip(order, layers):
            declared = [_declared(root, name, weight, path) for weight in found[name]]
            if declared != shapes:
                raise CorpusError(
                    path, f"layer {name} has shapes {declared}; {expected} expects {shapes}"
                )
        return [
            [
                read_array(root[name], weight, shape, path, f"layer {name}")
                for weight, shape in zip(found[name], shapes)
            ]
            for name, (_, shapes) in zip(order, layers)
        ]


def read_named_weights(path: Path, layer: str, expected: Sequence[tuple[str, Shape]]) -> list[Any]:
    """The weights of one layer of a whole model, whose last names must be those expected."""
    with _root(path) as root:
        known = names(root, "layer_names", path)
        layer = _stored_name(layer, known)
        if layer not in known:
            raise CorpusError(path, f"has no weights of the layer {layer}")
        found = _weight_names(root, layer, path)
        last = [name.split("/")[-1].split(":")[0] for name in found]
        if [*map(either_keras, last)] != [either_keras(name) for name, _ in expected]:
            raise CorpusError(
                path,
                f"layer {layer} has the weights {listed(last, 8)}; "
                f"the model has {listed((name for name, _ in expected), 8)}",
            )
        return [
            read_array(root[layer], name, shape, path, f"layer {layer}")
            for name, (_, shape) in zip(found, expected)
        ]


def _stored_name(layer: str, known: Collection[str]) -> str:
    """The name of a layer in the file, where Keras 2 may have written `conv1/conv`."""
    if layer in known:
        return layer
    return next((name for name in known if safe_name(name) == safe_name(layer)), layer)


def either_keras(name: str) -> str:
    """The kernel of a depthwise convolution has a name of its own in Keras 2."""
    return "kernel" if name == "depthwise_kernel" else name


def write_weights(path: Path, layers: Sequence[tuple[str, Sequence[tuple[str, Any]]]]) -> None:
    """Writes `(layer name, [(weight name such as "kernel:0", array), …])` as Keras 2 would."""
    with h5py.File(path, "w") as file:
        file.attrs["backend"] = b"tensorflow"
        file.attrs["keras_version"] = b"2.15.0"
        _write_names(file, "layer_names", [name for name, _ in layers])
        for name, weights in layers:
            group = file.require_group(name)
            _write_names(group, "weight_names", [f"{name}/{weight}" for weight, _ in weights])
            for weight, value in weights:
                array = np.asarray(value)
                stored = array if array.dtype == np.float64 else array.astype(np.float32)
                group.create_dataset(f"{name}/{weight}", data=stored)


def _write_names(group: Any, attribute: str, values: Sequence[str]) -> None:
    encoded = np.array([value.encode() for value in values], dtype="S" if values else "S1")
    parts = -(-encoded.nbytes // _LONGEST_ATTRIBUTE)
    if parts <= 1:
        group.attrs[attribute] = encoded
        return
    for i, part in enumerate(np.array_split(encoded, parts)):
        group.attrs[f"{attribute}{i}"] = part


@contextlib.contextmanager
def _root(path: Path) -> Iterator[Any]:
    """The group that has the layers."""
    check_file(path, "a model needs its weights")
    with opened(path) as file:
        found = member(file, "model_weights", path) or file
        if "layer_names" not in found.attrs and "layer_names0" not in found.attrs:
            raise CorpusError(path, "has no `layer_names`; expected a Keras-2 weight file")
        yield found


def _weight_names(root: Any, layer: str, path: Path) -> list[str]:
    group = member(root, layer, path)
    if not isinstance(group, h5py.Group):
        raise CorpusError(path, f"is not a whole hdf5 weight file: it has no layer {layer}")
    return names(group, "weight_names", path)


def _declared(root: Any, layer: str, weight: str, path: Path) -> Shape | None:
    """The shape that a data set says it has."""
    found = member(root[layer], weight, path)
    if not isinstance(found, h5py.Dataset):
        raise CorpusError(path, f"layer {layer} has no weight {weight}")
    return found.shape
