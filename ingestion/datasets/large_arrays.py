"""New arrays that can be larger than the memory: a large one is in a temporary file."""

from __future__ import annotations

import math
import os
import tempfile
from collections.abc import Sequence
from typing import Literal

import numpy as np
import numpy.typing as npt

from ingestion.errors import ZooError

LARGE = 1 << 28  # bytes from which on an array is kept in a file


def new_array(
    shape: Sequence[int], dtype: npt.DTypeLike, order: Literal["C", "F"] = "C"
) -> np.ndarray:
    """An array to be filled. The file of a large one has no name, and is deleted with the array."""
    size = math.prod(shape) * np.dtype(dtype).itemsize
    if size < LARGE:
        return np.empty(shape, dtype, order)
    with tempfile.TemporaryFile() as file:
        try:
            if hasattr(os, "posix_fallocate"):  # macOS has none
                # Claims the space: writing to a mapped file on a full disk kills the process.
                os.posix_fallocate(file.fileno(), 0, size)
            else:
                file.truncate(size)
        except OSError as error:
            raise ZooError(
                f"the folder of temporary files, {tempfile.gettempdir()}, has no room for "
                f"{size:,} bytes of images ({error.strerror}); set TMPDIR to one that has"
            ) from error
        return np.memmap(file, dtype, "r+", shape=tuple(shape), order=order)
