"""Training in several processes. A process that dies costs only the model it was training."""

from __future__ import annotations

import contextlib
import os
from collections import deque
from collections.abc import Iterator, Sequence
from multiprocessing.connection import Connection, wait

from ingestion.processes import ChildProcess, cause_of_end, import_paths
from ingestion.zoo.jobs import Job, Outcome, Place

WORKER = "ingestion.zoo.worker"
_LAST_MOMENT = 1.0  # seconds in which a process ends after it closed its connection


def run_jobs(jobs: Sequence[Job], place: Place, workers: int) -> Iterator[Outcome]:
    """Yields the outcome of each job when it is known, in any order."""
    queue = deque(jobs)
    busy: dict[Connection, tuple[ChildProcess, Job]] = {}

    def hand_next(child: ChildProcess) -> None:
        job = queue.popleft()
        busy[child.connection] = child, job
        with contextlib.suppress(OSError):  # if the worker is dead, `recv` raises too
            child.connection.send(job)

    try:
        while queue or busy:
            while queue and len(busy) < workers:
                hand_next(start_worker(place))
            for ready in wait(list(busy)):
                assert isinstance(ready, Connection)
                child, job = busy.pop(ready)
                try:
                    outcome = Outcome(job, ready.recv())
                except (EOFError, OSError):
                    outcome = Outcome(job, cause_of_end(child.exit_code(_LAST_MOMENT)))
                    child.close()
                else:
                    if queue:
                        hand_next(child)
                    else:
                        child.close()
                yield outcome
    finally:
        for child, _ in busy.values():
            child.close()


def start_worker(place: Place) -> ChildProcess:
    return ChildProcess(
        WORKER,
        [str(place.root), place.task, str(place.threads)],
        environment={**os.environ, "PYTHONPATH": import_paths()},
    )
