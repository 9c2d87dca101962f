"""Where the data beside the project is, for the tests that check against it."""

from __future__ import annotations

from pathlib import Path

import pytest

SHARED = Path(__file__).resolve().parents[2] / "shared"

needs_shared = pytest.mark.skipif(
    not (SHARED / "data").is_dir(), reason="the data in ../shared/data is not there"
)
