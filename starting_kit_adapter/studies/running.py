"""What studies have in common: they run measures over a corpus, and resume if interrupted."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pgdl_measures.errors import PgdlError
from starting_kit_adapter.cli.text import Progress, duration

if TYPE_CHECKING:
    from ingestion.corpus import Task
    from ingestion.plan import Plan, Request
    from ingestion.run import Report
    from scoring.reference import Reference

_SHOWN = 10  # failures that are printed


def add_run_arguments(parser: argparse.ArgumentParser) -> None:
    """The corpus, where results go, and how many processes work."""
    parser.add_argument("corpus", type=Path, metavar="ZOO", help="a corpus of trained models")
    parser.add_argument("-o", "--output", type=Path, required=True, help="where results go")
    parser.add_argument("--tasks", help="only these, separated by commas")
    parser.add_argument("--workers", type=count, help="processes (default: cores / threads)")
    parser.add_argument("--threads", type=count, default=1, help="of each process (default: 1)")


def compute(request: Request, args: argparse.Namespace) -> Report:
    """Computes what the record in the output folder does not have yet."""
    from ingestion.executors.local import LocalExecutor
    from ingestion.executors.process import WorkerSettings
    from ingestion.run import Listener, run

    settings = {name: plain for name, value in vars(args).items() if (plain := _plain(value))}
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
    failures = report.failures()
    for (task, model, measure), error in failures[:_SHOWN]:
        print(f"failed: {task} {model} {measure}: {error}")
    if len(failures) > _SHOWN:
        print(f"… and {len(failures) - _SHOWN} more, all in {output}/records.jsonl")
    return 1 if failures else 0


def reference_of(task: Task) -> Reference:
    """What is known of a task's models."""
    from scoring.reference import read_reference

    if task.reference is None:
        raise PgdlError(f"task {task.name} has no model_configs.json: no test accuracy is known")
    return read_reference(task.reference, task.name)


def count(text: str) -> int:
    """A positive number."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"expected a positive integer, found {text!r}")
    return int(text)


def _plain(value: Any) -> Any:
    if isinstance(value, Path):
        return str(value)
    return value if isinstance(value, (int, float, str, list)) else None
