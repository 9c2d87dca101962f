"""Which job a worker does next. Pure bookkeeping, shared by the executors.

Reading a task's data and tracing an architecture's graphs cost a worker seconds each, so it first
takes models of the same task and architecture as its last one; then those of an architecture that
no worker has begun, of its task if there is one; and only then some of the largest group of models
that another worker has begun.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Hashable, Iterable
from dataclasses import replace

from ingestion.run.plan import Job

Group = tuple[str, str]  # task, architecture


class Queue:
    """The jobs that no worker has taken yet."""

    def __init__(self, jobs: Iterable[Job]) -> None:
        self._groups: dict[Group, deque[Job]] = {}
        for job in jobs:
            self._groups.setdefault((job.task, job.architecture), deque()).append(job)
        self._begun: set[Group] = set()
        self._at: dict[Hashable, Group] = {}  # the last task and architecture of each worker
        self._lock = threading.Lock()

    def __len__(self) -> int:
        with self._lock:
            return sum(map(len, self._groups.values()))

    def take(self, worker: Hashable) -> Job | None:
        """The next job for that worker; None where nothing is left."""
        with self._lock:
            group = self._choose(worker)
            if group is None:
                return None
            self._begun.add(group)
            self._at[worker] = group
            return self._groups[group].popleft()

    def give_back(self, job: Job) -> None:
        """Puts a job before the others of its task and architecture."""
        with self._lock:
            self._groups.setdefault((job.task, job.architecture), deque()).appendleft(job)

    def drop(self, task: str, measure: str) -> list[tuple[Job, Job | None]]:
        """Removes a measure from all jobs of a task; yields what was removed and what is left."""
        dropped: list[tuple[Job, Job | None]] = []
        with self._lock:
            for group in [group for group in self._groups if group[0] == task]:
                remaining: deque[Job] = deque()
                for job in self._groups[group]:
                    gone, rest = _split(job, measure)
                    if gone is not None:
                        dropped.append((gone, rest))
                    if rest is not None:
                        remaining.append(rest)
                self._groups[group] = remaining
        return dropped

    def _choose(self, worker: Hashable) -> Group | None:
        left = {group: len(jobs) for group, jobs in self._groups.items() if jobs}
        here = self._at.get(worker)
        if here in left:
            return here
        task = here[0] if here else None
        busy = {group[0] for group in self._at.values()}

        def preference(group: Group) -> tuple[bool, bool, bool, int]:
            begun = group in self._begun
            # False sorts first. Among begun ones the largest; else the order of the corpus.
            return begun, group[0] != task, group[0] in busy, -left[group] if begun else 0

        return min(left, key=preference, default=None)


def _split(job: Job, measure: str) -> tuple[Job | None, Job | None]:
    """The job of that measure alone, and of the others."""
    parts = [tuple(m for m in job.measures if (m.name == measure) is it) for it in (True, False)]
    gone, rest = (replace(job, measures=part) if part else None for part in parts)
    return gone, rest
