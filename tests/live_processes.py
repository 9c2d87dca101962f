"""Which processes run: for tests that start some, kill some, and expect the others to end."""

from __future__ import annotations

import time
from pathlib import Path

PATIENCE = 600.0  # seconds: only how long a test that fails takes, on however busy a machine


def children(pid: int) -> list[int]:
    """The processes that a process has started; none where the system does not tell."""
    found = Path(f"/proc/{pid}/task/{pid}/children")
    threads = Path(f"/proc/{pid}/task")
    if not found.exists():
        return []
    return [int(child) for t in threads.iterdir() for child in (t / "children").read_text().split()]


def is_alive(pid: int) -> bool:
    """Whether it runs; one that has ended and that nobody has asked for does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def assert_ended(*pids: int) -> None:
    """They end by themselves, soon."""
    deadline = time.monotonic() + PATIENCE / 10
    while any(map(is_alive, pids)):
        assert time.monotonic() < deadline, f"still alive: {[p for p in pids if is_alive(p)]}"
        time.sleep(0.05)
