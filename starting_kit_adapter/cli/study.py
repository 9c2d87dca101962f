"""`pgdl study`: a paper's tables and figures, on a corpus of one's own.

Each study is a module of `starting_kit_adapter.studies` that has what a verb has: HELP, EXAMPLES,
`add_arguments` and `run`.
"""

from __future__ import annotations

import argparse
import importlib

from starting_kit_adapter.cli.text import as_sentence

STUDIES = ("contre", "adversarial", "invariance", "sensitivity")

HELP = "Repeat a paper's study on a corpus: its tables and figures"
EXAMPLES = """\
examples:
  pgdl study contre zoo/ -o out/        ContRE: ablation of N and M, single and paired operations
  pgdl study adversarial -o out/        detecting overfitting: the synthetic experiments
  pgdl study invariance zoo/ -o out/    how well Gi knows the invariance of augmented networks
  pgdl study sensitivity zoo/ -m gi_intra_l0 -o out/     how many batches are enough
  pgdl study contre -h                  what it computes, and how to make it quick
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    studies = parser.add_subparsers(dest="study", metavar="STUDY", required=True)
    for name in STUDIES:
        module = importlib.import_module(f"starting_kit_adapter.studies.{name}")
        study = studies.add_parser(
            name,
            help=module.HELP,
            description=as_sentence(module.HELP),
            epilog=module.EXAMPLES,
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        module.add_arguments(study)
        study.set_defaults(study_run=module.run)


def run(args: argparse.Namespace) -> int:
    return args.study_run(args)
