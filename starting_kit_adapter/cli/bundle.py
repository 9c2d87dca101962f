"""`pgdl bundle`: a measure as a submission that the competition's starting kit runs."""

from __future__ import annotations

import argparse
import hashlib
from pathlib import Path

from starting_kit_adapter.terminal.run_options import parse_option

HELP = "Write a measure as a submission zip that the starting kit and Codabench run"
EXAMPLES = """\
examples:
  pgdl bundle -m gi_intra_l0 -o submission.zip
  pgdl bundle -m gi_intra_l0 --set batches=20 --set seed=1 -o submission.zip
  pgdl bundle -m mymodule:my_measure -o submission.zip            one of your own, in mymodule.py
  pgdl bundle -m pal_intra_l0,pal_inter_l0 --combine prod -o submission.zip

Combinations are the paper's PROD, AVG and PROD+AVG, as of `pgdl combine`. Measures are combined as
they are registered, larger meaning a larger gap. Where none of the values is positive (Pal,
accuracies), the product is that of their magnitudes, negated; where signs differ, it does not grow
with each of its factors. A submission sees one model at a time: for measures whose sign changes
from model to model its products differ from those of `pgdl combine`, which sees all models.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "-m", "--measures", required=True, help="one name, or several separated by commas"
    )
    parser.add_argument(
        "--combine", metavar="RULE", help="how several measures are combined: avg, prod, prod_avg"
    )
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        dest="options",
        metavar="OPTION=VALUE",
        help="set an option of the measures that have it",
    )
    parser.add_argument("-o", "--output", type=Path, required=True, help="the zip to write")


def run(args: argparse.Namespace) -> int:
    from ingestion.run.chosen import choose_measures
    from starting_kit_adapter.bundle.archive import write_zip, zip_bytes
    from starting_kit_adapter.bundle.submission import describe, submission_files

    options = dict(map(parse_option, args.options))
    if options:  # to know if the measures have them, these must be imported
        from ingestion.quiet import import_tensorflow

        import_tensorflow()
    measures = choose_measures([name.strip() for name in args.measures.split(",")], options)
    files = submission_files(measures, args.combine)
    write_zip(args.output, files)
    digest = hashlib.sha256(zip_bytes(files)).hexdigest()
    print(f"wrote {args.output}: {describe(measures, args.combine)}")
    print(f"{len(files)} files, sha256 {digest}")
    return 0
