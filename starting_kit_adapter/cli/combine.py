"""`pgdl combine`: one measure of several."""

from __future__ import annotations

import argparse
from pathlib import Path

HELP = "Combine measures of a run into one, by the rules of the response-curve paper"
EXAMPLES = """\
examples:
  pgdl combine out/ -m gi_intra_l0,mixup --rule pca
      writes out/pca-gi_intra_l0-mixup/<task>.predict
  pgdl combine out/ -m pal_intra_l0,pal_inter_l0 --rule prod -o combined/

rules:
  pca       first principal component over the models of a task
  npca      the same of standardized measures
  avg       mean
  prod      product
  prod_avg  product plus mean
  avg_rank  mean rank within the task

A combination is a measure like any other: score, table and report show it.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("out", type=Path, metavar="OUT", help="the folder that `pgdl run` wrote")
    parser.add_argument(
        "-m", "--measures", required=True, metavar="A,B", help="two or more, separated by commas"
    )
    parser.add_argument("--rule", required=True, help="one of the rules below")
    parser.add_argument(
        "-o", "--output", type=Path, metavar="OUT2", help="where to write; default: into OUT"
    )


def run(args: argparse.Namespace) -> int:
    """Writes the combination; 1 if a task has none."""
    from scoring.errors import ScoringError
    from scoring.kit.combined import combine_run

    measures = [name.strip() for name in args.measures.split(",") if name.strip()]
    if len(set(measures)) < 2:
        raise ScoringError(f"a combination takes two measures or more, not {args.measures!r}")
    found = combine_run(args.out, measures, args.rule, args.output)
    for path in found.written:
        print(f"wrote {path}")
    for note in (*found.notes, *(f"not combined: {reason}" for reason in found.failed)):
        print(note)
    return 1 if found.failed else 0
