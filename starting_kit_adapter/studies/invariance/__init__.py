"""`pgdl study invariance`: Schiff et al. 2021, Table 3 and Figures 6 to 9, on your own zoo.

Each task of the zoo was trained with one perturbation as augmentation, in three groups - none,
partial, full - and tested under its full range. Three measures predict the gap from the training
data: the accuracy on randomly perturbed images, the mean of the response curve, and Gi. CMI
conditions on the hyperparameters; the group is not one of them.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from pgdl_measures.errors import PgdlError
from starting_kit_adapter.studies.running import (
    add_run_arguments,
    compute,
    examples_of,
    tell_failures,
)
from starting_kit_adapter.terminal.numbers import positive, seed
from starting_kit_adapter.terminal.stopping import tell_stopped

if TYPE_CHECKING:
    from ingestion.corpus import Task
    from ingestion.run.loop import Report
    from starting_kit_adapter.studies.invariance.scores import Scores

HELP = "Does Gi predict invariance? Table 3 of Schiff et al. 2021"
EXAMPLES = """\
examples:
  pgdl zoo build --data tfds:cifar10 --grid schiff-resnet --augment rotation -o zoo/
  pgdl zoo build --data tfds:cifar10 --grid schiff-vgg --augment rotation -o zoo/
  pgdl zoo build --data tfds:svhn_cropped --grid schiff-vgg --augment rotation90 -o zoo/
  pgdl study invariance zoo/ -o out/

Repeats Section 4.2 of Schiff et al. 2021. Writes out/invariance/table.txt and .json (Table 3: the
CMI of Gi and two baselines, a column for each data set and architecture, with the published numbers
below), and for each task a scatter plot of the gap against each measure with the number of models,
CMI and Pearson's R (Figures 6 to 9). Only models with a training accuracy of --threshold or more
count, as in that paper. The same command resumes an interrupted study.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_run_arguments(parser)
    parser.add_argument(
        "--threshold", type=float, default=0.8, help="smallest training accuracy (default: 0.8)"
    )
    parser.add_argument(
        "--batches",
        type=positive,
        help="batches of 128 training examples (default: 10 %% of the training data)",
    )
    parser.add_argument("--seed", type=seed, default=0, help="random seed (default: 0)")


def run(args: argparse.Namespace) -> int:
    """Computes missing values, then writes table and figures; returns 1 if a model has no value."""
    from ingestion.corpus import find_corpus
    from ingestion.quiet import import_tensorflow
    from scoring.canvas import need_matplotlib
    from starting_kit_adapter.studies.invariance.scores import groups, score

    need_matplotlib()  # before hours of computing
    import_tensorflow()  # the measures' options need it
    tasks = find_corpus(args.corpus).select(args.tasks)
    grouped = {task.name: groups(task) for task in tasks}
    scores, failed = [], 0
    for task in tasks:
        try:
            batches = args.batches or _tenth(examples_of(task))
            report = _compute(task, grouped[task.name].perturbation, batches, args)
        except KeyboardInterrupt as error:
            return tell_stopped(error)
        failed |= tell_failures(report, args.output)
        settings = {"threshold": args.threshold, "batches": batches}
        scores.append(score(task, grouped[task.name], report, **settings))
    _write(scores, args, args.output / "invariance")
    return failed


def _tenth(examples: int, batch_size: int = 128) -> int:
    """10 % of the training data (Schiff et al. 2021, Section 4.2) in whole batches: the number that
    is nearest to it, and at least one, which is more than 10 % of fewer than 1,280 examples."""
    return max(1, round(examples / 10 / batch_size))


def _compute(task: Task, perturbation: str, batches: int, args: argparse.Namespace) -> Report:
    from ingestion.run.chosen import choose_measures
    from starting_kit_adapter.studies.invariance.scores import MEASURES

    module, _, name = perturbation.rpartition(":")
    names = [f"{module}:{m}_{name}" if module else f"{m}_{name}" for m in MEASURES]
    chosen = choose_measures(names, {"batches": batches}, args.seed)
    return compute([task], chosen, args, seed=args.seed)


def _write(scores: Sequence[Scores], args: argparse.Namespace, folder: Path) -> None:
    from scoring.files import write_json, write_whole
    from starting_kit_adapter.studies.invariance.plots import save_figure
    from starting_kit_adapter.studies.invariance.scores import to_json, to_text
    from starting_kit_adapter.studies.invariance.table3 import published_table, to_table

    if not scores:
        raise PgdlError("the corpus has no task to study")
    parts = [to_text(scores, args.threshold, args.batches), to_table(scores)]
    text = "\n\n".join(filter(None, (*parts, published_table(scores))))
    print(f"\n{text}")
    write_whole(folder / "table.txt", text + "\n")
    content = {"threshold": args.threshold, "tasks": [to_json(one) for one in scores]}
    write_json(folder / "table.json", content)
    for one in scores:
        save_figure(one, folder / one.task)
    print(f"\nwrote {folder}")
