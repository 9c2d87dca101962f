"""`pgdl zoo suite`: the tasks of a suite, one after the other, into one corpus."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from starting_kit_adapter.terminal.numbers import positive, seed
from starting_kit_adapter.terminal.selection import add_tasks, split_names
from starting_kit_adapter.terminal.stopping import tell_stopped
from starting_kit_adapter.terminal.text import Progress, table

_HEADINGS = ["task", "models", "fit", "gaps", "data", "after"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The suite, its data, and where it goes."""
    parser.add_argument("suite", metavar="SUITE", help="mini, or a JSON file that lists tasks")
    parser.add_argument("-o", "--output", type=Path, required=True, help="the folder of the corpus")
    parser.add_argument(
        "--data-dir",
        type=Path,
        metavar="DIR",
        help="the folder of the suite's .npz files (default: they come from TFDS)",
    )
    add_tasks(parser)
    parser.add_argument(
        "--state", action="store_true", help="show what is trained already, and exit"
    )
    parser.add_argument("--workers", type=positive, help="processes (default: one per core)")
    parser.add_argument(
        "--threads", type=positive, default=1, help="threads of each process (default: 1)"
    )
    parser.add_argument(
        "--seed", type=seed, default=0, help="random seed of every task (default: 0)"
    )


def run(args: argparse.Namespace) -> int:
    """Trains what is missing and prints the state; 1 if a model could not be trained."""
    from ingestion.run.executors.local import available_cpus
    from ingestion.zoo.build import build
    from ingestion.zoo.suite import plans, read_suite, state
    from pgdl_measures.errors import UnknownNameError

    suite = read_suite(args.suite)
    if args.tasks:
        named = {task.name: task for task in suite}
        for name in split_names(args.tasks):
            if name not in named:
                raise UnknownNameError("task", name, named)
        suite = [named[name] for name in split_names(args.tasks)]
    if args.state:
        print(table(_HEADINGS, state(suite, args.output)))
        return 0
    workers = args.workers or max(1, available_cpus() // args.threads)
    problems = []
    try:
        prepared = plans(suite, args.output, args.data_dir, args.seed, args.threads)
        for place, (task, plan, notes) in enumerate(prepared, 1):
            print(f"{task.name}, {place} of {len(suite)}: {task.models} models", file=sys.stderr)
            for note in notes:
                print(f"note: {note}", file=sys.stderr)
            failed = build(args.output, plan, workers, Progress)
            problems += [f"{task.name}/model_{o.job.model} failed: {o.problem}" for o in failed]
    except KeyboardInterrupt as error:
        return tell_stopped(error)
    print(table(_HEADINGS, state(suite, args.output)))
    for problem in problems:
        print(problem, file=sys.stderr)
    return 1 if problems else 0
