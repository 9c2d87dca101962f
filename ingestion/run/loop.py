"""Measures over the models of a corpus: plans, hands out the work, keeps the record.

All results pass through the one process that runs this, which appends them to the record one by
one; predictions are written from the record whenever a task is complete. So a run that was
interrupted continues from there. Stale predictions are removed first, so that none of them is taken
for a result of this run.
"""

from __future__ import annotations

import time
import warnings
from collections import Counter
from collections.abc import Callable, Generator, Mapping
from contextlib import closing
from dataclasses import dataclass, replace
from datetime import datetime, timezone
from pathlib import Path
from typing import Any, Protocol

from ingestion.corpus import Task
from ingestion.run.budget import EXCEEDED, TaskBudgets
from ingestion.run.executors.outcome import BEYOND, Outcome
from ingestion.run.executors.queue import Queue
from ingestion.run.plan import Job, Plan, Request, make_plan
from ingestion.run.store import Store
from scoring.record import Key, Line, Result, latest_results


class Executor(Protocol):
    """Does the jobs of a queue, in any order, until none is left."""

    @property
    def threads(self) -> int:
        """The threads of each worker, on which values depend in their last bits."""
        ...

    def run(self, jobs: Queue) -> Generator[Outcome, None, None]:
        """The outcome of every job as it is known; closing the iterator stops the work."""
        ...


@dataclass(frozen=True)
class Report:
    """How a run ended: all results that were asked for, old and new."""

    results: Mapping[Key, Result]
    asked: int  # models that were asked for
    computed: int  # models of this run
    seconds: float

    def values(self, task: str, measure: str) -> dict[str, float]:
        """The values of a measure by model; without the models that have none."""
        return {
            model: result.value
            for (in_task, model, by), result in self.results.items()
            if (in_task, by) == (task, measure) and result.value is not None
        }

    def failures(self) -> list[tuple[Key, str]]:
        """The results without a value, with the reason."""
        return [(key, r.error or "") for key, r in self.results.items() if r.value is None]


@dataclass(frozen=True)
class Listener:
    """Called while a run goes on."""

    planned: Callable[[Plan], None] = lambda plan: None
    # After every model: its job, and whether all of its measures have values.
    step: Callable[[Job, bool], None] = lambda job, good: None
    # A problem that does not stop the run, such as a damaged line of the record.
    warn: Callable[[str], None] = warnings.warn


def run(
    request: Request,
    out: Path,
    executor: Executor,
    listener: Listener,
    settings: Mapping[str, Any],
) -> Report:
    """Computes what is missing. `settings` go into `run.json` as they are."""
    started = time.monotonic()
    about = {
        **settings,
        "measures": {measure.name: dict(measure.options) for measure in request.measures},
        "started": _now(),
    }
    with Store(out) as store:
        for problem in store.problems:
            listener.warn(problem)
        plan = make_plan(request, store.lines)
        listener.planned(plan)
        for task, measure in {(task, measure) for task, _, measure in plan.outdated}:
            store.remove_predictions(measure, task)
        store.write_run({**about, "finished": None})
        recorder = _Recorder(request, plan, store)
        recorder.write_complete_tasks()
        jobs = Queue(plan.jobs)
        with closing(executor.run(jobs)) as outcomes:
            for outcome in outcomes:
                for recorded in recorder.record(outcome, jobs):
                    if recorded.rest is None:
                        listener.step(recorded.job, not recorded.errors)
        # Models past the budget never reached a worker, so they have no versions.
        versions = [line.versions for line in store.lines if line.versions]
        store.write_run({**about, "finished": _now(), "versions": dict((versions or [{}])[-1])})
        results = recorder.results()
    asked = sum(len(request.selected(task)) for task in request.tasks)
    return Report(results, asked, len(plan.jobs), time.monotonic() - started)


