"""Where results go, checked before anything is computed."""

from __future__ import annotations

import argparse
import os
import tempfile
from collections.abc import Callable
from pathlib import Path

from pgdl_measures.errors import PgdlError


def need_writable(folder: Path) -> None:
    """Makes the folder; raises where it cannot be made or written to."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise PgdlError(
            f"{folder}: results cannot be written there ({error.strerror}); name another folder"
        ) from error


def output_file(*suffixes: str) -> Callable[[str], Path]:
    """The type of an option, for argparse: a file to write, which replaces only its own kind."""

    def path(text: str) -> Path:
        found = Path(text)
        if os.path.isdir(text) or (os.path.isfile(text) and found.suffix not in suffixes):
            kind = " or ".join(suffixes)
            raise argparse.ArgumentTypeError(f"{text} exists and is no {kind} file; name another")
        return found

    return path
