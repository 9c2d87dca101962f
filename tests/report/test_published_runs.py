"""A run beside published results: rows of both, and what is said of their networks."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from report_runs import FakeRun, write_predictions, write_run
from scipy import stats
from verbs import run_verb

from scoring.cmi import cmi
from scoring.errors import ScoringError
from scoring.kit.reference import read_reference
from scoring.report.formats import average_sheet
from scoring.report.leaderboard import leaderboard
from scoring.report.notes import notes
from scoring.report.published_runs import beside_published
from starting_kit_adapter.cli import table

TASKS = ("alpha", "beta")
ROWS = ("small:knows", "small:guesses")


@pytest.fixture
def published(fake: FakeRun, tmp_path: Path) -> Path:
    """The fake run as a folder of published results."""
    folder = tmp_path / "small"
    shutil.copytree(fake.out, folder)
    shutil.copytree(fake.reference, folder / "reference")
    return folder


@pytest.fixture
def own(fake: FakeRun, tmp_path: Path) -> Path:
    """Another measure of the same networks."""
    for task in TASKS:
        write_predictions(tmp_path / "own" / "mine" / f"{task}.predict", fake.gaps[task] ** 3)
    return tmp_path / "own"


def _table(*arguments: object) -> int:
    return run_verb(table, *arguments)


def test_published_rows_stand_among_those_of_the_run(
    fake: FakeRun, own: Path, published: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = (own, "--reference", fake.reference, "--against", published, "--replicates", 10)
    assert _table(*arguments) == 0
    text = capsys.readouterr().out
    lines = [line.split() for line in text.splitlines()[3:7]]
    rows = {line[0]: float(line[1]) for line in lines if line[0] in ("mine", *ROWS)}
    of_task = [
        cmi(reference.codes, reference.gap, fake.values[reference.task]["guesses"]).score
        for reference in (
            read_reference(fake.reference / t / "model_configs.json", t) for t in TASKS
        )
    ]
    assert rows["small:guesses"] == pytest.approx(100 * np.mean(of_task), abs=1e-4)
    assert "small: are 3 published measures, of the same networks as yours" in text


def test_networks_with_other_gaps_are_named(fake: FakeRun, own: Path, published: Path) -> None:
    file = published / "reference" / "beta" / "model_configs.json"
    models = json.loads(file.read_text())
    models["3"]["metrics"]["test_acc"] -= 0.01
    file.write_text(json.dumps(models))
    board = leaderboard(fake.reference, own, replicates=10)
    both = beside_published(board, published, "small", replicates=10)
    assert "on beta of other networks than yours" in notes(both)[0]


def test_other_tasks_are_refused(own: Path, published: Path, tmp_path: Path) -> None:
    other = write_run(tmp_path / "other", tasks=("alpha", "gamma"))
    board = leaderboard(other.reference, other.out, replicates=0)
    with pytest.raises(ScoringError, match="your run lacks beta and has besides gamma"):
        beside_published(board, published, "small", replicates=0)


def test_unknown_results_are_one_sentence(fake: FakeRun, own: Path, tmp_path: Path) -> None:
    arguments = (own, "--reference", fake.reference, "--against")
    with pytest.raises(ScoringError, match="no published results 'nowhere'; expected a folder"):
        _table(*arguments, "nowhere")
    with pytest.raises(ScoringError, match="has no published results: expected the folders"):
        _table(*arguments, tmp_path)


def test_the_interval_of_an_average_is_that_of_a_bootstrap_over_tasks(tmp_path: Path) -> None:
    made = write_run(tmp_path, tasks=("a", "b", "c", "d", "e"))
    board = leaderboard(made.reference, made.out, replicates=0)
    row = next(row for row in board.rows if row.measure == "guesses")
    scores = 100 * np.array([entry.score for entry in row.entries.values()])
    theirs = stats.bootstrap((scores,), np.mean, n_resamples=20_000, method="percentile")
    assert row.interval.low == pytest.approx(theirs.confidence_interval.low, abs=1.5)
    assert row.interval.high == pytest.approx(theirs.confidence_interval.high, abs=1.5)
    taus = [stats.kendalltau(made.gaps[t], made.values[t]["guesses"]).statistic for t in made.gaps]
    assert row.kendall == pytest.approx(np.mean(taus))
    assert average_sheet(board).headers[2] == "95 % interval"
