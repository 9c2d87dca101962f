"""Signals as a terminal leaves them, and a working directory that tests leave as it was."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "1")  # as the command line does

# A shell ignores SIGINT for what it starts in the background, `nohup` ignores SIGHUP, and programs
# that a test starts inherit that.
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGHUP, signal.SIG_DFL)


_WRITTEN = {".png", ".svg", ".json", ".csv", ".html", ".zip"}  # by commands


@pytest.fixture(autouse=True, scope="module")
def _nothing_is_written_where_the_tests_run() -> Iterator[None]:
    """A command has default names for what it writes: a test must give it a folder of its own."""
    before = _files()
    yield
    written = _files() - before
    assert not written, f"a test wrote {sorted(written)} into the working directory"


def _files() -> set[str]:
    return {path.name for path in Path.cwd().iterdir() if path.suffix in _WRITTEN}
