"""Arrays of hdf5 files from outside: what a file declares is checked before any of it is read.

A file of a few bytes can declare gigabytes, point to other files, hold text or Python objects. An
array is read only where it is a plain numeric data set, in this file, of the shape that the model
has there.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import h5py
import numpy as np

from ingestion.errors import CorpusError, first_line

Shape = tuple[int, ...]


@contextlib.contextmanager
def opened(path: Path, content: Any = None) -> Iterator[h5py.File]:
    """An hdf5 file; `content` is where its bytes are, if not at `path`."""
    try:
        with h5py.File(path if content is None else content, "r") as file:
            yield file
    except CorpusError:
        raise
    except Exception as error:  # h5py raises most kinds of errors on damaged files
        raise CorpusError(path, f"is not a whole hdf5 file ({first_line(error)})") from error


def member(group: Any, name: str, path: Path) -> Any:
    """What stands in the group under a name, unless a link leads to another file; or None."""
    found = group
    for part in name.split("/"):
        if not isinstance(found, h5py.Group) or part in ("", ".", ".."):
            return None
        link = found.get(part, getlink=True)
        if link is None:
            return None
        if not isinstance(link, h5py.HardLink):
            raise CorpusError(path, f"{name} is a link to elsewhere, which is not followed")
        found = found[part]
    return found


def read_array(group: Any, name: str, shape: Shape, path: Path, owner: str) -> np.ndarray:
    """One data set, which must be plain numbers of that shape; `owner` is named in errors."""
    found = member(group, name, path)
    if not isinstance(found, h5py.Dataset):
        raise CorpusError(path, f"{owner} has no weight {name}")
    if found.shape != shape:
        raise CorpusError(
            path, f"{owner} has the weight {name} of shape {found.shape}; the model has {shape}"
        )
    if found.is_virtual or found.external:
        raise CorpusError(path, f"{owner}: the weight {name} lies in other files; none is opened")
    is_half = found.dtype.kind == "V" and found.dtype.itemsize == 2 and not found.dtype.names
    if found.dtype.kind not in "fiub" and not is_half:
        raise CorpusError(
            path, f"{owner}: the weight {name} is of type {found.dtype}; expected real numbers"
        )
    if found.chunks and np.prod(found.chunks, dtype=float) > 4 * found.size + 2**20:
        raise CorpusError(path, f"{owner}: the weight {name} is stored in chunks {found.chunks}")
    if found.size and not found.id.get_storage_size():  # it would be read as zeros
        raise CorpusError(path, f"{owner}: the weight {name} declares values, but none are stored")
    values = np.asarray(found)
    if is_half:  # a type that hdf5 does not have, saved as its two bytes
        values = (values.view(np.uint16).astype(np.uint32) << 16).view(np.float32)
    return checked_numbers(values.reshape(shape), path, owner)


def checked_numbers(values: np.ndarray, path: Path, owner: str) -> np.ndarray:
    """The numbers, none of them NaN or infinite, nor so as float32."""
    with np.errstate(over="ignore"):
        finite = np.isfinite(values.astype(np.float32)).all()
    if not finite:
        raise CorpusError(path, f"{owner} has weights that are NaN or infinite as float32")
    return values


def names(group: Any, attribute: str, path: Path) -> list[str]:
    """A list of names among the attributes; Keras splits long ones into `name0`, `name1`, …"""
    values: list[Any] = []
    parts = [attribute] if attribute in group.attrs else _parts(group, attribute)
    for part in parts:
        found = np.asarray(group.attrs[part])
        if found.ndim != 1 or (found.size and found.dtype.kind not in "SOU"):
            raise CorpusError(
                path, f"has the attribute {part} of type {found.dtype}; expected names"
            )
        values += found.tolist()
    decoded = [v.decode("utf-8", "replace") if isinstance(v, bytes) else str(v) for v in values]
    if len(set(decoded)) < len(decoded):
        raise CorpusError(path, f"names the same one twice in {attribute}")
    return decoded


def _parts(group: Any, attribute: str) -> list[str]:
    parts: list[str] = []
    while f"{attribute}{len(parts)}" in group.attrs:
        parts.append(f"{attribute}{len(parts)}")
    return parts
