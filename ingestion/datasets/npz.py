"""Arrays of an `.npz` file, read as data: never a pickle.

A large array that is stored without compression, as by `np.savez`, stays in its file and is read
where it is used. One that is compressed goes through a temporary file, piece by piece. Either can
be larger than the memory.
"""

from __future__ import annotations

import struct
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, Literal

import numpy as np

from ingestion.datasets.large_arrays import LARGE, new_array
from ingestion.errors import DAMAGED_ARCHIVE, ZooError

# What NumPy raises for the header of an array, which is a Python literal.
_DAMAGED_ARRAY = (
    *(OSError, ValueError, AttributeError, TypeError, KeyError, SyntaxError),
    *(struct.error, OverflowError, MemoryError, RecursionError),
)
PIECE = 1 << 24  # bytes of a compressed array that are read at a time
_LOCAL_HEADER = 30  # bytes before the name of a file within a zip archive


def read_arrays(path: Path, names: Sequence[str]) -> list[np.ndarray]:
    """The arrays of these names."""
    if not path.is_file():
        raise ZooError(f"{path}: no such file")
    try:
        with np.load(path, allow_pickle=False) as file:
            missing = [name for name in names if name not in file]
            if missing:
                there = f"has the arrays {', '.join(sorted(file))}" if len(file) else "is empty"
                arrays = ", ".join(f"{name}=…" for name in names)
                raise ZooError(
                    f"{path}: {there}; expected {', '.join(names)}: "
                    f"save it again by np.savez({path.name!r}, {arrays})"
                )
            return [_array(path, name, file) for name in names]
    except (*DAMAGED_ARCHIVE, *_DAMAGED_ARRAY) as error:
        raise ZooError(f"{path}: is not a whole .npz file of plain arrays ({error})") from error


def has_array(path: Path, name: str) -> bool:
    """Whether a file has an array of this name; a file that cannot be read has none."""
    try:
        with zipfile.ZipFile(path) as archive:
            return f"{name}.npy" in archive.namelist()
    except (OSError, zipfile.BadZipFile):
        return False


def _array(path: Path, name: str, file: Mapping[str, np.ndarray]) -> np.ndarray:
    with zipfile.ZipFile(path) as archive:
        found = archive.getinfo(f"{name}.npy")
        if found.file_size < LARGE:
            return file[name]
        if found.compress_type == zipfile.ZIP_STORED:
            return _mapped(path, found)
        with archive.open(found) as stream:
            return _decompressed(stream, name)


def _mapped(path: Path, found: zipfile.ZipInfo) -> np.ndarray:
    """The array in its place in the file."""
    with path.open("rb") as file:
        file.seek(found.header_offset + _LOCAL_HEADER - 4)
        name_bytes, extra_bytes = struct.unpack("<HH", file.read(4))
        file.seek(name_bytes + extra_bytes, 1)
        shape, order, dtype = _header(file, found.filename)
        return np.memmap(path, dtype, "r", file.tell(), shape, order)


def _decompressed(stream: IO[bytes], name: str) -> np.ndarray:
    shape, order, dtype = _header(stream, name)
    array = new_array(shape, dtype, order)
    values = array.reshape(-1, order=order).view(np.uint8)
    filled = 0
    while piece := stream.read(PIECE):
        values[filled : filled + len(piece)] = np.frombuffer(piece, np.uint8)
        filled += len(piece)
    if filled < len(values):
        raise ValueError(f"{name} ends after {filled:,} of {len(values):,} bytes")
    return array


def _header(file: IO[bytes], name: str) -> tuple[tuple[int, ...], Literal["C", "F"], np.dtype]:
    """Shape, order and type of the array that follows in the file."""
    version = np.lib.format.read_magic(file)
    formats = {(1, 0): np.lib.format.read_array_header_1_0}
    read = formats.get(version, np.lib.format.read_array_header_2_0)
    shape, fortran_order, dtype = read(file)
    if dtype.hasobject:
        raise ValueError(f"{name} holds Python objects")
    return shape, "F" if fortran_order else "C", dtype
