"""The record survives whatever cuts it off, and never takes in what is damaged."""

from __future__ import annotations

import errno
import fcntl
import json
import os
import resource
import signal
from pathlib import Path

import pytest
from damaged_lines import DAMAGED_LINES

from ingestion.run.store import Store, StoreError, write_json
from scoring.record import Line


def line(model: int) -> Line:
    return Line("t", f"model_{model}", values={"gi": 0.1 * model})


def write(out: Path, *models: int) -> bytes:
    with Store(out) as store:
        for model in models:
            store.append(line(model))
    return (out / "records.jsonl").read_bytes()


def test_what_was_appended_is_there_for_the_next_run(tmp_path: Path) -> None:
    write(tmp_path, 0, 1)
    write(tmp_path, 2)
    with Store(tmp_path) as store:
        assert store.lines == [line(0), line(1), line(2)] and not store.problems


def test_a_record_cut_off_at_any_byte_keeps_its_whole_lines(tmp_path: Path) -> None:
    whole = write(tmp_path, 0, 1, 2)
    for size in range(len(whole) + 1):
        (tmp_path / "records.jsonl").write_bytes(whole[:size])
        with Store(tmp_path) as store:
            assert store.lines == [line(i) for i in range(whole[:size].count(b"\n"))]
            store.append(line(9))
        with Store(tmp_path) as store:
            assert store.lines[-1] == line(9) and not store.problems


@pytest.mark.parametrize("damage", DAMAGED_LINES)
def test_a_damaged_line_is_named_and_left_alone_and_costs_no_other(
    tmp_path: Path, damage: bytes
) -> None:
    first, second = write(tmp_path, 0, 1).splitlines(keepends=True)
    damaged = first + damage + b"\n" + second
    (tmp_path / "records.jsonl").write_bytes(damaged)
    with Store(tmp_path) as store:
        (problem,) = store.problems
        assert f"{tmp_path / 'records.jsonl'}, line 2, is damaged and ignored: " in problem
        assert store.lines == [line(0), line(1)]
    assert (tmp_path / "records.jsonl").read_bytes() == damaged


def test_two_runs_do_not_write_to_one_folder(tmp_path: Path) -> None:
    with Store(tmp_path), pytest.raises(StoreError, match="another run is writing"):
        Store(tmp_path).__enter__()
    with Store(tmp_path):  # free again
        pass


def test_a_file_system_without_locks_is_told_and_used(tmp_path: Path, monkeypatch) -> None:
    def no_locks(*unused: object) -> None:
        raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS))

    monkeypatch.setattr(fcntl, "flock", no_locks)
    with Store(tmp_path) as store:
        (problem,) = store.problems
        assert "cannot be locked (Function not implemented)" in problem


def test_a_pipe_or_a_device_in_place_of_the_record_is_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "records.jsonl")
    with pytest.raises(StoreError, match="not a regular file"):
        Store(tmp_path).__enter__()
    (tmp_path / "records.jsonl").unlink()
    (tmp_path / "records.jsonl").symlink_to("/dev/zero")
    with pytest.raises(StoreError, match="not a regular file"):
        Store(tmp_path).__enter__()


def test_a_full_disk_stops_the_run_and_leaves_whole_lines(tmp_path: Path) -> None:
    before = write(tmp_path, 0)
    process = os.fork()
    if process == 0:  # in a process of its own, where files may not grow beyond a line and a half
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        limit = len(before) + len(before) // 2
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
        try:
            write(tmp_path, 1)
        except StoreError as error:
            os._exit(0 if "the same command continues" in str(error) else 1)
        os._exit(2)
    assert os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]) == 0
    assert (tmp_path / "records.jsonl").read_bytes() == before


def test_a_file_is_replaced_whole_or_not_at_all(tmp_path: Path, monkeypatch) -> None:
    path = tmp_path / "gi" / "t.predict"
    write_json(path, {"model_0": 1.0})

    def no_space(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", no_space)
    with pytest.raises(StoreError, match="No space left"):
        write_json(path, {"model_0": 2.0})
    assert json.loads(path.read_text()) == {"model_0": 1.0}
    assert [entry.name for entry in path.parent.iterdir()] == ["t.predict"]
