"""A worker as its parent sees it: started when needed, watched, stopped when it breaks a limit.

Time is counted here and memory is read from `/proc` here, because a worker that hangs or swaps
cannot be trusted to stop itself. (A limit on address space, RLIMIT_AS, is no use: TensorFlow and
CUDA reserve far more than they touch.)
"""

from __future__ import annotations

import os
import threading
import time
from dataclasses import dataclass, replace

from ingestion.processes import (
    ChildProcess,
    Log,
    cause_of_end,
    gigabytes,
    import_paths,
    memory_refusal,
)
from ingestion.run.executors.outcome import (
    DIED,
    OUT_OF_MEMORY,
    TIMED_OUT,
    Outcome,
    Ready,
    Tally,
)
from ingestion.run.plan import Job
from pgdl_measures.errors import PgdlError

_LOOK = 0.1  # seconds between two checks of time and memory
START_SECONDS = 600.0  # for importing TensorFlow, which may wait for ever for a dead disk

# NumPy's linear algebra: its last bits depend on its threads too.
_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


class WorkerError(PgdlError):
    """A worker cannot be started."""


@dataclass(frozen=True)
class WorkerSettings:
    """What every worker of a run is given."""

    threads: int = 1  # of one TensorFlow operation
    memory: int | None = None  # bytes

    def __post_init__(self) -> None:
        if self.memory is not None and (refusal := memory_refusal()):
            raise WorkerError(refusal)


class WorkerProcess:
    """One worker process at a time; a new one is started after it ended."""

    def __init__(self, settings: WorkerSettings, gpu: str | None = None) -> None:
        self._settings, self._gpu = settings, gpu
        self._child: ChildProcess | None = None
        self._log = Log()
        self._versions: dict[str, str] = {}
        self._killed = False
        self._lock = threading.Lock()  # held while starting or killing

    def run(self, job: Job) -> Outcome:
        """Does the job, in a new process if the last one has ended."""
        child = self._child or self._start()
        self._log.clear()
        outcome = replace(
            self._watch(job, child),
            versions=self._versions,
            threads=self._settings.threads,
        )
        return replace(outcome, stderr_tail=self._log.tail())

    def kill(self) -> None:
        """Ends the process at once; no other is started. Other threads may be in `run`."""
        with self._lock:
            self._killed = True
            if self._child is not None:
                self._child.kill()

    def close(self) -> None:
        """Ends the process and closes its log."""
        self.kill()
        self._stop()
        self._log.close()

    def _watch(self, job: Job, child: ChildProcess) -> Outcome:
        tally, clock = Tally(job), time.monotonic()
        try:
            child.connection.send(job)
            while True:
                # Asked before the pipe is read: if it has ended, all its messages are in the pipe.
                ended = child.exit_code() is not None
                if ended:
                    child.kill()  # what it started, and may hold its pipe open
                if child.connection.poll(0 if ended else _LOOK):
                    outcome = tally.add(child.connection.recv())
                    if outcome is not None:
                        return outcome
                    clock = time.monotonic()
                elif ended:
                    raise EOFError
                used = time.monotonic() - clock
                if used > job.step_seconds:
                    self._stop()
                    reason = f"stopped after {job.step_seconds:g} seconds"
                    return tally.ended(TIMED_OUT, reason, used)
                limit = self._settings.memory
                if limit is not None and (memory := child.memory()) > limit:
                    self._stop()
                    reason = (
                        f"stopped at {gigabytes(memory)} of memory; the limit is {gigabytes(limit)}"
                    )
                    return replace(tally.ended(OUT_OF_MEMORY, reason, used), peak_memory=memory)
        except (EOFError, OSError):
            return tally.ended(DIED, self._cause_of_end(child), time.monotonic() - clock)

    def _start(self, attempts: int = 3) -> ChildProcess:
        """Starts a process and waits until it is ready; tries again if a signal ended it."""
        self._log.clear()
        child = self._spawn()
        try:
            if not child.connection.poll(START_SECONDS):
                raise WorkerError(
                    f"a worker did not start in {START_SECONDS:g} s\n{self._log.tail()}"
                )
            ready = child.connection.recv()
        except (EOFError, OSError) as error:
            code = child.exit_code(_LOOK)
            cause = self._cause_of_end(child)
            if attempts > 1 and code is not None and code < 0 and not self._killed:
                return self._start(attempts - 1)
            raise WorkerError(f"a worker did not start: {cause}\n{self._log.tail()}") from error
        assert isinstance(ready, Ready)
        self._versions = ready.versions
        return child

    def _spawn(self) -> ChildProcess:
        with self._lock:
            if self._killed:
                raise WorkerError("the worker was killed")
            self._child = ChildProcess(
                "ingestion.run.executors.worker",
                [str(self._settings.threads)],
                environment=self._environment(),
                output=self._log,  # what a measure prints must not break the parent's lines
            )
            return self._child

    def _environment(self) -> dict[str, str]:
        threads = dict.fromkeys(_THREADS, str(self._settings.threads))
        environment = {
            "TF_ENABLE_ONEDNN_OPTS": "1",  # as `pgdl` sets it, also where a script runs measures
            **os.environ,
            **threads,
            "PYTHONPATH": import_paths(),
            "TF_CPP_MIN_LOG_LEVEL": "3",
        }
        if self._gpu is not None:
            environment["CUDA_VISIBLE_DEVICES"] = self._gpu
            environment["TF_FORCE_GPU_ALLOW_GROWTH"] = "true"  # others may share it
        return environment

    def _stop(self) -> None:
        """Kills the process if it is alive, and forgets it."""
        with self._lock:
            child, self._child = self._child, None
        if child is not None:
            child.close()

    def _cause_of_end(self, child: ChildProcess) -> str:
        """Why a process ended; it may close its pipe a moment before it does."""
        code = child.exit_code(_LOOK)
        self._stop()
        return cause_of_end(code)
