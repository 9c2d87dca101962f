"""What studies have in common: they run measures over a corpus, and resume if interrupted."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pgdl_measures.errors import PgdlError
from starting_kit_adapter.cli import failures
from starting_kit_adapter.cli.numbers import positive
from starting_kit_adapter.cli.run_options import add_again_arguments, add_time_limit
from starting_kit_adapter.cli.text import Progress, duration

if TYPE_CHECKING:
    from ingestion.corpus import Task
    from ingestion.plan import Plan, Request
    from ingestion.run import Report
    from pgdl_measures.base import Measure
    from scoring.reference import Reference


def add_run_arguments(parser: argparse.ArgumentParser) -> None:
    """The corpus, where results go, what is computed again, and how many processes work."""
    parser.add_argument("corpus", type=Path, metavar="ZOO", help="a corpus of trained models")
    parser.add_argument("-o", "--output", type=Path, required=True, help="where results go")
    parser.add_argument("--tasks", help="only these, separated by commas")
    parser.add_argument("--workers", type=positive, help="processes (default: cores / threads)")
    parser.add_argument("--threads", type=positive, default=1, help="of each process (default: 1)")
    add_again_arguments(parser)
    add_time_limit(parser)


def make_request(
    tasks: Sequence[Task], measures: Sequence[Measure], args: argparse.Namespace, **more: Any
) -> Request:
    """What is to be computed, by the options of `add_run_arguments` and what `more` a study has."""
    from ingestion.budget import COMPETITION_SECONDS, Limits
    from ingestion.plan import Request

    return Request(
        tasks,
        measures,
        Limits(args.time_limit or COMPETITION_SECONDS),
        retry_failed=bool(args.retry_failed),
        recompute=bool(args.recompute),
        **more,
    )


def compute(request: Request, args: argparse.Namespace) -> Report:
    """Computes what the record in the output folder does not have yet."""
    from ingestion.executors.local import LocalExecutor
    from ingestion.executors.process import WorkerSettings
    from ingestion.run import Listener, run

    settings = {
        name: plain for name, value in vars(args).items() if (plain := _plain(value)) is not None
    }
    with Progress(0, "models") as progress:

        def planned(plan: Plan) -> None:
            progress.total = len(plan.jobs)

        listener = Listener(
            planned, lambda job, good: progress.step(f"{job.task} {job.model}", failed=not good)
        )
        executor = LocalExecutor(WorkerSettings(args.threads), args.workers)
        about = {"corpus": str(args.corpus.resolve()), "settings": settings}
        report = run(request, args.output, executor, listener, about)
    print(f"{report.computed} models computed now, in {duration(report.seconds)}")
    return report


def tell_failures(report: Report, output: Path) -> int:
    """Prints what has no value; 1 if there is such."""
    remedy = "they stay so until --retry-failed, with a longer --time-limit if need be"
    return failures.tell_failures(report, output, remedy)


def reference_of(task: Task) -> Reference:
    """What is known of a task's models."""
    from scoring.reference import read_reference

    if task.reference is None:
        raise PgdlError(f"task {task.name} has no model_configs.json: no test accuracy is known")
    return read_reference(task.reference, task.name)


def examples_of(task: Task) -> int:
    """The training examples that measures see: those of the files that fit into memory."""
    from ingestion.data import check_shard, load_dataset
    from pgdl_measures.data import DEFAULT_MAX_BYTES

    shards = task.shards()
    inputs, _ = next(iter(load_dataset(shards[:1])))
    fitting = max(1, DEFAULT_MAX_BYTES // inputs.numpy().nbytes)
    return min(fitting, sum(map(check_shard, shards)))


def _plain(value: Any) -> Any:
    if isinstance(value, Path):
        return str(value)
    return value if isinstance(value, (int, float, str, list)) else None
