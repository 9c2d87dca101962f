"""`pgdl codabench-bundle`: writes a Codabench competition around a corpus."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from starting_kit_adapter.terminal.output import output_file
from starting_kit_adapter.terminal.selection import add_corpus, add_tasks

HELP = "Write a complete Codabench competition around a corpus"
EXAMPLES = """\
examples:
  pgdl codabench-bundle zoo/ -o competition.zip
  pgdl codabench-bundle pgdl_corpus/ --input-data /app/data/pgdl -o competition.zip

A corpus of more than 1 GB goes into the zip only with `--input-data zip`. Other places for it:
  KEY              the key of a data set that you have uploaded on Codabench's resources page
  /app/data/NAME   the folder NAME in the data folder of your own compute workers
Put there only what submissions may see: no model_configs.json, no test data.

Codabench's default queue stops a submission after 600 seconds, even if the competition allows more.
If that is too short, make a queue of your own compute workers on Codabench and give its vhost with
--queue.

Submissions run in the docker image. It needs Python 3.9 or later, tensorflow, numpy and whatever
participants may import, such as SciPy, which some measures use.
"""

ZIP_LIMIT = 1e9  # bytes; a larger corpus is zipped only on request


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_corpus(parser)
    parser.add_argument(
        "-o", "--output", type=output_file(".zip"), required=True, help="the zip to write"
    )
    add_tasks(parser)
    parser.add_argument(
        "--title",
        default="Predicting Generalization in Deep Learning",
        help="title of the competition (default: %(default)s)",
    )
    parser.add_argument(
        "--input-data",
        metavar="zip|KEY|/app/data/NAME",
        help="where the models and training data are (default: in the zip, if below 1 GB)",
    )
    parser.add_argument(
        "--docker-image",
        default="tensorflow/tensorflow:2.15.0",
        help="image in which submissions run (default: %(default)s)",
    )
    parser.add_argument(
        "--queue",
        metavar="VHOST",
        help="the vhost of a queue of your own compute workers (default: the default queue, which "
        "stops a submission after 600 seconds)",
    )
    parser.add_argument(
        "--auto-approve",
        action="store_true",
        help="accept every registration (default: an organizer approves each)",
    )
    parser.add_argument(
        "--start",
        default="2024-01-01 00:00:00",
        metavar="'YYYY-MM-DD HH:MM:SS'",
        help="when submissions open, in UTC (default: %(default)s, so at once)",
    )


def run(args: argparse.Namespace) -> int:
    from ingestion.corpus import find_corpus
    from starting_kit_adapter.bundle.archive import write_zip
    from starting_kit_adapter.bundle.errors import BundleError
    from starting_kit_adapter.codabench.competition import (
        DEFAULT_QUEUE_SECONDS,
        Settings,
        competition_files,
        execution_seconds,
        input_data,
    )

    tasks = find_corpus(args.corpus).select(args.tasks)
    if args.input_data is None:
        paths = [path for path in input_data(tasks).values() if isinstance(path, Path)]
        size = sum(path.stat().st_size for path in paths)
        if size > ZIP_LIMIT:
            raise BundleError(
                f"the models and training data of {args.corpus} have {size / 1e9:.1f} GB: give "
                "`--input-data zip` to zip them nevertheless, or the place where the workers find "
                "them"
            )
    in_zip = args.input_data in (None, "zip")
    settings = Settings(
        title=args.title,
        docker_image=args.docker_image,
        start=args.start,
        input_data=None if in_zip else args.input_data,
        queue=args.queue,
        auto_approve=args.auto_approve,
    )
    files = competition_files(tasks, settings)
    write_zip(args.output, files)
    print(f"wrote {args.output}: {len(tasks)} tasks, {args.output.stat().st_size / 1e6:.1f} MB")
    seconds = execution_seconds(tasks)
    if args.queue is None and seconds > DEFAULT_QUEUE_SECONDS:
        print(
            f"warning: a submission may take {seconds} seconds, but Codabench's default queue "
            f"stops it after {DEFAULT_QUEUE_SECONDS}: give a queue of your own with --queue",
            file=sys.stderr,
        )
    print("after the upload, publish the competition: until then only its organizers see it")
    return 0
