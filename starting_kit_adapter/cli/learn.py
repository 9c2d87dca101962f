"""`pgdl learn`: a predictor of gaps, learned from runs with known gaps."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from starting_kit_adapter.terminal.output import output_file
from starting_kit_adapter.terminal.selection import split_names

if TYPE_CHECKING:
    from scoring.learning import TaskJudgement

HELP = "Learn to predict the gap itself from runs over models with known gaps"
EXAMPLES = """\
examples:
  pgdl learn out/ -m mixup,gi_intra_l0,contre_gap -o predictor.json
  pgdl learn out1/ out2/ -m mixup,gi_intra_l0 -o predictor.json     tasks of several runs

The predicted gap is a weighted sum of the measures; no weight is negative. The table shows how well
each task is predicted by what is learned from the others: the mean absolute error (MAE) of the gap,
the same error of two baselines (the mean gap of the other tasks, and the best single measure), and
the share of gaps within their 90 % intervals. Four tasks or more are needed.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "runs", type=Path, nargs="+", metavar="RUN", help="the folder that `pgdl run` wrote"
    )
    parser.add_argument(
        "-m", "--measures", required=True, metavar="A,B", help="measures, separated by commas"
    )
    parser.add_argument(
        "--reference",
        type=Path,
        action="append",
        metavar="REF",
        help="a corpus or reference for each RUN, in their order; default: the corpus of the run",
    )
    parser.add_argument(
        "-o",
        "--output",
        type=output_file(".json"),
        required=True,
        metavar="FILE",
        help="the JSON file to write",
    )


def run(args: argparse.Namespace) -> int:
    """Writes the predictor and prints how well it does."""
    from scoring.errors import ScoringError
    from scoring.files import write_json
    from scoring.learning import common_options, judge, read_known_tasks
    from scoring.predictor_fit import Form, learn
    from starting_kit_adapter.terminal.board import find_reference

    measures = split_names(args.measures)
    references = args.reference or [None] * len(args.runs)
    if len(references) != len(args.runs):
        raise ScoringError(
            f"found {len(references)} --reference for {len(args.runs)} runs; give one for each"
        )
    tasks = []
    for out, reference in zip(args.runs, references):
        known, left_out = read_known_tasks(out, find_reference(out, reference), measures)
        tasks += known
        for reason in left_out:
            print(f"left out {reason}")
    judged = judge(tasks, measures)
    options = common_options(args.runs, measures)
    predictor = replace(learn(tasks, Form(tuple(measures))), options=options)
    write_json(args.output, predictor.to_json())
    print(_table(judged))
    weights = " + ".join(f"{w:.3g} {name}" for name, w in zip(measures, predictor.weights) if w)
    print(f"gap = {predictor.intercept:.3g} + {weights or 'nothing: no measure helps'}")
    print(f"wrote {args.output}; 90 % intervals are the prediction +- {predictor.half_width:.3f}")
    return 0


def _table(judged: Sequence[TaskJudgement]) -> str:
    from starting_kit_adapter.terminal.text import table

    headers = (
        *("task", "models", "mean gap", "MAE", "of mean gap", "of best measure", "best measure"),
        *("covered", "Kendall"),
    )
    rows = [
        (
            *(one.task, one.models, one.mean_gap, one.error, one.error_of_mean),
            *(one.error_of_single, one.single or "-", one.covered, one.kendall),
        )
        for one in judged
    ]
    return table(headers, rows)
