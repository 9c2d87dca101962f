"""A zoo survives being killed, refuses to be mixed, and does not depend on who trained what."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest
from live_processes import assert_ended, children
from zoos import TINY_GRID, pgdl_zoo, weight_digests, write_grid

from ingestion.datasets.sources import load_source
from ingestion.errors import ZooError
from ingestion.processes import ChildProcess
from ingestion.zoo import workers
from ingestion.zoo.build import Plan
from ingestion.zoo.grid import Grid, parse_grid
from ingestion.zoo.jobs import Place
from ingestion.zoo.layout import Zoo
from pgdl_measures.errors import PgdlError
from scoring.cmi import cmi
from scoring.errors import ScoringError

pytest.importorskip("sklearn")


def _arguments(grid: Path, root: Path) -> list[object]:
    return ["build", "--data", "digits", "--grid", grid, "-o", root, "--task", "t"]


def _plan(grid: Grid) -> Plan:
    return Plan("t", {"digits": "digits"}, {"digits": load_source("digits")}, grid)


def _modified(root: Path) -> dict[Path, int]:
    return {path: path.stat().st_mtime_ns for path in root.glob("input_data/t/model_*/*.hdf5")}


def test_a_killed_build_goes_on_to_the_same_zoo_without_retraining(
    tiny_zoo: Path, tmp_path: Path
) -> None:
    root = tmp_path / "zoo"
    arguments = [*_arguments(write_grid(tmp_path), root), "--workers", 1]
    # A session of its own, so that the kill cannot reach the tests.
    builder = subprocess.Popen(
        [sys.executable, "-c", "import sys, zoos; sys.exit(zoos.pgdl_zoo(*sys.argv[1:]))"]
        + [str(argument) for argument in arguments],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        start_new_session=True,
    )
    while not _modified(root) and builder.poll() is None:
        time.sleep(0.01)
    workers = children(builder.pid)
    builder.send_signal(signal.SIGKILL)
    assert builder.wait() == -signal.SIGKILL
    assert_ended(*workers)  # they notice
    finished = _modified(root)
    assert 0 < len(finished) < 8
    assert not (root / "reference_data").exists()  # a partial zoo does not look whole

    assert pgdl_zoo(*arguments) == 0
    assert finished.items() <= _modified(root).items()
    # Equal to the zoo that two workers built without a break.
    assert weight_digests(root) == weight_digests(tiny_zoo)
    assert (root / "reference_data/t/model_configs.json").read_text() == (
        tiny_zoo / "reference_data/t/model_configs.json"
    ).read_text()


@pytest.mark.parametrize(
    ("options", "named"),
    [
        (["--seed", 1], "seed: built with 0, now 1"),
        (["--train-examples", 90], "data: "),
        (["--max-epochs", 5], "grid.max_epochs: built with 60, now 5"),
        (["--repeats", 2], "repeats: built with 1, now 2"),
    ],
)
def test_other_settings_are_refused_and_named(
    tiny_zoo: Path, tmp_path: Path, options: list[object], named: str
) -> None:
    before = _modified(tiny_zoo)
    with pytest.raises(ZooError, match=named):
        pgdl_zoo(*_arguments(write_grid(tmp_path), tiny_zoo), *options)
    assert _modified(tiny_zoo) == before


def test_a_folder_of_someone_elses_is_not_touched(tmp_path: Path) -> None:
    (tmp_path / "zoo/input_data/t").mkdir(parents=True)
    with pytest.raises(ZooError, match="was not built by"):
        pgdl_zoo(*_arguments(write_grid(tmp_path), tmp_path / "zoo"))


def test_two_builders_of_one_zoo_are_one_too_many(tiny_zoo: Path, tmp_path: Path) -> None:
    with Zoo(tiny_zoo).locked(), pytest.raises(ZooError, match="another process"):
        pgdl_zoo(*_arguments(write_grid(tmp_path), tiny_zoo))


@pytest.mark.parametrize("writer", ["os.fsync", "ingestion.zoo.layout.write_weights"])
def test_a_full_disk_is_said_as_such_and_leaves_no_model(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, writer: str
) -> None:
    def no_space(*arguments: object) -> None:
        raise OSError(28, "No space left on device")

    zoo, record = Zoo(tmp_path), {"hparams": {}, "metrics": {}}
    monkeypatch.setattr(writer, no_space)
    with pytest.raises(PgdlError, match=r"cannot write .*: .*No space left"):
        zoo.write_model("t", 0, {}, {"weights.hdf5": []}, record)
    assert not zoo.records("t") and not zoo.task_folder("t").exists()


@pytest.mark.parametrize("before_its_job", [True, False])
def test_a_worker_that_dies_costs_one_model(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    before_its_job: bool,
) -> None:
    grid = write_grid(tmp_path, hparams={"width": [2, 4]}, max_epochs=1)
    root, start, started = tmp_path / "zoo", workers.start_worker, []

    def start_and_kill_the_first(place: Place) -> ChildProcess:
        child = start(place)
        started.append(child)
        if len(started) == 1:
            child.kill()
            if before_its_job:
                assert child.exit_code(10) == -signal.SIGKILL
        return child

    monkeypatch.setattr(workers, "start_worker", start_and_kill_the_first)
    assert pgdl_zoo(*_arguments(grid, root), "--workers", 1) == 1
    assert "model_0 failed: the worker was ended by SIGKILL" in capsys.readouterr().err
    assert list(Zoo(root).records("t")) == [1]


def test_what_a_worker_finished_before_it_died_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    grid = parse_grid(TINY_GRID, "the tiny grid")
    jobs = _plan(grid).jobs[:3]
    monkeypatch.setattr(workers, "WORKER", "forgetful_worker")
    outcomes = list(workers.run_jobs(jobs, Place(Path(), "t", 1), workers=1))
    assert [outcome.job for outcome in outcomes] == jobs
    assert [outcome.problem for outcome in outcomes] == [
        None,
        "the worker ended with exit code 0",
        None,
    ]


@pytest.mark.parametrize(
    ("hparams", "repeats", "can_be"),
    [
        ({"width": [2, 4], "dropout": [0.0, 0.5]}, 1, False),
        ({"width": [2, 4], "dropout": [0.0, 0.5]}, 2, True),
        ({"width": [2, 4], "dropout": [0.0, 0.5], "blocks": [1, 2]}, 1, True),
    ],
)
def test_whether_a_zoo_can_be_scored_is_known_before_it_is_trained(
    hparams: dict[str, list[float]], repeats: int, can_be: bool
) -> None:
    fixed = {k: v for k, v in TINY_GRID["fixed"].items() if k not in hparams}
    grid = parse_grid({**TINY_GRID, "hparams": hparams, "fixed": fixed}, "a grid")
    plan = _plan(replace(grid, repeats=repeats))
    assert plan.can_be_scored is can_be
    names = list(hparams)
    codes = [[hparams[name].index(job.hparams[name]) for name in names] for job in plan.jobs]
    gap = list(range(len(codes)))
    if can_be:
        assert cmi(codes, gap, gap).score == pytest.approx(1)
    else:
        with pytest.raises(ScoringError, match="undefined"):
            cmi(codes, gap, gap)


def test_repeats_differ_by_their_seed_only() -> None:
    grid = parse_grid(TINY_GRID, "the tiny grid")
    jobs = _plan(replace(grid, repeats=3)).jobs
    assert sorted(job.model for job in jobs) == list(range(12))
    assert len({job.seed for job in jobs}) == 12
    for job in jobs:
        assert job.hparams == grid.cells()[job.model // 3]
        assert job.repeat == job.model % 3
