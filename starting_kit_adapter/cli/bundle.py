"""`pgdl bundle`: a measure as a submission that the competition's starting kit runs."""

from __future__ import annotations

import argparse
import hashlib
import json

from ingestion.quiet import import_tensorflow
from starting_kit_adapter.terminal.output import output_file
from starting_kit_adapter.terminal.run_options import add_set, parse_options
from starting_kit_adapter.terminal.selection import split_names

HELP = "Write a measure as a submission zip that the starting kit and Codabench run"
EXAMPLES = """\
examples:
  pgdl bundle -m gi_intra_l0 -o submission.zip
  pgdl bundle -m gi_intra_l0 --set batches=20 --set seed=1 -o submission.zip
  pgdl bundle -m mymodule:my_measure -o submission.zip            one of your own, in mymodule.py
  pgdl bundle -m pal_intra_l0,pal_inter_l0 --combine prod -o submission.zip
  pgdl bundle --predictor predictor.json -o submission.zip        what `pgdl learn` learned

Measures are combined by the rules PROD, AVG and PROD+AVG of Schiff et al. 2021, as in `pgdl
combine`. Larger values predict a larger gap. Where no value is positive (Pal, accuracies), the
product is that of the magnitudes, negated. Where signs differ, a larger factor can make the product
smaller. A submission sees one model at a time and `pgdl combine` sees all: for a measure that is
positive for some models and negative for others, their products differ.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("-m", "--measures", help="one name, or several separated by commas")
    what.add_argument(
        "--predictor",
        metavar="FILE",
        help="a predictor of the gap: a file by `pgdl learn`, or the packaged `mini`",
    )
    parser.add_argument(
        "--combine", metavar="RULE", help="how several measures are combined: avg, prod, prod_avg"
    )
    add_set(parser)
    parser.add_argument(
        "-o", "--output", type=output_file(".zip"), required=True, help="the zip to write"
    )


def run(args: argparse.Namespace) -> int:
    from starting_kit_adapter.bundle.archive import write_zip, zip_bytes

    files = _of_predictor(args) if args.predictor else _of_measures(args)
    write_zip(args.output, files)
    digest = hashlib.sha256(zip_bytes(files)).hexdigest()
    description = files["metadata"].decode().partition(": ")[2].strip()
    print(f"wrote {args.output}: {json.loads(description)}")
    print(f"{len(files)} files, sha256 {digest}")
    return 0


def _of_measures(args: argparse.Namespace) -> dict[str, bytes]:
    from ingestion.run.chosen import choose_measures
    from starting_kit_adapter.bundle.submission import submission_files

    options = parse_options(args.set)
    if options:  # checking the options imports the measures
        import_tensorflow()
    measures = choose_measures(split_names(args.measures), options)
    return submission_files(measures, args.combine)


def _of_predictor(args: argparse.Namespace) -> dict[str, bytes]:
    from scoring.predictor import read_predictor
    from starting_kit_adapter.bundle.errors import BundleError
    from starting_kit_adapter.bundle.submission import predictor_files

    if args.set or args.combine:
        raise BundleError("a predictor has its own options and weights: leave out --set, --combine")
    import_tensorflow()
    return predictor_files(read_predictor(args.predictor))
