"""`pgdl study robust`: Figures 1 and 2 and the oracles of Dziugaite et al. 2020, on your own zoo.

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
from starting_kit_adapter.terminal.board import add_robust, text_of
from starting_kit_adapter.terminal.numbers import seed
from starting_kit_adapter.terminal.stopping import tell_stopped

if TYPE_CHECKING:
    from ingestion.corpus import Task
    from ingestion.run.loop import Report
    from scoring.robust.evaluation import Evaluation

HELP = "Which measures predict the effect of one hyperparameter in every environment?"
EXAMPLES = """\
examples:
  pgdl zoo build --data tfds:cifar10 --data tfds:svhn_cropped --grid dziugaite-nin -o zoo/
  pgdl study robust zoo/ -o out/
  pgdl study robust zoo/ -o out/ -m params,path_norm,gi_intra_l0     measures of your choice

Writes to out/robust/<task>/ the tables (table.txt), all numbers (table.csv, table.json), Figure 1
(sign-errors over all environments and by hyperparameter) and, for the best measure on average,
Figure 2 (between which values a hyperparameter changes). Networks that missed the target of their
training are left out, as in the paper (C.5); --all keeps them. The same command resumes an
interrupted study.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_run_arguments(parser)
    parser.add_argument(
        "-m", "--measures", help="names separated by commas (default: the 24 of the paper)"
    )
    parser.add_argument(
        "--all", action="store_true", help="keep networks that missed the target of their training"
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
    tasks = find_corpus(args.corpus).select(args.tasks)
    for task in tasks:
        reference_of(task)  # raises if there is none
    import_tensorflow()
    names = args.measures.split(",") if args.measures else [entry.name for entry in entries()]
    chosen = choose_measures([name.strip() for name in names], {}, args.seed)
    try:
        report = compute(tasks, chosen, args, seed=args.seed)
    except KeyboardInterrupt as error:
        return tell_stopped(error)
    for task in tasks:
        _write(task, [measure.name for measure in chosen], report, args)
    return tell_failures(report, args.output)


def _write(task: Task, measures: Sequence[str], report: Report, args: argparse.Namespace) -> None:
    from scoring.files import write_whole
    from scoring.report.robust_formats import robust_csv, robust_json, robust_sheets
    from scoring.robust.board import evaluation_notes
    from scoring.robust.evaluation import TEST_SIZE, evaluate
    from scoring.robust.precision import examples_behind_gaps
    from starting_kit_adapter.studies.robust.runs import runs_of

    known = {} if task.reference is None else examples_behind_gaps(task.reference.parent)
    size = args.test_size or known.get(task.name, TEST_SIZE)
    runs = runs_of(task, measures, report, keep_all=args.all)
    found = evaluate(runs, test_size=size, min_effective=args.min_effective)
    folder = args.output / "robust" / task.name
    text = text_of(robust_sheets(found), tuple(evaluation_notes(found)))
    print(f"\n{task.name}, {len(runs.gap)} models, {size:,} test examples\n\n{text}")
    write_whole(folder / "table.txt", text)
    write_whole(folder / "table.csv", robust_csv(found))
    write_whole(folder / "table.json", robust_json(found))
    if found.strongest.kept.any():
        _save_figures(found, folder)
    print(f"wrote {folder}")


def _save_figures(found: Evaluation, folder: Path) -> None:
    from scoring.canvas import new_figure
    from scoring.report.robust_plots import plot_sign_errors, plot_triangle
    from scoring.robust.families import hparam_families
    from starting_kit_adapter.terminal.figures import save

    rows = 1 + len(list(hparam_families(found.strongest)))
    size = min(12.0, max(5.0, 1.6 + 0.42 * len(found.measures))), 1.9 + 0.62 * rows
    figure, axes = new_figure(1, 1, size)
    plot_sign_errors(found, axes[0, 0])
    save(figure, folder / "figure1")
    best = found.measures[found.order[0]]
    for hparam, values in zip(found.runs.hparams, found.runs.values):
        if len(values) > 2:
            figure, axes = new_figure(1, 1, (4.5, 3.6))
            plot_triangle(found, best, hparam, axes[0, 0])
            figure.suptitle(f"{best}, {hparam}", fontsize=10)
            save(figure, folder / f"figure2_{hparam}")