class _Recorder:
    """Turns outcomes into the record, and the record into predictions."""

    def __init__(self, request: Request, plan: Plan, store: Store) -> None:
        self._request, self._plan, self._store = request, plan, store
        self._tasks = {task.name: task for task in request.tasks}
        self._left = Counter(job.task for job in plan.jobs)
        self._new = len(store.lines)
        self._budgets = self._open_budgets()

    def record(self, outcome: Outcome, jobs: Queue) -> list[Outcome]:
        """Records an outcome and those that follow from it; returns all of them."""
        outcomes = [outcome] if self._budgets is None else self._charge(outcome, jobs)
        for one in outcomes:
            if one.values or one.errors:
                self._store.append(self._line(one))
            if one.rest is None:
                self._left[one.job.task] -= 1
        self._write_if_complete(self._tasks[outcome.job.task])
        return outcomes

    def results(self) -> dict[Key, Result]:
        """The results of the models that were asked for."""
        known = self._known()
        return {
            key: known[key]
            for task in self._request.tasks
            for model in self._request.selected(task)
            for measure in self._request.measures
            if (key := (task.name, model, measure.name)) in known
        }

    def write_complete_tasks(self) -> None:
        """Writes the predictions of the tasks in which nothing is left to do."""
        for task in self._request.tasks:
            self._write_if_complete(task)

    def _write_if_complete(self, task: Task) -> None:
        if self._left[task.name]:
            return
        known = self._known()
        for measure in self._request.measures:
            values: dict[str, float | str] = {}
            for model in task.model_ids:
                result = known.get((task.name, model, measure.name))
                if result is not None and result.value is not None:
                    values[model] = result.value
                elif result is not None and result.error == EXCEEDED:
                    values[model] = EXCEEDED
            self._store.write_predictions(measure.name, task.name, values)

    def _known(self) -> dict[Key, Result]:
        """Old results that are still valid, and those of this run."""
        return {**self._plan.results, **latest_results(self._store.lines[self._new :])}

    def _line(self, outcome: Outcome) -> Line:
        job = outcome.job
        named = {*outcome.values, *outcome.errors}
        measures = [measure for measure in job.measures if measure.name in named]
        return Line(
            job.task,
            job.model,
            outcome.status,
            outcome.values,
            outcome.seconds,
            outcome.errors,
            outcome.batches,
            tuple(outcome.curves),
            outcome.peak_memory,
            job.attempt,
            options={measure.name: dict(measure.options) for measure in measures},
            seed=self._request.seed,
            threads=outcome.threads,
            versions=outcome.versions,
            fingerprints={m.name: self._plan.fingerprints[m.name] for m in measures},
            model_files=outcome.files.model if outcome.files else None,
            data_files=outcome.files.data if outcome.files else None,
            time=_now(),
            stderr_tail=outcome.stderr_tail,
        )

    def _open_budgets(self) -> TaskBudgets | None:
        limits = self._request.limits
        if limits.rule != "task":
            return None
        budgets = TaskBudgets(
            {t.name: limits.step_seconds(len(t.model_ids)) for t in self._request.tasks}
        )
        for (task, _, measure), result in self._plan.results.items():
            budgets.spend(task, measure, result.seconds)
        return budgets

    def _charge(self, outcome: Outcome, jobs: Queue) -> list[Outcome]:
        """The kit's rule: after the model that uses up a measure's budget, no other has a value."""
        assert self._budgets is not None
        task, following = outcome.job.task, []
        for measure, seconds in outcome.seconds.items():
            was_over = self._budgets.exceeded(task, measure)  # another model used it up meanwhile
            self._budgets.spend(task, measure, seconds)
            if not self._budgets.exceeded(task, measure):
                continue
            if was_over or measure in outcome.errors:
                outcome = replace(
                    outcome,
                    status=BEYOND,
                    values={k: v for k, v in outcome.values.items() if k != measure},
                    errors={**outcome.errors, measure: EXCEEDED},
                )
            following += [
                Outcome(job, BEYOND, errors={measure: EXCEEDED}, rest=rest)
                for job, rest in jobs.drop(task, measure)
            ]
        return [outcome, *following]


def _now() -> str:
    return datetime.now(timezone.utc).isoformat(timespec="seconds")
