"""One zoo of three runs of one network, trained by the rescaled protocol."""

from __future__ import annotations

from pathlib import Path

import pytest
from runs import pgdl_zoo, stripes, write_grid, write_npz


@pytest.fixture(scope="session")
def source(tmp_path_factory: pytest.TempPathFactory) -> str:
    return write_npz(tmp_path_factory.mktemp("data") / "stripes.npz", stripes())


@pytest.fixture(scope="session")
def rescaled_zoo(tmp_path_factory: pytest.TempPathFactory, source: str) -> Path:
    folder = tmp_path_factory.mktemp("rescaled")
    arguments = ("build", "--data", source, "--grid", write_grid(folder), "-o", folder / "zoo")
    options = ("--protocol", "rescaled", "--eps", 1, "--repeats", 3, "--workers", 1)
    assert pgdl_zoo(*arguments, *options) == 0
    return folder / "zoo"
