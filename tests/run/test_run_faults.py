"""Faults with real processes: a bad model costs itself alone, and says why."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import time
from pathlib import Path

import faulty_measures as faults
import pytest
from live_processes import PATIENCE, assert_ended, children
from run_zoo import (
    pgdl_run,
    predictions,
    records,
    start_pgdl_run,
    write_model,
    write_zoo,
)

pytestmark = pytest.mark.keras2

FAULTY = "faulty_measures:faulty"
BAD = {
    "model_1": (faults.HANG, "stopped after 20 seconds"),
    "model_2": (faults.ALLOCATE, "of memory; the limit is 1.20 GB"),
    "model_3": (faults.CRASH, "ended by SIGSEGV"),
    "model_4": (faults.NAN, "faulty is nan for this model"),
    "model_5": (faults.RAISE, "ValueError: this model is not to my taste (faulty_measures.py"),
    "model_6": (faults.ORPHAN, "ended by SIGKILL"),
}


@pytest.fixture(scope="module")
def zoo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_zoo(tmp_path_factory.mktemp("zoo"), 12)


@pytest.fixture(scope="module")
def undisturbed(zoo: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, float]:
    out = tmp_path_factory.mktemp("undisturbed")
    code, printed = pgdl_run(zoo, "-m", FAULTY, "-o", out, "--workers", 1)
    assert code == 0, printed
    return predictions(out, "faulty")


def test_a_bad_model_costs_itself_alone(undisturbed, tmp_path: Path) -> None:
    zoo, out = write_zoo(tmp_path / "zoo", 12), tmp_path / "out"
    for model, (mark, _) in BAD.items():
        number = int(model.split("_")[1])
        write_model(zoo / "t" / model, seed=number, filters=3 + number % 2, mark=mark)
    truncated = zoo / "t" / "model_7" / "weights.hdf5"
    truncated.write_bytes(truncated.read_bytes()[:-2000])

    measures = f"{FAULTY},faulty_measures:honest"
    code, printed = pgdl_run(
        *(zoo, "-m", measures, "-o", out, "--workers", 2),
        *("--time-limit", 20, "--memory-limit", "1.2G"),
    )

    assert code == 1
    good = undisturbed.keys() - BAD.keys() - {"model_7"}
    assert predictions(out, "faulty") == {model: undisturbed[model] for model in good}
    # The other measure of the bad models is not lost either.
    assert predictions(out, "honest").keys() == undisturbed.keys() - {"model_7"}
    reasons = {r["model"]: r["errors"]["faulty"] for r in records(out) if "faulty" in r["errors"]}
    assert reasons.keys() == BAD.keys() | {"model_7"}
    for model, (_, reason) in BAD.items():
        assert reason in reasons[model]
    assert "not a whole hdf5 file" in reasons["model_7"]
    crash = next(r for r in records(out) if r["model"] == "model_3" and r["errors"])
    assert (
        "Segmentation fault" in crash["stderr_tail"]
        and "faulty_measures.py" in crash["stderr_tail"]
    )
    death = next(r for r in records(out) if r["model"] == "model_6" and r["errors"])
    assert death["attempt"] == 2  # it may have come from outside
    assert_ended(int(death["stderr_tail"].split("orphan ")[1].split()[0]))
    assert f"pgdl run {zoo}" in printed and "--retry-failed" in printed


def disturb(zoo: Path, out: Path, kills: int, seed: int) -> dict[str, int]:
    """Kills workers and parents at random, a while after some progress or while they start."""
    arguments = (zoo, "-m", FAULTY, "-o", out, "--workers", 2, "--set", "seconds=0.3")
    rng, killed = random.Random(seed), {"worker": 0, "parent": 0}
    process = start_pgdl_run(*arguments)
    while sum(killed.values()) < kills:
        wait_for_records(out, count_records(out) + rng.choice([0, 1, 1, 2]), process)
        time.sleep(rng.uniform(0, 1))
        workers = children(process.pid)
        if workers and rng.random() < 0.7:
            os.kill(rng.choice(workers), signal.SIGKILL)
            killed["worker"] += 1
        else:
            process.send_signal(rng.choice([signal.SIGKILL, signal.SIGINT, signal.SIGTERM]))
            process.communicate()
            assert_ended(*workers)
            killed["parent"] += 1
            process = start_pgdl_run(*arguments, "--retry-failed")
    process.kill()
    process.communicate()
    code, printed = pgdl_run(*arguments, "--retry-failed")
    assert code == 0, printed
    return killed


def test_a_killed_worker_and_a_killed_parent_lose_nothing(zoo, undisturbed, tmp_path: Path) -> None:
    out = tmp_path / "out"
    arguments = (zoo, "-m", FAULTY, "-o", out, "--workers", 2, "--set", "seconds=1")
    process = start_pgdl_run(*arguments)
    wait_for_records(out, 2, process)
    os.kill(children(process.pid)[0], signal.SIGKILL)
    wait_for_records(out, 4, process)
    workers = children(process.pid)
    process.kill()
    process.communicate()
    assert_ended(*workers)
    with (out / "records.jsonl").open("a") as file:
        file.write('{"task": "t", "mod')  # as if killed in the middle of a line
    finished = {r["model"] for r in records_before_the_last(out)}

    code, printed = pgdl_run(*arguments)

    assert code == 0, printed
    assert predictions(out, "faulty") == undisturbed
    times = [r["model"] for r in records(out)]
    assert sorted(times) == sorted(undisturbed)  # each exactly once
    assert f"{12 - len(finished)} of 12 models computed now" in printed


def test_a_stopped_run_keeps_what_is_finished_and_ends_its_workers(
    zoo, undisturbed, tmp_path: Path
) -> None:
    """SIGTERM, as of `kill` and batch systems; SIGHUP, as of a closed terminal."""
    out = tmp_path / "out"
    arguments = (zoo, "-m", FAULTY, "-o", out, "--workers", 1, "--set", "seconds=0.3")
    for number in (signal.SIGTERM, signal.SIGHUP):
        process = start_pgdl_run(*arguments)
        wait_for_records(out, count_records(out) + 1, process)
        workers = children(process.pid)
        process.send_signal(number)
        printed, _ = process.communicate(timeout=PATIENCE)
        assert process.returncode == 128 + number, printed
        assert "Traceback" not in printed and "; run the same command to resume" in printed
        assert workers and not any(Path(f"/proc/{pid}").exists() for pid in workers)
    code, printed = pgdl_run(*arguments)
    assert code == 0, printed
    assert predictions(out, "faulty") == undisturbed
    assert len(records(out)) == len(undisturbed)  # none was computed twice


def wait_for_records(out: Path, count: int, process: subprocess.Popen[str]) -> None:
    deadline = time.monotonic() + PATIENCE
    while count_records(out) < count and process.poll() is None:
        assert time.monotonic() < deadline, "no progress"
        time.sleep(0.05)


def count_records(out: Path) -> int:
    path = out / "records.jsonl"
    return path.read_text().count("\n") if path.exists() else 0


def records_before_the_last(out: Path) -> list[dict]:
    lines = (out / "records.jsonl").read_text().split("\n")[:-1]
    return [json.loads(line) for line in lines]


@pytest.mark.slow
def test_twenty_kills_over_thirty_models(tmp_path: Path) -> None:
    zoo = write_zoo(tmp_path / "zoo", 36)
    code, printed = pgdl_run(zoo, "-m", FAULTY, "-o", tmp_path / "a", "--workers", 1)
    assert code == 0, printed

    killed = disturb(zoo, tmp_path / "b", kills=24, seed=0)

    assert killed["worker"] >= 10 and killed["parent"] >= 4
    assert predictions(tmp_path / "b", "faulty") == predictions(tmp_path / "a", "faulty")
    values = [r["model"] for r in records(tmp_path / "b") if r["values"]]
    assert sorted(values) == sorted(predictions(tmp_path / "a", "faulty"))
