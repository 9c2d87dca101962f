"""One fake run for the tests that only read it."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # shared_data

from report_runs import FakeRun, write_run

from scoring.report.leaderboard import Leaderboard, leaderboard
from scoring.report.page import report_page
from starting_kit_adapter.terminal.curve_figures import curve_figures


@pytest.fixture(scope="session")
def fake(tmp_path_factory: pytest.TempPathFactory) -> FakeRun:
    return write_run(tmp_path_factory.mktemp("run"))


@pytest.fixture(scope="session")
def board(fake: FakeRun) -> Leaderboard:
    return leaderboard(fake.reference, fake.out, replicates=100)


@pytest.fixture(scope="session")
def page(board: Leaderboard) -> str:
    pytest.importorskip("matplotlib")
    curves = {task: curve_figures(board, task) for task in board.tasks}
    return report_page(board, name="a <zoo> & more", curves=curves)
