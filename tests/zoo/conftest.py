"""One tiny zoo, built once for all tests that only look at it."""

from __future__ import annotations

from pathlib import Path

import pytest
from zoos import pgdl_zoo, write_grid


@pytest.fixture(scope="session")
def tiny_zoo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("sklearn")
    folder = tmp_path_factory.mktemp("tiny")
    root = folder / "zoo"
    grid = write_grid(folder)
    code = pgdl_zoo(
        "build", "--data", "digits", "--grid", grid, "-o", root, "--task", "t", "--workers", 2
    )
    assert code == 0
    return root
