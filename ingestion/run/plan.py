"""What is to be done: the corpus and the measures asked for, less what the record already has.

A recorded result - a value, or the reason why there is none - counts if the measure's settings and
the files behind it are the same as now. Results of other settings are never mixed with new ones:
the plan is refused, or they are computed again if that was asked for. Models whose files changed
are computed again without asking, because their old values are of models that are no more; those
of measures that were not asked for hold no more either.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ingestion.corpus import Task
from ingestion.run import fingerprint
from ingestion.run.budget import Limits
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
    shards: tuple[Path, ...]
    measures: tuple[Measure, ...]
    architecture: str  # models that are alike in it share their traced graphs
    step_seconds: float  # the longest that one step may take
    attempt: int = 1
    warm_up: tuple[Measure, ...] = ()  # computed before them and not told


@dataclass(frozen=True)
class Request:
    """What the user asked for."""

    tasks: Sequence[Task]
    measures: Sequence[Measure]
    limits: Limits = field(default_factory=Limits)
    seed: int = 0  # said in the record; the measures have it among their options
    models: frozenset[str] | None = None  # only these
    first: int | None = None  # only so many of each task
    retry_failed: bool = False  # compute again what failed
    recompute: bool = False  # compute again what was computed with other settings
    warm_up: tuple[Measure, ...] = ()  # first in every job: tracing graphs is on their time

    def selected(self, task: Task) -> list[str]:
        """The models of a task that were asked for."""
        chosen = [m for m in task.model_ids if self.models is None or m in self.models]
        return chosen[: self.first]


@dataclass(frozen=True)
class Plan:
    """The work, and the results that are there already."""

    jobs: tuple[Job, ...]
    results: dict[Key, Result]
    outdated: frozenset[Key]  # results of other settings or files, which hold no more
    changed: int  # models to be computed again because their files changed
    withdrawn: tuple[str, ...] = ()  # measures not asked for that have outdated results


def make_plan(request: Request, lines: Iterable[Line]) -> Plan:
    """Compares what is asked for with what is recorded; reads files only if their times differ."""
    wanted = {measure.name: fingerprint.settings(measure) for measure in request.measures}
    names = {task.name for task in request.tasks}
    recorded = {key: result for key, result in latest_results(lines).items() if key[0] in names}
    results = {key: result for key, result in recorded.items() if key[2] in wanted}
    other = {key for key, result in results.items() if result.fingerprint != wanted[key[2]]}
    if other and not request.recompute:
        raise SettingsChangedError(_refusal(request.measures, results, other))
    check, measured = FileCheck(), {measure for _, _, measure in recorded}
    stale: set[Key] = set()
    jobs: list[Job] = []
    for task in request.tasks:
        shards = tuple(task.shards())
        selected = set(request.selected(task))
        for model in task.model_ids:
            keys = {measure.name: (task.name, model, measure.name) for measure in request.measures}
            files = model_files(task.model_folder(model))
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
                        _architecture(task.model_folder(model)),
                        request.limits.step_seconds(len(task.model_ids)),
                        warm_up=request.warm_up,
                    )
                )
    outdated = frozenset(stale | other)
    current = {key: result for key, result in results.items() if key not in outdated}
    changed = {key[:2] for key in stale - other if key in results}
    withdrawn = sorted({measure for _, _, measure in outdated if measure not in wanted})
    return Plan(tuple(jobs), current, outdated, len(changed), tuple(withdrawn))


def _is_missing(result: Result | None, retry_failed: bool) -> bool:
    return result is None or (retry_failed and result.value is None)


def _same_files(
    result: Result, model: Sequence[Path], shards: Sequence[Path], check: FileCheck
) -> bool:
    """A failure before the files were read leaves no stamps: then there is nothing to compare."""
    return (result.model_files is None or check.unchanged(model, result.model_files)) and (
        result.data_files is None or check.unchanged(shards, result.data_files)
    )


def _architecture(folder: Path) -> str:
    """A digest of the layers; a configuration that cannot be read is like no other."""
    try:
        config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
        return fingerprint.digest([config["model_config"], config["input_shape"]])
    except (OSError, ValueError, KeyError, TypeError):
        return str(folder)


def _refusal(measures: Sequence[Measure], results: Mapping[Key, Result], other: set[Key]) -> str:
    lines = []
    for measure in measures:
        found = [results[key] for key in sorted(other) if key[2] == measure.name]
        if found:
            then, now = _options(found[-1].options), _options(measure.options)
            lines.append(
                f"{measure.name}: {len(found)} results with {then}; now {now}"
                if then != now
                else f"{measure.name}: {len(found)} results of another version of the measure"
            )
    return (
        "the output folder has results of other settings, which are not mixed with new ones:\n  "
        + "\n  ".join(lines)
        + "\nChoose another output folder, or compute them again with --recompute"
    )


def _options(options: Mapping[str, Any]) -> str:
    return ", ".join(f"{k}={v}" for k, v in sorted(options.items())) or "the default options"
