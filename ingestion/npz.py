"""Arrays of an `.npz` file, read as data: never a pickle.

An array that is stored without compression, as by `np.savez`, stays in its file and is read where
it is used, so that it can be larger than the memory.
"""

from __future__ import annotations

import struct
import zipfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from ingestion.errors import DAMAGED_ARCHIVE, ZooError

# What NumPy raises for the header of an array, which is a Python literal.
_DAMAGED_ARRAY = (
    *(OSError, ValueError, AttributeError, TypeError, KeyError, SyntaxError),
    *(struct.error, OverflowError, MemoryError, RecursionError),
)
_LARGE = 1 << 28  # bytes from which on an array stays in its file
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
                raise ZooError(f"{path}: {there}; expected {', '.join(names)}")
            return [_mapped(path, name) if _is_large(path, name) else file[name] for name in names]
    except (*DAMAGED_ARCHIVE, *_DAMAGED_ARRAY) as error:
        raise ZooError(f"{path}: is not a whole .npz file of plain arrays ({error})") from error


def has_array(path: Path, name: str) -> bool:
    """Whether a file has an array of this name; a file that cannot be read has none."""
    try:
        with zipfile.ZipFile(path) as archive:
            return f"{name}.npy" in archive.namelist()
    except (OSError, zipfile.BadZipFile):
        return False


def _is_large(path: Path, name: str) -> bool:
    with zipfile.ZipFile(path) as archive:
        found = archive.getinfo(f"{name}.npy")
    return found.compress_type == zipfile.ZIP_STORED and found.file_size >= _LARGE


def _mapped(path: Path, name: str) -> np.ndarray:
    """The array in its place in the file."""
    with zipfile.ZipFile(path) as archive:
        start = archive.getinfo(f"{name}.npy").header_offset
    with path.open("rb") as file:
        file.seek(start + _LOCAL_HEADER - 4)
        name_bytes, extra_bytes = struct.unpack("<HH", file.read(4))
        file.seek(name_bytes + extra_bytes, 1)
        version = np.lib.format.read_magic(file)
        formats = {(1, 0): np.lib.format.read_array_header_1_0}
        read = formats.get(version, np.lib.format.read_array_header_2_0)
        shape, fortran_order, dtype = read(file)
        if dtype.hasobject:
            raise ValueError(f"{name} holds Python objects")
        return np.memmap(path, dtype, "r", file.tell(), shape, "F" if fortran_order else "C")
