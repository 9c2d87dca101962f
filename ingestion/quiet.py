"""TensorFlow without its start-up messages, which no setting silences."""

from __future__ import annotations

import os
import sys


def import_tensorflow() -> None:
    """Imports TensorFlow with the standard error stream closed to its native code."""
    if "tensorflow" in sys.modules:
        return
    on_terminal = sys.stderr.isatty()
    if on_terminal:  # it takes seconds
        sys.stderr.write("\r\x1b[Kstarting TensorFlow …")
    sys.stderr.flush()
    saved, nowhere = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 2)
    try:
        import tensorflow  # noqa: F401
    finally:
        os.dup2(saved, 2)
        os.close(saved)
        os.close(nowhere)
        if on_terminal:
            sys.stderr.write("\r\x1b[K")
