"""What is wrong with a corpus, and in which file; and what a zoo cannot be made of."""

from __future__ import annotations

import lzma
import stat
import zipfile
import zlib
from pathlib import Path

from pgdl_measures.errors import PgdlError

# What `zipfile` raises for a damaged, encrypted or exotic archive, besides OSError and ValueError.
DAMAGED_ARCHIVE = (
    *(zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError),
    *(RuntimeError, NotImplementedError),
)


class CorpusError(PgdlError):
    """One file or folder of a corpus is not what it should be."""

    def __init__(self, path: Path, problem: str) -> None:
        super().__init__(f"{path}: {problem}")
        self.path = path
        self.problem = problem


class ZooError(PgdlError):
    """A zoo cannot be built or added to as asked; the message says why and what to do instead."""


def check_file(path: Path, need: str) -> None:
    """Raises a `CorpusError` where there is no regular file that may be read.

    A pipe or a device is refused before it is opened: it may never end. Whether a file may be read
    is found out by opening it: `os.access` ignores capabilities.
    """
    try:
        status = path.stat()
    except FileNotFoundError as error:
        raise CorpusError(path, f"is missing; {need}") from error
    except OSError as error:
        raise CorpusError(path, f"cannot be read ({error.strerror})") from error
    if not stat.S_ISREG(status.st_mode):
        raise CorpusError(path, f"is not a regular file; {need}")
    try:
        path.open("rb").close()
    except OSError as error:
        raise CorpusError(path, f"cannot be read ({error.strerror})") from error


def first_line(error: BaseException) -> str:
    """What an error of another library says, without what follows."""
    lines = str(error).strip().splitlines()
    return lines[0][:300] if lines else type(error).__name__
