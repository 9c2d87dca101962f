"""Standard input, output and error that take whatever is printed."""

from __future__ import annotations

import io
import os
import sys
from typing import TextIO


def prepare_streams() -> None:
    """Opens what was closed (`pgdl … >&-`), and prints what the terminal's encoding has not.

    A file that is opened while a standard stream is closed would take its number, and get what
    libraries print. A character may be unknown to the encoding, as `×` is to ASCII, and the name of
    a file may be bytes that are text in no encoding: these are printed as `\\xd7` and `\\udce9`.
    """
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # the lowest free number, which is this one
    sys.stdout = _lenient(sys.stdout, 1)
    sys.stderr = _lenient(sys.stderr, 2)


def _lenient(stream: TextIO | None, number: int) -> TextIO:
    if stream is None:
        return open(number, "w", errors="backslashreplace", closefd=False)
    if isinstance(stream, io.TextIOWrapper):
        stream.reconfigure(errors="backslashreplace")
    return stream
