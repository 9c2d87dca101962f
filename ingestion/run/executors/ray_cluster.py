"""The same workers on a Ray cluster: one actor per worker, results streamed back to this process.

Every actor drives a worker process of its own, just as a thread does locally: limits and crashes
are dealt with where they happen, and an actor that Ray reports as dead is one whose node is gone.
Its model is given to another. All nodes must see the corpus at the same path and have this toolkit
installed.
"""

from __future__ import annotations

import contextlib
import logging
import os
import signal
import threading
from collections.abc import Generator, Iterator
from typing import Any

from ingestion.run.executors.outcome import LOST, Outcome, Tally
from ingestion.run.executors.process import WorkerError, WorkerProcess, WorkerSettings
from ingestion.run.executors.queue import Queue
from ingestion.run.plan import Job
from pgdl_measures.errors import PgdlError

_MAX_CONSECUTIVE_DEATHS = 20  # of actors, without a result between them


class RayExecutor:
    """Runs jobs in `workers` actors (default: as many as the cluster's resources serve)."""

    def __init__(
        self,
        settings: WorkerSettings,
        workers: int | None = None,
        *,
        address: str | None = None,
        cpus: float | None = None,
        gpus: float = 0.0,
    ) -> None:
        try:
            import ray  # noqa: F401
        except ImportError as error:
            raise PgdlError(
                "the Ray executor needs Ray: pip install 'pgdl-measures[ray]'"
            ) from error
        self._settings, self._workers, self._address = settings, workers, address
        self.threads = settings.threads
        self._resources = {"CPU": settings.threads if cpus is None else cpus, "GPU": gpus}

    def run(self, jobs: Queue) -> Generator[Outcome, None, None]:
        """The outcome of every job as it is known; closing the iterator stops the actors."""
        import ray

        ours = not ray.is_initialized()
        if ours:
            os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # no usage statistics are sent
            with _own_signals():
                ray.init(address=self._address, log_to_driver=False, logging_level=logging.ERROR)
        try:
            actor = ray.remote(
                num_cpus=self._resources["CPU"],
                num_gpus=self._resources["GPU"],
                max_restarts=0,
                max_task_retries=0,
            )(_Actor)
            team = _Team(actor, self._settings, min(self._count(), len(jobs)))
            try:
                yield from team.run(jobs)
            finally:
                team.dismiss()
        finally:
            if ours:
                ray.shutdown()

    def _count(self) -> int:
        """The number asked for, or as many actors as fit on the nodes; at least one must fit."""
        import ray

        nodes = [node["Resources"] for node in ray.nodes() if node["Alive"]]
        needs = {name: need for name, need in self._resources.items() if need}
        fitting = sum(
            min((int(node.get(name, 0) // need) for name, need in needs.items()), default=1)
            for node in nodes
        )
        if not fitting:
            found = [{name: node.get(name, 0) for name in needs} for node in nodes]
            raise WorkerError(f"a worker needs {needs}; the nodes of the cluster have {found}")
        return self._workers or fitting


@contextlib.contextmanager
def _own_signals() -> Iterator[None]:
    """Restores the handler of SIGTERM, which Ray replaces by one that ends the program."""
    handler = signal.getsignal(signal.SIGTERM)
    yield
    if handler is not None and threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGTERM, handler)


class _Actor:
    """Lives on a node of the cluster."""

    def __init__(self, settings: WorkerSettings) -> None:
        self._worker = WorkerProcess(settings)

    def arrive(self) -> None:
        """Returns as soon as the actor has a node."""

    def run(self, job: Job) -> Outcome:
        return self._worker.run(job)


class _Team:
    """The actors and their jobs. An actor that waits for a node has no job."""

    def __init__(self, actor: Any, settings: WorkerSettings, size: int) -> None:
        self._actor, self._settings = actor, settings
        self._members: dict[int, Any] = {}
        self._waiting: dict[Any, tuple[int, Job | None]] = {}  # by the reference that Ray returned
        self._deaths = 0
        for number in range(size):
            self._hire(number)

    def run(self, jobs: Queue) -> Iterator[Outcome]:
        import ray

        while True:
            busy = {number for number, _ in self._waiting.values()}
            for number in self._members.keys() - busy:
                if (job := jobs.take(number)) is not None:
                    self._waiting[self._members[number].run.remote(job)] = number, job
            if not len(jobs) and all(job is None for _, job in self._waiting.values()):
                return
            for answer in ray.wait(list(self._waiting))[0]:
                outcome = self._outcome(answer, *self._waiting.pop(answer))
                if outcome is None:
                    continue
                if outcome.rest is not None:
                    jobs.give_back(outcome.rest)
                yield outcome

    def dismiss(self) -> None:
        """Ends all actors; their worker processes end with them."""
        import ray

        for member in self._members.values():
            ray.kill(member)

    def _hire(self, number: int) -> None:
        self._members[number] = self._actor.remote(self._settings)
        self._waiting[self._members[number].arrive.remote()] = number, None

    def _outcome(self, answer: Any, number: int, job: Job | None) -> Outcome | None:
        """The outcome of the job; None if the actor has only just got its node."""
        import ray

        try:
            outcome: Outcome | None = ray.get(answer)
        except (ray.exceptions.RayActorError, ray.exceptions.ObjectLostError) as error:
            self._deaths += 1
            if self._deaths >= _MAX_CONSECUTIVE_DEATHS:
                raise WorkerError(
                    f"{self._deaths} workers in a row died in the cluster; the last error: {error}"
                ) from error
            self._hire(number)
            return None if job is None else Tally(job).ended(LOST, "its nodes were lost")
        if outcome is not None:
            self._deaths = 0
        return outcome
