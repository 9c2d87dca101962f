"""`pgdl study robust`: the figures and tables of Dziugaite et al. 2020, on your own zoo.

The 24 measures of their C.6 are computed for every model. An environment is a pair of settings that
differ in one hyperparameter - depth, width, learning rate, training set size or data set - and a
measure is judged by the share of pairs of runs that it puts in the wrong order there.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from starting_kit_adapter.studies.running import (
    add_run_arguments,
    compute,
    reference_of,
    tell_failures,
)
from starting_kit_adapter.terminal.board import add_robust
from starting_kit_adapter.terminal.numbers import seed
from starting_kit_adapter.terminal.output import need_writable
from starting_kit_adapter.terminal.selection import split_names
from starting_kit_adapter.terminal.stopping import tell_stopped

if TYPE_CHECKING:
    from ingestion.corpus import Task
    from ingestion.run.loop import Report
    from scoring.robust.runs import Runs

HELP = "Which measures predict the effect of every hyperparameter? Dziugaite et al. 2020"
EXAMPLES = """\
examples:
  pgdl zoo build --data tfds:cifar10 --data tfds:svhn_cropped --grid dziugaite-nin -o zoo/
  pgdl study robust zoo/ -o out/
  pgdl study robust zoo/ -o out/ -m params,path_norm,gi_intra_l0     other measures than the 24
  pgdl study robust runs.csv --by dataset -o out/      columns hp.*, complexity.*, gen.gap

Repeats the figures of Dziugaite et al. 2020. An environment is a pair of settings that differ in
one hyperparameter; the sign-error of a measure there is the share of pairs of networks that it puts
in the wrong order.

Writes to out/robust/<task>/ the tables (table.txt), all numbers (table.csv, table.json), every
environment in which a measure is worse than chance (failing.csv), and the figures as SVG and PNG:
1 sign-errors by hyperparameter; 2 sign-errors of the best measure between two values; 3 and 4 noise
filtering; 5 to 7 robust RMSE of oracles; 11 the weaker environments (all environments between two
values of a hyperparameter as one). With --by there is a folder for each value, which holds figures
8 to 10.
Networks whose training missed its target are left out, as in C.5 of that paper; --all keeps them.
The same command resumes an interrupted study.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_run_arguments(parser)
    parser.add_argument(
        "-m",
        "--measures",
        help="names separated by commas (default: the 24 of Dziugaite et al. 2020; all of a CSV)",
    )
    parser.add_argument(
        "--all", action="store_true", help="keep networks whose training missed its target"
    )
    parser.add_argument(
        "--by",
        metavar="HPARAM",
        help="also evaluate the models of each value of this hyperparameter alone",
    )
    add_robust(parser)
    parser.add_argument("--seed", type=seed, default=0, help="random seed (default: 0)")


def run(args: argparse.Namespace) -> int:
    """Computes missing values, then writes tables and figures; 1 if a model has no value."""
    from ingestion.corpus import find_corpus
    from ingestion.quiet import import_tensorflow
    from ingestion.run.chosen import choose_measures
    from pgdl_measures.norms.entries import entries
    from scoring.canvas import need_matplotlib

    need_matplotlib()  # before hours of computing
    if args.corpus.suffix == ".csv":
        return _run_csv(args)
    tasks = find_corpus(args.corpus).select(args.tasks)
    for task in tasks:
        reference_of(task)  # raises if there is none
    import_tensorflow()
    names = split_names(args.measures) if args.measures else [entry.name for entry in entries()]
    chosen = choose_measures(names, {}, args.seed)
    try:
        report = compute(tasks, chosen, args, seed=args.seed)
    except KeyboardInterrupt as error:
        return tell_stopped(error)
    for task in tasks:
        write_task(task, [measure.name for measure in chosen], report, args)
    return tell_failures(report, args.output)


def write_task(
    task: Task, measures: Sequence[str], report: Report, args: argparse.Namespace
) -> None:
    from scoring.robust.evaluation import TEST_SIZE
    from scoring.robust.precision import examples_behind_gaps
    from starting_kit_adapter.studies.robust.runs import runs_of

    known = {} if task.reference is None else examples_behind_gaps(task.reference.parent)
    size = args.test_size or known.get(task.name, TEST_SIZE)
    runs = runs_of(task, measures, report, keep_all=args.all)
    _write_runs(runs, args.output / "robust" / task.name, size, args)


def _run_csv(args: argparse.Namespace) -> int:
    """A table of runs that somebody else trained and measured."""
    need_writable(args.output)
    from scoring.robust.evaluation import TEST_SIZE
    from scoring.robust.runs import read_csv

    runs = read_csv(args.corpus)
    if args.measures:
        runs = runs.only(split_names(args.measures))
    _write_runs(runs, args.output / "robust" / runs.name, args.test_size or TEST_SIZE, args)
    return 0


def _write_runs(runs: Runs, folder: Path, size: int, args: argparse.Namespace) -> None:
    """Tables and figures of all runs, and of those of each value of the hyperparameter `--by`."""
    from scoring.robust.evaluation import evaluate
    from starting_kit_adapter.studies.robust.writing import write_evaluation

    tables = {folder: runs}
    if args.by is not None:
        known = dict(zip(runs.hparams, runs.values))
        for value in known.get(args.by, ("",)):
            only = runs.where(args.by, str(value))
            tables[folder.with_name(f"{folder.name}-{args.by}-{value}")] = only
    for target, table in tables.items():
        found = evaluate(table, test_size=size, min_effective=args.min_effective)
        print(f"\n{table.name}, {len(table.gap)} models, {size:,} test examples\n")
        print(write_evaluation(found, target))
        print(f"wrote {target}")
