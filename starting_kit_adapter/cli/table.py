"""`pgdl table`: the leaderboard of a run."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from starting_kit_adapter.cli.text import Progress, table

if TYPE_CHECKING:
    from scoring.table import Leaderboard

HELP = "Rank the measures of a run by how well they predict the gaps"
EXAMPLES = """\
examples:
  pgdl table out/                                   the corpus is the one that was run
  pgdl table out/ --reference zoo/ --format markdown
  pgdl table out/ --reference reference_data/ --format csv -o table.csv

Text and Markdown show CMI times 100; CSV and JSON hold the numbers of scores.json.
"""

FORMATS = ("text", "markdown", "csv", "json")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_source(parser)
    parser.add_argument("--format", choices=FORMATS, default="text", help="default: text")
    parser.add_argument("-o", "--output", type=Path, metavar="FILE", help="default: print it")


def run(args: argparse.Namespace) -> int:
    """Prints or writes the table; 1 if a measure could not be scored on a task."""
    from scoring.files import write_whole
    from scoring.report import formats

    render = {
        "text": _text,
        "markdown": formats.to_markdown,
        "csv": formats.to_csv,
        "json": formats.to_json,
    }
    board = read_board(args)
    text = render[args.format](board)
    if args.output is None:
        print(text, end="")
    else:
        write_whole(args.output, text)
        print(f"wrote {args.output}")
    return 0 if all(row.is_whole for row in board.rows) else 1


def add_source(parser: argparse.ArgumentParser) -> None:
    """Where the results of the run and the known gaps are."""
    parser.add_argument("out", type=Path, metavar="OUT", help="the folder that `pgdl run` wrote")
    parser.add_argument(
        "--reference",
        type=Path,
        metavar="REF",
        help="a corpus, or a folder with <task>/model_configs.json; default: the corpus of the run",
    )


def read_board(args: argparse.Namespace) -> Leaderboard:
    """Scores all measures in OUT, with progress shown."""
    from scoring.table import leaderboard, measure_folders

    reference = find_reference(args)
    with Progress(len(measure_folders(args.out)), "measures") as progress:
        return leaderboard(reference, args.out, step=progress.step)


def find_reference(args: argparse.Namespace) -> Path:
    """The folder named by --reference, else the corpus that the run recorded."""
    from scoring.errors import ScoringError
    from scoring.report.records import RUN, read_run

    if args.reference is not None:
        return args.reference
    corpus = read_run(args.out).corpus
    if corpus is None:
        raise ScoringError(f"{args.out / RUN} names no corpus: say --reference REF")
    if not corpus.is_dir():
        raise ScoringError(f"the corpus of the run, {corpus}, is not there: say --reference REF")
    return corpus


def _text(board: Leaderboard) -> str:
    from scoring.report.formats import remarks, sheets

    parts = [f"{sheet.title}\n{table(sheet.headers, sheet.rows)}\n" for sheet in sheets(board)]
    below = "".join(f"{remark}\n" for remark in remarks(board))
    return "\n".join([*parts, below] if below else parts)
