"""`pgdl study invariance`: Table 3 and Figures 6 to 9 of paper 000, on a zoo of one's own.

Each task of the zoo was trained with one perturbation as augmentation, in three groups - none,
partial, full - and tested under its full range. Three measures predict the gap from the training
data: the accuracy on randomly perturbed images, the mean of the response curve, and Gi. CMI
conditions on the hyperparameters, among which the group is not.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from pgdl_measures.errors import PgdlError
from starting_kit_adapter.cli.numbers import positive, seed
from starting_kit_adapter.cli.text import table
from starting_kit_adapter.studies.running import (
    add_run_arguments,
    compute,
    make_request,
    tell_failures,
)

if TYPE_CHECKING:
    from ingestion.corpus import Task
    from ingestion.run import Report
    from starting_kit_adapter.studies.invariance_scores import Scores

HELP = "Does Gi know how invariant networks are? CMI of Gi and two baselines per perturbation"
EXAMPLES = """\
examples:
  pgdl zoo build --data npz:fashion.npz --grid invariance --augment rotation -o zoo/
  pgdl zoo build --data npz:fashion.npz --grid invariance --augment translation_x -o zoo/
  pgdl study invariance zoo/ -o out/

Writes out/invariance/table.txt and .json (Table 3), and for each task a scatter plot of the gap
against each measure with n, CMI and Pearson's R (Figures 6 to 9). Only models above --threshold
training accuracy count, as in the paper. The same command continues an interrupted study.
"""

MEASURES = {  # the rows of Table 3
    "augmented_accuracy": "accuracy on augmented train subset",
    "mean_accuracy": "mean accuracy on PR curve",
    "gi": "Gi-score",
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_run_arguments(parser)
    parser.add_argument(
        "--threshold", type=float, default=0.8, help="training accuracy that counts (default: 0.8)"
    )
    parser.add_argument(
        "--batches", type=positive, default=40, help="of 128 training examples (default: 40)"
    )
    parser.add_argument("--seed", type=seed, default=0, help="of the draws (default: 0)")


def run(args: argparse.Namespace) -> int:
    """Computes what is missing, then writes table and figures; 1 if any model has no value."""
    from ingestion.corpus import find_corpus
    from pgdl_measures.plots import need_matplotlib
    from starting_kit_adapter.cli.quiet import import_tensorflow
    from starting_kit_adapter.studies.invariance_scores import groups, score

    need_matplotlib()  # before hours of computing
    import_tensorflow()  # which the measures' options need
    tasks = find_corpus(args.corpus).select(args.tasks)
    grouped = {task.name: groups(task) for task in tasks}
    scores, failed = [], 0
    for task in tasks:
        try:
            report = _compute(task, grouped[task.name].perturbation, args)
        except KeyboardInterrupt:
            print("interrupted; the same command continues from here", file=sys.stderr)
            return 130
        failed |= tell_failures(report, args.output)
        limits = {"threshold": args.threshold, "batches": args.batches}
        scores.append(score(task, grouped[task.name], report, **limits))
    _write(scores, args, args.output / "invariance")
    return failed


def _compute(task: Task, perturbation: str, args: argparse.Namespace) -> Report:
    from ingestion.chosen import choose_measures

    module, _, name = perturbation.rpartition(":")
    names = [f"{module}:{m}_{name}" if module else f"{m}_{name}" for m in MEASURES]
    chosen = choose_measures(names, {"batches": args.batches}, args.seed)
    return compute(make_request([task], chosen, args, seed=args.seed), args)


def to_text(scores: Sequence[Scores], threshold: float, batches: int) -> str:
    """Table 3, a block per task; R is of the measure as oriented: larger for a larger gap."""
    parts = [f"models with a training accuracy of at least {threshold:g}; accuracies are negated"]
    for one in scores:
        counts = ", ".join(f"{n} {level}" for level, n in one.counts.items())
        rows = [
            [MEASURES[m.measure], None if m.cmi is None else 100 * m.cmi, m.pearson] for m in one.of
        ]
        head = f"{one.perturbation} ({one.task}), n = {sum(one.counts.values())}: {counts}"
        if one.batches < batches:
            head += f"; on {one.batches} of {batches} batches: there are no more"
        parts.append(f"{head}\n{table(['measure', 'CMI x 100', 'Pearson R'], rows)}")
    return "\n\n".join(parts)


def _write(scores: Sequence[Scores], args: argparse.Namespace, folder: Path) -> None:
    from scoring.files import write_whole
    from starting_kit_adapter.studies.invariance_plots import save_figure
    from starting_kit_adapter.studies.invariance_scores import to_json

    if not scores:
        raise PgdlError("there is no task to study")
    text = to_text(scores, args.threshold, args.batches)
    print(f"\n{text}")
    write_whole(folder / "table.txt", text + "\n")
    content = {"threshold": args.threshold, "tasks": [to_json(one) for one in scores]}
    write_whole(folder / "table.json", json.dumps(content, indent=1) + "\n")
    for one in scores:
        save_figure(one, folder / one.task)
    print(f"\nwrote {folder}")
