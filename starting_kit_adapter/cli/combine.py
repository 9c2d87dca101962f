"""`pgdl combine`: combines several measures into one."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from starting_kit_adapter.terminal.board import add_reference, find_reference, text_of
from starting_kit_adapter.terminal.selection import split_names
from starting_kit_adapter.terminal.text import Progress

if TYPE_CHECKING:
    from scoring.kit.combined import Combination

HELP = "Combine measures of a run into one, by the six rules of Schiff et al. 2021"
EXAMPLES = """\
examples:
  pgdl combine out/ -m gi_intra_l0,mixup --rule pca
      writes out/pca-gi_intra_l0-mixup/<task>.predict
  pgdl combine out/ -m pal_intra_l0,pal_inter_l0 --rule prod -o combined/
  pgdl combine out/ -m -mixup,gi_intra_l0 --rule avg
      a minus negates a measure
  pgdl combine out/ --all
      the 87 combinations of Schiff et al. 2021 with their signs; prints their Tables 4 to 9, each
      with the competition's winner, dbi_mixup, below it

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
    parser.add_argument("-m", "--measures", metavar="A,B", help="two or more, separated by commas")
    parser.add_argument("--rule", help="one of the rules below")
    parser.add_argument(
        "--all",
        action="store_true",
        help="the 87 combinations of Schiff et al. 2021, instead of -m and --rule",
    )
    add_reference(parser)
    parser.add_argument(
        "-o", "--output", type=Path, metavar="OUT2", help="where to write; default: into OUT"
    )


def run(args: argparse.Namespace) -> int:
    """Writes the combination, or all; 1 if a task has none."""
    from scoring.errors import ScoringError
    from scoring.kit.combined import combine_run

    if args.all:
        if args.measures is not None or args.rule is not None:
            raise ScoringError("give either --all or -m with --rule")
        return _run_all(args)
    if args.measures is None or args.rule is None:
        raise ScoringError("give -m A,B and --rule RULE, or --all")
    measures = split_names(args.measures)
    if len(set(measures)) < 2:
        raise ScoringError(f"a combination takes two measures or more, not {args.measures!r}")
    found = combine_run(args.out, measures, args.rule, args.output)
    for path in found.written:
        print(f"wrote {path}")
    return _tell([found])


def _run_all(args: argparse.Namespace) -> int:
    from scoring.kit.combined import combine_all
    from scoring.kit.predictions import find_measures
    from scoring.paper_combinations import TABLES, WINNER
    from scoring.report.leaderboard import leaderboard
    from scoring.report.paper_layout import MARKS, combination_tables

    reference = find_reference(args.out, args.reference)
    target = args.output or args.out
    with Progress(len(TABLES), "rules") as progress:
        found, missing = combine_all(args.out, target, progress.step)
    board = leaderboard(
        reference, target, measures=[one.name for one in found if one.written], replicates=0
    )
    winner = None
    if WINNER in find_measures(args.out):
        (winner,) = leaderboard(reference, args.out, measures=[WINNER], replicates=0).rows
    else:
        missing = [*missing, WINNER]
    print(text_of(combination_tables(board, winner), MARKS[:1]))
    if missing:
        print(f"not in {args.out}, so that their rows are left out: {', '.join(missing)}")
    print(f"wrote {len(found)} combinations to {target}")
    return _tell(found)


def _tell(found: list[Combination]) -> int:
    """Prints what a user must know; 1 if a task has no combination."""
    notes: dict[str, list[str]] = {}
    for one in found:
        for note in (*one.notes, *(f"not combined: {reason}" for reason in one.failed)):
            notes.setdefault(note, []).append(one.name)
    for note, names in notes.items():
        print(note if len(found) == 1 else f"{note} ({len(names)} combinations)")
    return 1 if any(one.failed for one in found) else 0
