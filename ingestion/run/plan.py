"""What is to be done: the corpus and the measures asked for, less what the record already has.

A recorded result - a value, or the reason why there is none - counts if the code and options of the
measure and the files behind it are the same as now. A value also depends, in its last bits, on the
number of threads. Results that differ in code, options or threads are never mixed with new ones:
the plan is refused, or they are computed again if that was asked for. Models whose files changed
are computed again without asking, because their old values are of models that no longer exist;
their values of other measures are stale, too.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ingestion.corpus import Task
from ingestion.errors import CorpusError
from ingestion.run import fingerprint
from ingestion.run.architecture import architecture
from ingestion.run.budget import TimeLimit
from ingestion.run.fingerprint import FileCheck, model_files
from pgdl_measures.base import Measure
from pgdl_measures.errors import PgdlError
from scoring.record import Key, Line, Result, latest_results


class SettingsChangedError(PgdlError):
    """The output folder has values of other settings."""


@dataclass(frozen=True)
class Job:
    """The measures that one model still needs. Plain values: it travels to other processes."""

    task: str
    model: str
    folder: Path
    shards: tuple[Path, ...]  # none if the model names no data set of its task
    measures: tuple[Measure, ...]
    architecture: str  # models that are alike in it share their traced graphs and their data
    step_seconds: float  # the longest that one step may take
    attempt: int = 1
    warm_up: tuple[Measure, ...] = ()  # run first to trace the graphs; results discarded
    fingerprints: Mapping[str, str] = field(default_factory=dict)  # of the measures, by name
    custom: tuple[str, ...] = ()  # modules that define layers of the user's own


@dataclass(frozen=True)
class Request:
    """What the user asked for."""

    tasks: Sequence[Task]
    measures: Sequence[Measure]
    limits: TimeLimit = field(default_factory=TimeLimit)
    seed: int = 0  # written to the record; the measures have it among their options
    threads: int = 1  # of each worker
    models: frozenset[str] | None = None  # only these
    first: int | None = None  # only so many of each task
    retry_failed: bool = False  # compute again what failed
    recompute: bool = False  # compute again what was computed with other settings
    warm_up: tuple[Measure, ...] = ()  # run first in every job, so that they pay for tracing
    custom: tuple[str, ...] = ()  # modules that define layers of the user's own
    split: str = "train"  # the part of the data that measures see

    def selected(self, task: Task) -> list[str]:
        """The models of a task that were asked for."""
        chosen = [m for m in task.model_ids if self.models is None or m in self.models]
        return chosen[: self.first]


@dataclass(frozen=True)
class Plan:
    """The work, and the results that are there already."""

    jobs: tuple[Job, ...]
    results: dict[Key, Result]
    outdated: frozenset[Key]  # stale results, of other settings or files
    changed: int  # models to be computed again because their files changed
    withdrawn: tuple[str, ...] = ()  # measures not asked for that have outdated results
    fingerprints: Mapping[str, str] = field(default_factory=dict)  # of the measures, by name


def make_plan(request: Request, lines: Iterable[Line]) -> Plan:
    """Compares what is asked for with what is recorded; reads files only if their times differ."""
    fingerprints = {measure.name: fingerprint.settings(measure) for measure in request.measures}
    names = {task.name for task in request.tasks}
    recorded = {key: result for key, result in latest_results(lines).items() if key[0] in names}
    results = {key: result for key, result in recorded.items() if key[2] in fingerprints}
    other = {
        key
        for key, result in results.items()
        if result.fingerprint != fingerprints[key[2]] or _other_threads(result, request.threads)
    }
    if other and not request.recompute:
        raise SettingsChangedError(_refusal(request, results, other))
    check, measured = FileCheck(), {measure for _, _, measure in recorded}
    stale: set[Key] = set()
    jobs: list[Job] = []
    for task in request.tasks:
        of_dataset = {name: tuple(task.shards(request.split, name)) for name in task.datasets}
        selected = set(request.selected(task))
        for model in task.model_ids:
            try:
                dataset = task.dataset_of(model)
            except CorpusError:  # costs this model alone, when it is computed
                dataset = ""
            shards = of_dataset.get(dataset, ())
            keys = {measure.name: (task.name, model, measure.name) for measure in request.measures}
            files = model_files(task.model_folder(model), request.custom)
            stale |= {
                key
                for key in ((task.name, model, measure) for measure in measured)
                if key in recorded and not _same_files(recorded[key], files, shards, check)
            }
            missing = tuple(
                measure
                for measure in request.measures
                if _is_missing(results.get(keys[measure.name]), request.retry_failed)
                or keys[measure.name] in stale
                or keys[measure.name] in other
            )
            if missing and model in selected:
                jobs.append(
                    Job(
                        task.name,
                        model,
                        task.model_folder(model),
                        shards,
                        missing,
                        f"{dataset} {architecture(task.model_folder(model))}",
                        request.limits.step_seconds(len(task.model_ids)),
                        warm_up=request.warm_up,
                        fingerprints=fingerprints,
                        custom=request.custom,
                    )
                )
    outdated = frozenset(stale | other)
    current = {key: result for key, result in results.items() if key not in outdated}
    changed = {key[:2] for key in stale - other if key in results}
    withdrawn = sorted({measure for _, _, measure in outdated if measure not in fingerprints})
    return Plan(tuple(jobs), current, outdated, len(changed), tuple(withdrawn), fingerprints)


def _is_missing(result: Result | None, retry_failed: bool) -> bool:
    return result is None or (retry_failed and result.value is None)


def _other_threads(result: Result, threads: int) -> bool:
    """Only values depend on the number of threads; the reason of a failure does not."""
    return result.value is not None and result.threads != threads


def _same_files(
    result: Result, model: Sequence[Path], shards: Sequence[Path], check: FileCheck
) -> bool:
    """A failure before the files were read leaves no stamps: then there is nothing to compare."""
    return (result.model_files is None or check.unchanged(model, result.model_files)) and (
        result.data_files is None or check.unchanged(shards, result.data_files)
    )


def _refusal(request: Request, results: Mapping[Key, Result], other: set[Key]) -> str:
    lines = []
    for measure in request.measures:
        found = [results[key] for key in sorted(other) if key[2] == measure.name]
        if found:
            count = f"{measure.name}: {len(found)} result{'s' * (len(found) > 1)}"
            lines.append(f"{count} {_difference(found[-1], measure, request.threads)}")
    return (
        "the output folder has results of other settings, which are not mixed with new ones:\n  "
        + "\n  ".join(lines)
        + "\nChoose another output folder, or compute them again with --recompute"
    )


def _difference(result: Result, measure: Measure, threads: int) -> str:
    then, now = _options(result.options), _options(measure.options)
    if then != now:
        return f"with {then}; now {now}"
    if _other_threads(result, threads):
        return f"with --threads {result.threads}; now --threads {threads}"
    return "of another version of the measure: its code changed, or code that it uses"


def _options(options: Mapping[str, Any]) -> str:
    return ", ".join(f"{k}={v}" for k, v in sorted(options.items())) or "the default options"
