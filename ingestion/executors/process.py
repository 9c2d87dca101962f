"""A worker as its parent sees it: started when needed, watched, stopped when it breaks a limit.

Time is counted here and memory is read from `/proc` here, because a worker that hangs or swaps
cannot be trusted to stop itself. (A limit on address space, RLIMIT_AS, is no use: TensorFlow and
CUDA reserve far more than they touch.)
"""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import dataclass, replace
from multiprocessing.connection import Connection
from pathlib import Path

from ingestion.executors.outcome import (
    DIED,
    OUT_OF_MEMORY,
    TIMED_OUT,
    Outcome,
    Ready,
    Tally,
)
from ingestion.plan import Job
from pgdl_measures.errors import PgdlError

_LOOK = 0.1  # seconds between two looks at the clock and the memory
_SAID = 2000  # characters kept of what a worker wrote to standard error

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
        if self.memory is not None and not Path("/proc/self/statm").exists():
            raise WorkerError("a memory limit needs /proc, which only Linux has")


class WorkerProcess:
    """One worker process at a time; a new one after each that ended."""

    def __init__(self, settings: WorkerSettings, gpu: str | None = None) -> None:
        self._settings, self._gpu = settings, gpu
        self._process: subprocess.Popen[bytes] | None = None
        self._connection: Connection | None = None
        self._log = tempfile.TemporaryFile()  # noqa: SIM115 - closed by close()
        self._versions: dict[str, str] = {}
        self._killed = False
        self._lock = threading.Lock()  # of starting and killing

    def run(self, job: Job) -> Outcome:
        """Does the job, in a new process if the last one has ended."""
        connection = self._connection or self._start()
        before = self._log_size()
        outcome = replace(
            self._watch(job, connection),
            versions=self._versions,
            threads=self._settings.threads,
        )
        return replace(outcome, said=self._said(before))

    def kill(self) -> None:
        """Ends the process at once and for good. May be called while another thread is in `run`."""
        with self._lock:
            self._killed = True
            if self._process is not None:
                _kill(self._process)

    def close(self) -> None:
        """Ends the process and lets go of what belonged to it."""
        self.kill()
        self._stop()
        self._log.close()

    def _watch(self, job: Job, connection: Connection) -> Outcome:
        tally, clock = Tally(job), time.monotonic()
        try:
            connection.send(job)
            while True:
                ended = self._ended()  # asked first: then all that it said is in the pipe
                if connection.poll(0 if ended else _LOOK):
                    outcome = tally.add(connection.recv())
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
                if limit is not None and (memory := self._memory()) > limit:
                    self._stop()
                    reason = f"stopped at {_size(memory)} of memory; the limit is {_size(limit)}"
                    return replace(tally.ended(OUT_OF_MEMORY, reason, used), peak_memory=memory)
        except (EOFError, OSError):
            return tally.ended(DIED, _cause(self._reap()), time.monotonic() - clock)

    def _start(self, attempts: int = 3) -> Connection:
        """Starts a process and waits until it is ready; one that a signal ended is tried again."""
        before = self._log_size()
        self._connection = self._spawn()
        try:
            ready = self._connection.recv()
        except (EOFError, OSError) as error:
            code = self._reap()
            if attempts > 1 and code is not None and code < 0 and not self._killed:
                return self._start(attempts - 1)
            raise WorkerError(
                f"a worker did not start: {_cause(code)}\n{self._said(before)}"
            ) from error
        assert isinstance(ready, Ready)
        self._versions = ready.versions
        return self._connection

    def _spawn(self) -> Connection:
        ours, theirs = socket.socketpair()
        with self._lock, theirs:
            if self._killed:
                raise WorkerError("the worker was killed")
            self._process = subprocess.Popen(
                [
                    *(sys.executable, "-m", "ingestion.executors.worker"),
                    *(str(theirs.fileno()), str(self._settings.threads)),
                ],
                stdin=subprocess.PIPE,
                stdout=self._log,  # what a measure prints must not break the parent's lines
                stderr=self._log,
                pass_fds=[theirs.fileno()],
                env=self._environment(),
                start_new_session=True,  # Ctrl-C is for the parent
            )
        return Connection(ours.detach())

    def _environment(self) -> dict[str, str]:
        threads = dict.fromkeys(_THREADS, str(self._settings.threads))
        environment = {
            **os.environ,
            **threads,
            "PYTHONPATH": os.pathsep.join(path or os.getcwd() for path in sys.path),
            "TF_CPP_MIN_LOG_LEVEL": "3",
        }
        if self._gpu is not None:
            environment["CUDA_VISIBLE_DEVICES"] = self._gpu
            environment["TF_FORCE_GPU_ALLOW_GROWTH"] = "true"  # others may share it
        return environment

    def _stop(self) -> None:
        """Lets go of the process, killed if it is alive."""
        with self._lock:
            process, self._process = self._process, None
        if process is not None:
            _kill(process)
            process.wait()
            assert process.stdin is not None
            process.stdin.close()
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _ended(self) -> bool:
        """Whether the process has ended; what it started, and may hold its pipe open, ends too."""
        assert self._process is not None
        if self._process.poll() is None:
            return False
        _kill(self._process)
        return True

    def _reap(self) -> int | None:
        """The exit code of a process that closed its pipe; None if it lives on without one."""
        assert self._process is not None
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(_LOOK)  # the pipe may close a little before the process ends
        code = self._process.poll()
        self._stop()
        return code

    def _memory(self) -> int:
        """The resident bytes of the process; 0 where it has just ended."""
        assert self._process is not None
        try:
            pages = Path(f"/proc/{self._process.pid}/statm").read_text().split()[1]
        except (OSError, IndexError):
            return 0
        return int(pages) * os.sysconf("SC_PAGE_SIZE")

    def _log_size(self) -> int:
        return os.fstat(self._log.fileno()).st_size

    def _said(self, start: int) -> str:
        """The end of what was written since `start`, without a crash's list of all modules."""
        text = os.pread(self._log.fileno(), self._log_size() - start, start).decode(
            errors="replace"
        )
        lines = [line for line in text.splitlines() if not line.startswith("Extension modules:")]
        return "\n".join(lines).strip()[-_SAID:]


def _cause(code: int | None) -> str:
    """How a worker came to its end."""
    if code is None:
        return "the worker closed its pipe"
    if code >= 0:
        return f"the worker ended with exit code {code}"
    name = signal.Signals(-code).name
    hint = ", as the system does when memory runs out" if name == "SIGKILL" else ""
    return f"the worker was ended by {name}{hint}"


def _kill(process: subprocess.Popen[bytes]) -> None:
    """Kills the process and what it may have started, which may outlive it: it leads a session of
    its own, whose number is not given to another while any of them lives."""
    with contextlib.suppress(ProcessLookupError, PermissionError):  # none of them is alive
        os.killpg(process.pid, signal.SIGKILL)


def _size(count: int) -> str:
    return f"{count / 1024**3:.2f} GB"
