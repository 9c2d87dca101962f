"""Importing a module of the user's: one that is installed, or a file of the working directory."""

from __future__ import annotations

import importlib
import os
import sys
from types import ModuleType

from pgdl_measures.errors import PgdlError, with_place


def import_own(module: str) -> ModuleType:
    """The module, found as `python -m` would find it; an ImportError where there is none.

    A `PgdlError` says what else went wrong in the module, and where.
    """
    look_in_working_directory()
    try:
        return importlib.import_module(module)
    except ImportError:
        raise
    except Exception as error:  # whatever the module does
        raise PgdlError(f"the module {module!r} cannot be imported: {with_place(error)}") from error


def look_in_working_directory() -> None:
    """Makes modules of the working directory importable; they come before installed ones."""
    if os.getcwd() not in sys.path:
        sys.path.insert(0, os.getcwd())
