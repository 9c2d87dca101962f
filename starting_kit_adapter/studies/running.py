"""What studies share: they run measures over a corpus, and resume if interrupted."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pgdl_measures.errors import PgdlError
from starting_kit_adapter.terminal import failures
from starting_kit_adapter.terminal.custom import add_custom
from starting_kit_adapter.terminal.run_options import (
    add_again_arguments,
    add_time_limit,
    add_worker_arguments,
    run_arguments,
)
from starting_kit_adapter.terminal.run_progress import run_listener
from starting_kit_adapter.terminal.selection import add_tasks
from starting_kit_adapter.terminal.text import Progress, duration

if TYPE_CHECKING:
    from ingestion.corpus import Task
    from ingestion.run.loop import Report
    from pgdl_measures.base import Measure
    from scoring.kit.reference import Reference


def add_run_arguments(parser: argparse.ArgumentParser) -> None:
    """The corpus, where results go, what is computed again, and by which processes."""
    parser.add_argument("corpus", type=Path, metavar="ZOO", help="a corpus of trained models")
    parser.add_argument("-o", "--output", type=Path, required=True, help="where results go")
    add_tasks(parser)
    add_worker_arguments(parser)
    add_custom(parser)
    add_again_arguments(parser)
    add_time_limit(parser)


def compute(
    tasks: Iterable[Task],
    measures: Sequence[Measure],
    args: argparse.Namespace,
    *,
    out: Path | None = None,
    **more: Any,
) -> Report:
    """Computes what the record in `out` (default: the output folder) does not have yet.

    Where and with which limits is in the options of `add_run_arguments`; `more` are arguments of
    `ingestion.evaluate`.
    """
    from ingestion import evaluate

    options = vars(args)
    with Progress(0, "models") as progress:
        report = evaluate(
            args.corpus,
            measures,
            out or args.output,
            tasks=[task.name for task in tasks],
            listener=run_listener(progress),
            settings={k: plain for k, v in options.items() if (plain := _plain(v)) is not None},
            **run_arguments(options),
            **more,
        )
    print(f"{report.computed} models computed now, in {duration(report.seconds)}")
    return report


def tell_failures(report: Report, output: Path) -> int:
    """Prints the models without a value; returns 1 if there are any."""
    remedy = "to compute them again: --retry-failed, with a longer --time-limit if they timed out"
    return failures.tell_failures(report, output, remedy)


def reference_of(task: Task) -> Reference:
    """The reference of a task: hyperparameters and accuracies."""
    from scoring.kit.reference import read_reference

    if task.reference is None:
        raise PgdlError(f"task {task.name} has no model_configs.json: no test accuracy is known")
    return read_reference(task.reference, task.name)


def examples_of(task: Task) -> int:
    """The training examples that measures see: those of the files that fit into memory, of the
    smallest data set."""
    from ingestion.datasets.data import check_shard, load_dataset
    from pgdl_measures.data import DEFAULT_MAX_BYTES

    shards_of_datasets = [task.shards(dataset=dataset) for dataset in task.datasets]
    inputs, _ = next(iter(load_dataset(shards_of_datasets[0][:1])))
    fitting = max(1, DEFAULT_MAX_BYTES // inputs.numpy().nbytes)
    return min(fitting, *(sum(map(check_shard, shards)) for shards in shards_of_datasets))


def _plain(value: Any) -> Any:
    if isinstance(value, Path):
        return str(value)
    return value if isinstance(value, (int, float, str, list)) else None
