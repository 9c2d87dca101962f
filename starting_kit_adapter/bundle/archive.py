"""Zip files that are the same bytes whenever and wherever they are written.

Names are sorted, times and permissions are fixed, and nothing is compressed: what a compressor
writes depends on its version, and sources are small while weights hardly shrink.
"""

from __future__ import annotations

import io
import shutil
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Union

from scoring.files import replacing
from starting_kit_adapter.bundle.errors import BundleError

Content = Union[bytes, Path]  # a file's bytes, or where to copy them from

_TIME = (1980, 1, 1, 0, 0, 0)  # the earliest that a zip can say
_UNIX = 3
_PERMISSIONS = 0o100644 << 16  # a regular file, rw-r--r--


def write_zip(path: Path, files: Mapping[str, Content]) -> None:
    """Writes a zip of `files` (by their names in it), whole or not at all."""
    try:
        with replacing(path) as file:
            _write(file, files)
    except OSError as error:
        raise BundleError(f"cannot write {path}: {error}") from error


def zip_bytes(files: Mapping[str, Content]) -> bytes:
    """The zip of `files` itself, for a zip within a zip."""
    buffer = io.BytesIO()
    _write(buffer, files)
    return buffer.getvalue()


def _write(file: IO[bytes], files: Mapping[str, Content]) -> None:
    with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
        for name in sorted(files):
            entry = zipfile.ZipInfo(name, _TIME)
            entry.create_system, entry.external_attr = _UNIX, _PERMISSIONS
            content = files[name]
            if isinstance(content, bytes):
                archive.writestr(entry, content)
            else:
                entry.file_size = content.stat().st_size  # decides if 64-bit sizes are needed
                with content.open("rb") as source, archive.open(entry, "w") as target:
                    shutil.copyfileobj(source, target)
