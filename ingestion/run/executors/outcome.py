"""The messages of a worker while it measures a model, and the outcome that they add up to.

A worker reports each step before it begins. If it ends in the middle of a model, the measures
before keep their values, the current one failed, and the next worker does the rest. If no limit of
ours ended it, the cause may lie outside - a signal, a system short of memory - so the current
measure gets a second attempt.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Union

from ingestion.run.plan import Job
from scoring.record import Curve, Stamp

READING, LOADING, WARMING_UP = "reading the data", "loading the model", "warming up"

OK, FAILED = "ok", "failed"
DIED, TIMED_OUT, OUT_OF_MEMORY = "died", "timed out", "out of memory"  # ends of a worker
LOST, BEYOND = "lost", "exceeded"

_ATTEMPTS = {DIED: 2, LOST: 5}  # after any other end there is one


@dataclass(frozen=True)
class Ready:
    """The worker is up."""

    versions: dict[str, str]


@dataclass(frozen=True)
class Step:
    """The worker begins one of the steps above, or a measure."""

    name: str


@dataclass(frozen=True)
class Files:
    """The files of the model and of its data, as they were read."""

    model: Stamp
    data: Stamp


@dataclass(frozen=True)
class Measured:
    """The value of a measure, or the reason why there is none."""

    name: str
    seconds: float
    value: float | None = None
    error: str | None = None
    batches: int | None = None  # how many were enough


@dataclass(frozen=True)
class Finished:
    """The model is done."""

    curves: list[Curve]
    peak_memory: int


Message = Union[Ready, Step, Files, Measured, Finished]


@dataclass(frozen=True)
class Outcome:
    """The results of a job; if `rest` is set, they are partial and `rest` is still to be done."""

    job: Job
    status: str
    values: dict[str, float] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)
    errors: dict[str, str] = field(default_factory=dict)
    batches: dict[str, int] = field(default_factory=dict)
    curves: list[Curve] = field(default_factory=list)
    files: Files | None = None
    peak_memory: int | None = None  # bytes
    versions: dict[str, str] = field(default_factory=dict)
    threads: int = 1
    stderr_tail: str = ""  # the end of what the worker wrote to standard error
    rest: Job | None = None


class Tally:
    """The messages of one worker about one job, added up."""

    def __init__(self, job: Job) -> None:
        self._outcome = Outcome(job, OK)
        self._step = READING

    def add(self, message: Message) -> Outcome | None:
        """Adds a message; returns the outcome if it was the last one."""
        so_far = self._outcome
        if isinstance(message, Step):
            self._step = message.name
        elif isinstance(message, Files):
            self._outcome = replace(so_far, files=message)
        elif isinstance(message, Measured):
            so_far.seconds[message.name] = message.seconds
            if message.batches is not None:
                so_far.batches[message.name] = message.batches
            if message.value is not None:
                so_far.values[message.name] = message.value
            else:
                so_far.errors[message.name] = message.error or "no reason given"
        elif isinstance(message, Finished):
            return replace(
                so_far,
                status=FAILED if so_far.errors else OK,
                curves=message.curves,
                peak_memory=message.peak_memory,
            )
        return None

    def ended(self, status: str, reason: str, seconds: float = 0.0) -> Outcome:
        """The outcome if the worker ended at the current step."""
        so_far, job = self._outcome, self._outcome.job
        left = [
            measure
            for measure in job.measures
            if measure.name not in so_far.values and measure.name not in so_far.errors
        ]
        if not left:  # only the Finished message is missing
            return replace(so_far, status=FAILED if so_far.errors else OK)
        if job.attempt < _ATTEMPTS.get(status, 1):
            rest = replace(job, measures=tuple(left), attempt=job.attempt + 1)
            return replace(so_far, status=status, rest=rest)
        culprits = [m for m in left if m.name == self._step] or left
        innocent = tuple(m for m in left if m not in culprits)
        where = f" while {self._step}" if self._step in (READING, LOADING, WARMING_UP) else ""
        errors = {measure.name: reason + where for measure in culprits}
        return replace(
            so_far,
            status=status,
            errors={**so_far.errors, **errors},
            seconds={**so_far.seconds, **{name: round(seconds, 3) for name in errors}},
            rest=replace(job, measures=innocent, attempt=1) if innocent else None,
        )
