"""Workers are as many as the machine serves, and see the GPU that they are given."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from ingestion.executors import local
from ingestion.executors.process import WorkerProcess, WorkerSettings


@pytest.mark.parametrize(
    ("chosen", "found"), [("0,2", ["0", "2"]), ("", []), ("-1", []), ("GPU-5a, 1", ["GPU-5a", "1"])]
)
def test_visible_gpus_are_those_that_cuda_is_told(monkeypatch, chosen: str, found: list) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", chosen)
    assert local.visible_gpus() == found


def test_a_container_may_have_fewer_cores_than_its_host(monkeypatch) -> None:
    read = Path.read_text
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: set(range(64)), raising=False)
    for quota, cpus in (("400000 100000", 4), ("max 100000", 64), ("50000 100000", 1)):
        monkeypatch.setattr(
            Path,
            "read_text",
            lambda path, quota=quota, **kw: quota if path.name == "cpu.max" else read(path, **kw),
        )
        assert local.available_cpus() == cpus


def test_threads_are_fixed_whatever_the_environment_says(monkeypatch) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "7")
    environment = WorkerProcess(WorkerSettings(threads=2), gpu="1")._environment()
    assert environment["OMP_NUM_THREADS"] == environment["OPENBLAS_NUM_THREADS"] == "2"
    assert environment["CUDA_VISIBLE_DEVICES"] == "1"
