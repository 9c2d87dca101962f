"""The folder that results go to, checked before anything is computed."""

from __future__ import annotations

import tempfile
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
