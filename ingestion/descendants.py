"""Every process that was started below this one, directly or not: its memory, and its end.

A process may leave its session, clear its environment and lose its parent; on Linux it still stays
below us. A process without a parent is given to the nearest ancestor that asks for orphans, which
we do meanwhile (prctl(2), PR_SET_CHILD_SUBREAPER). Other systems have neither this nor `/proc`:
there nothing is found, and only a signal to the session is left (`ingestion.processes`).

A process that starts another and ends, again and again, has ended by the time its id is read. So
whole groups of processes are killed: no process can start another while its group is signalled. And
all have ended when the system reports that we have no child, not when a search finds none.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import sys
import time
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from ingestion.processes import resident_memory

_PROC = Path("/proc")
_SET_CHILD_SUBREAPER, _GET_CHILD_SUBREAPER = 36, 37
_PATIENCE = 5.0  # seconds for ending them
_LOOKS = 10  # without finding one, where we have children of our own beside them


class _Process(NamedTuple):
    """What `/proc` says of a process: the letter of its state, and the numbers of two others."""

    state: str
    parent: int
    group: int


class Descendants:
    """As a context: the processes that start below this one in it, all ended at its end.

    For a program that starts nothing else meanwhile: what its other threads start counts as well.
    """

    def __enter__(self) -> Descendants:
        self._before = set(_below(os.getpid()))
        self._adopted = _adopts_orphans()
        _adopt_orphans(True)
        return self

    def __exit__(self, *unused: object) -> None:
        self.end()
        _adopt_orphans(self._adopted)

    def alive(self) -> list[int]:
        """Their process ids."""
        return [
            pid
            for pid, found in _below(os.getpid()).items()
            if pid not in self._before and found.state != "Z"
        ]

    def memory(self, enough: int) -> int:
        """Their resident bytes; counted exactly, shared pages once, only if above `enough`."""
        pids = self.alive()
        resident = sum(map(resident_memory, pids))
        return resident if resident <= enough else sum(map(_proportional, pids))

    def end(self) -> bool:
        """Kills them all, and what they start meanwhile; False if some are alive after seconds."""
        deadline, empty = time.monotonic() + _PATIENCE, 0
        while empty < _LOOKS and _has_children():
            below = _below(os.getpid())
            found = {pid: process for pid, process in below.items() if pid not in self._before}
            # Also the groups of ended processes: a successor may be in the group of one.
            # Never group 1, which would be every process, nor 0, which is our own.
            ours = {0, 1, os.getpgrp(), *(below[pid].group for pid in below.keys() & self._before)}
            for group in {process.group for process in found.values()} - ours:
                _send(-group, signal.SIGKILL)
            for number in (signal.SIGSTOP, signal.SIGKILL):  # what has stopped starts no other
                for pid in found:
                    _send(pid, number)
            self._reap()
            empty = 0 if found else empty + 1
            if time.monotonic() > deadline:
                return not self.alive()
        return True

    def _reap(self) -> None:
        """Reaps ended processes, as their parent must, or the system would go on listing them."""
        for pid in _below(os.getpid()).keys() - self._before:
            with contextlib.suppress(ChildProcessError):  # it has another parent
                os.waitpid(pid, os.WNOHANG)


def _has_children() -> bool:
    """Whether there is one, alive or not yet waited for; the system knows at any moment."""
    if sys.platform != "linux":
        return False  # without /proc none is found either
    try:
        os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return False
    return True


def _below(root: int) -> dict[int, _Process]:
    """The descendants of a process by their numbers, the dead among them."""
    processes = dict(_processes())
    children = defaultdict(list)
    for pid, process in processes.items():
        children[process.parent].append(pid)
    below: dict[int, _Process] = {}
    waiting = [root]
    while waiting:
        for pid in children.pop(waiting.pop(), []):
            below[pid] = processes[pid]
            waiting.append(pid)
    return below


def _processes() -> Iterator[tuple[int, _Process]]:
    """All processes by their numbers; none where there is no `/proc`."""
    with contextlib.suppress(FileNotFoundError):
        for name in os.listdir(_PROC):
            if name.isdigit():
                with contextlib.suppress(OSError):  # it has ended
                    # Its name stands in brackets and may hold anything.
                    text = (_PROC / name / "stat").read_text(errors="replace")
                    state, parent, group = text.rpartition(")")[2].split()[:3]
                    yield int(name), _Process(state, int(parent), int(group))


def _proportional(pid: int) -> int:
    """Resident bytes, of which a page that n processes share counts as 1/n."""
    try:
        lines = (_PROC / str(pid) / "smaps_rollup").read_text().splitlines()
        return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("Pss:"))
    except (OSError, StopIteration):
        return resident_memory(pid)


def _send(pid: int, number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.kill(pid, number)


def _adopts_orphans() -> bool:
    if sys.platform != "linux":
        return False
    answer = ctypes.c_int()
    ctypes.CDLL(None).prctl(_GET_CHILD_SUBREAPER, ctypes.byref(answer), 0, 0, 0)
    return bool(answer.value)


def _adopt_orphans(wanted: bool) -> None:
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_SET_CHILD_SUBREAPER, int(wanted), 0, 0, 0)
