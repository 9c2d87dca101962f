"""The models of a run on a progress line, for the verbs that run measures."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from starting_kit_adapter.terminal.failures import warn
from starting_kit_adapter.terminal.text import Progress

if TYPE_CHECKING:
    from ingestion.run.loop import Listener
    from ingestion.run.plan import Job, Plan


def run_listener(
    progress: Progress,
    planned: Callable[[Plan], None] = lambda plan: None,
    name: Callable[[Job], str] = lambda job: f"{job.task} {job.model}",
) -> Listener:
    """Counts the models on the line by their names, and prints warnings; `planned` comes first."""
    from ingestion.run.loop import Listener

    def begin(plan: Plan) -> None:
        progress.total = len(plan.jobs)
        planned(plan)

    def step(job: Job, good: bool) -> None:
        progress.step(name(job), failed=not good)

    return Listener(begin, step, warn)
