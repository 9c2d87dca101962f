"""`pgdl study`: repeats a paper's tables and figures on a corpus.

Each study is a package in `starting_kit_adapter.studies` with the same four names as a verb: HELP,
EXAMPLES, `add_arguments` and `run`.
"""

from __future__ import annotations

import argparse

from starting_kit_adapter.terminal.subcommands import add_subcommand

STUDIES = ("contre", "adversarial", "invariance", "robust", "sensitivity")

HELP = "Repeat a paper's tables and figures on a corpus"
EXAMPLES = """\
examples:
  pgdl study contre zoo/ -o out/        Wu et al. 2021: which transformations predict test accuracy?
  pgdl study adversarial -o out/        Werpachowski et al. 2019: the synthetic study
  pgdl study invariance zoo/ -o out/    Schiff et al. 2021: does Gi predict invariance?
  pgdl study robust zoo/ -o out/        Dziugaite et al. 2020: which measures are robust?
  pgdl study sensitivity zoo/ -m gi_intra_l0 -o out/     Schiff et al. 2021: how many batches?
  pgdl study contre -h                  parts, options and output files
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    studies = parser.add_subparsers(dest="study", metavar="STUDY", required=True)
    for name in STUDIES:
        add_subcommand(studies, name, f"starting_kit_adapter.studies.{name}", "study_run")


def run(args: argparse.Namespace) -> int:
    return args.study_run(args)
