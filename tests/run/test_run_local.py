"""Workers are as many as the machine or the cluster serves, and see the GPU that they are given."""

from __future__ import annotations

import contextlib
import os
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from run_plans import job

from ingestion.run.executors import local, process
from ingestion.run.executors.process import WorkerError, WorkerProcess, WorkerSettings
from ingestion.run.executors.ray_cluster import RayExecutor


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


@pytest.mark.parametrize(
    ("workers", "cpus", "gpus", "count"),
    [(None, 2, 0, 3), (None, 1, 0.5, 2), (5, 2, 0, 5), (None, 0, 0, 2)],
)
def test_a_cluster_has_the_workers_that_fit_into_its_nodes(
    monkeypatch, workers: int | None, cpus: float, gpus: float, count: int
) -> None:
    assert _on_cluster(monkeypatch, workers, cpus, gpus)._count() == count


@pytest.mark.parametrize("workers", [None, 3])
@pytest.mark.parametrize(("cpus", "gpus"), [(5, 0), (1, 2)])
def test_a_worker_that_fits_into_no_node_is_not_waited_for(
    monkeypatch, workers: int | None, cpus: float, gpus: float
) -> None:
    with pytest.raises(WorkerError, match=rf"a worker needs .*{max(cpus, gpus)}.*; the nodes"):
        _on_cluster(monkeypatch, workers, cpus, gpus)._count()


def _on_cluster(monkeypatch, workers: int | None, cpus: float, gpus: float) -> RayExecutor:
    """A stand-in for Ray: nodes of 4 and of 3 cores, one of them with a GPU; another is gone."""
    resources = [{"CPU": 4.0}, {"CPU": 3.0, "GPU": 1.0}]
    nodes = [{"Alive": True, "Resources": found} for found in resources]
    nodes.append({"Alive": False, "Resources": {"CPU": 64.0, "GPU": 8.0}})
    monkeypatch.setitem(sys.modules, "ray", SimpleNamespace(nodes=lambda: nodes))
    return RayExecutor(WorkerSettings(), workers, cpus=cpus, gpus=gpus)


def test_threads_are_fixed_whatever_the_environment_says(monkeypatch) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "7")
    environment = WorkerProcess(WorkerSettings(threads=2), gpu="1")._environment()
    assert environment["OMP_NUM_THREADS"] == environment["OPENBLAS_NUM_THREADS"] == "2"
    assert environment["CUDA_VISIBLE_DEVICES"] == "1"


def test_a_worker_that_does_not_start_is_not_waited_for(monkeypatch) -> None:
    monkeypatch.setattr(process, "START_SECONDS", 0.01)
    worker = WorkerProcess(WorkerSettings())
    with contextlib.closing(worker), pytest.raises(WorkerError, match=r"did not start in 0\.01 s"):
        worker.run(job())
