"""`pgdl report`: a run as one HTML page."""

from __future__ import annotations

import argparse
from pathlib import Path

from starting_kit_adapter.terminal.board import (
    add_replicates,
    add_robust,
    add_source,
    evaluate_csv,
    read_board,
)
from starting_kit_adapter.terminal.output import output_file
from starting_kit_adapter.terminal.text import Progress

HELP = "Write a run as one self-contained HTML page with tables and figures"
EXAMPLES = """\
examples:
  pgdl report out/ -o report.html
  pgdl report out/ --reference zoo/ -o report.html
  pgdl report --csv runs.csv -o report.html     other runs: columns hp.*, complexity.*, gen.gap

The page is one file and loads nothing: it can be mailed, printed or published.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_source(parser, required=False)
    parser.add_argument("--csv", type=Path, metavar="FILE", help="a row per run, instead of OUT")
    add_replicates(parser)
    add_robust(parser)
    parser.add_argument(
        "-o",
        "--output",
        type=output_file(".html", ".htm"),
        required=True,
        metavar="FILE",
        help="the page to write",
    )


def run(args: argparse.Namespace) -> int:
    """Writes the page; 1 if a measure could not be scored on a task, as the page then says."""
    from scoring.errors import ScoringError
    from scoring.files import write_whole
    from scoring.report.page import report_page, runs_page
    from starting_kit_adapter.terminal.curve_figures import curve_figures
    from starting_kit_adapter.terminal.equal_mixup import equal_mixup_figures

    if (args.csv is None) == (args.out is None):
        raise ScoringError("give either OUT or --csv FILE")
    if args.csv is not None:
        write_whole(args.output, runs_page(evaluate_csv(args)))
        print(f"wrote {args.output}")
        return 0
    board, reference = read_board(args, robust=True)
    folder = reference.resolve()
    corpus = folder.parent if folder.name in ("reference_data", "input_data") else folder
    with Progress(len(board.tasks), "tasks drawn") as progress:
        curves = {
            task: [*curve_figures(board, task), *equal_mixup_figures(board, task)]
            for task in board.tasks
        }
        page = report_page(board, name=corpus.name, curves=curves, step=progress.step)
    write_whole(args.output, page)
    print(f"wrote {args.output}")
    return 0 if all(row.is_whole for row in board.rows) else 1
