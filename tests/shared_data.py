"""Where data to check against is: published numbers among the tests, larger files beside us."""

from __future__ import annotations

from pathlib import Path

import pytest

PGDL = Path(__file__).resolve().parent / "data" / "pgdl"  # its README names the sources
SHARED = Path(__file__).resolve().parents[2] / "shared"

needs_shared = pytest.mark.skipif(
    not (SHARED / "data").is_dir(), reason="the data in ../shared/data is not there"
)
