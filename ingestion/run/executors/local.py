"""Worker processes on this machine: one per core, or one per visible GPU.

Each worker is driven by a thread of the parent, which only waits.
"""

from __future__ import annotations

import contextlib
import os
import queue
import threading
from collections.abc import Generator
from pathlib import Path

from ingestion.run.executors.outcome import Outcome
from ingestion.run.executors.process import WorkerProcess, WorkerSettings
from ingestion.run.executors.queue import Queue


class LocalExecutor:
    """Runs jobs in `workers` processes (default: as many as the cores or GPUs can serve)."""

    def __init__(self, settings: WorkerSettings, workers: int | None = None) -> None:
        self.threads = settings.threads
        self._settings = settings
        self._gpus = visible_gpus()
        self._workers = workers or len(self._gpus) or max(1, available_cpus() // settings.threads)

    def run(self, jobs: Queue) -> Generator[Outcome, None, None]:
        """The outcome of every job as it is known; closing the iterator kills the workers."""
        outcomes: queue.SimpleQueue[Outcome | BaseException | None] = queue.SimpleQueue()
        workers = [
            WorkerProcess(self._settings, self._gpus[i % len(self._gpus)] if self._gpus else None)
            for i in range(min(self._workers, len(jobs)))
        ]
        threads = [
            threading.Thread(target=_serve, args=(i, worker, jobs, outcomes), daemon=True)
            for i, worker in enumerate(workers)
        ]
        try:
            for thread in threads:
                thread.start()
            at_work = len(threads)
            while at_work:
                outcome = outcomes.get()
                if isinstance(outcome, BaseException):
                    raise outcome
                if outcome is None:
                    at_work -= 1
                else:
                    yield outcome
        finally:
            for worker in workers:
                worker.kill()
            for thread in threads:
                thread.join()


def _serve(
    number: int,
    worker: WorkerProcess,
    jobs: Queue,
    outcomes: queue.SimpleQueue[Outcome | BaseException | None],
) -> None:
    try:
        with contextlib.closing(worker):
            while (job := jobs.take(number)) is not None:
                outcome = worker.run(job)
                if outcome.rest is not None:
                    jobs.give_back(outcome.rest)
                outcomes.put(outcome)
        outcomes.put(None)
    except BaseException as error:  # raised again by the thread that waits for outcomes
        outcomes.put(error)


def visible_gpus() -> list[str]:
    """The GPUs that a worker may be given, found without starting TensorFlow in this process."""
    chosen = os.environ.get("CUDA_VISIBLE_DEVICES")
    if chosen is not None:
        return [gpu.strip() for gpu in chosen.split(",") if gpu.strip() not in ("", "-1")]
    driver = Path("/proc/driver/nvidia/gpus")
    return [str(i) for i, _ in enumerate(driver.iterdir())] if driver.is_dir() else []


def available_cpus() -> int:
    """The cores that this process may use: its affinity, and the quota of its container."""
    cpus = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    with contextlib.suppress(OSError, ValueError):
        quota, period = Path("/sys/fs/cgroup/cpu.max").read_text().split()
        if quota != "max":
            return max(1, min(cpus or 1, int(quota) // int(period)))
    return cpus or 1
