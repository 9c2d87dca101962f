"""Importing a module of the user's: one that is installed, or a file of the working directory."""

from __future__ import annotations

import importlib
import os
import sys
from types import ModuleType


def import_own(module: str) -> ModuleType:
    """The module, found as `python -m` would find it; an ImportError where there is none."""
    look_in_working_directory()
    return importlib.import_module(module)


def look_in_working_directory() -> None:
    """Makes modules of the working directory importable; they come before installed ones."""
    if os.getcwd() not in sys.path:
        sys.path.insert(0, os.getcwd())
