"""`pgdl table`: the leaderboard of a run."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from starting_kit_adapter.terminal.board import (
    add_replicates,
    add_robust,
    add_source,
    beside_results,
    evaluate_csv,
    read_board,
    text_of,
)

if TYPE_CHECKING:
    from scoring.report.leaderboard import Leaderboard

HELP = "Rank the measures of a run by how well they predict the gaps"
EXAMPLES = """\
examples:
  pgdl table out/                                   the corpus is the one that was run
  pgdl table out/ --reference zoo/ --format markdown
  pgdl table out/ --reference reference_data/ --format csv -o table.csv
  pgdl table out/ -m gi_intra_l0,-mixup             only these; a minus negates a measure
  pgdl table out/ --layout paper                    tasks as columns, the best of each marked
  pgdl table out/ --against mini                    with the published results of all measures
  pgdl table out/ --robust                          also how measures do in their worst environment
  pgdl table --csv runs.csv --robust                other runs: columns hp.*, complexity.*, gen.gap

CMI x 100 is the competition's score, from 0 to 100: how much the measure tells of the order of the
gaps among models that have two hyperparameters in common. It is the smallest over all pairs of
hyperparameters; "minimizing pair" is that pair. Kendall and Spearman are the rank correlations of
the measure and the gap: 1 for the right order, -1 for the reverse. The CMI is nearly blind to the
direction: a measure that ranks backwards may have a large one, so look at Kendall, too. Intervals
come from resampled models; s/model is the seconds that the measure took for one. CSV and JSON hold
the numbers of scores.json, without the factor of 100.

--robust adds the evaluation of Dziugaite et al. 2020. An environment is a pair of settings that
differ in one hyperparameter; a measure's sign-error there is the share of pairs of models, one of
each setting, that it puts in the wrong order. Environments with fewer than 12 effective samples do
not count, which takes four models or more per setting. With fewer models per setting, all
environments between the same two values of a hyperparameter are pooled.
"""

FORMATS = ("text", "markdown", "csv", "json")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_source(parser, required=False)
    parser.add_argument("--csv", type=Path, metavar="FILE", help="a row per run, instead of OUT")
    parser.add_argument("--robust", action="store_true", help="judge by the worst environment too")
    parser.add_argument(
        "--against",
        metavar="RESULTS",
        help="show published results beside the run: `mini` (`pgdl zoo suite mini`), or a folder",
    )
    add_replicates(parser)
    add_robust(parser)
    parser.add_argument("--format", choices=FORMATS, default="text", help="default: text")
    parser.add_argument(
        "--layout",
        choices=("tasks", "paper"),
        default="tasks",
        help="a sheet per task (default), or Table 1 of Schiff et al. 2021: tasks as columns",
    )
    parser.add_argument("-o", "--output", type=Path, metavar="FILE", help="default: print it")


def run(args: argparse.Namespace) -> int:
    """Prints or writes the table; 1 if a measure could not be scored on a task."""
    from scoring.errors import ScoringError

    if (args.csv is None) == (args.out is None):
        raise ScoringError("give either OUT or --csv FILE")
    if args.csv is not None:
        if not args.robust:
            raise ScoringError("a table of runs is only evaluated with --robust")
        _write(_of_runs(args), args.output)
        return 0
    if args.layout == "paper" and args.format not in ("text", "markdown"):
        raise ScoringError(f"--layout paper is for --format text or markdown, not {args.format}")
    if args.against is not None and args.robust:
        raise ScoringError(
            "there is no robust evaluation of published results: give either --against or --robust"
        )
    board, _ = read_board(args, robust=args.robust)
    whole = all(row.is_whole for row in board.rows)
    if args.against is not None:
        board = beside_results(board, args)
    _write(_of_board(board, args.format, args.layout), args.output)
    return 0 if whole else 1


def _of_board(board: Leaderboard, form: str, layout: str) -> str:
    from scoring.report import formats, paper_layout, sheets

    if layout == "paper":
        remarks = (*paper_layout.MARKS, *formats.remarks(board))
        render_sheets = text_of if form == "text" else sheets.markdown
        return render_sheets([paper_layout.table_1(board)], remarks)
    if form == "text":
        return text_of(formats.sheets(board), formats.remarks(board))
    render = {"markdown": formats.to_markdown, "csv": formats.to_csv, "json": formats.to_json}
    return render[form](board)


def _of_runs(args: argparse.Namespace) -> str:
    from scoring.report import robust_formats, sheets
    from scoring.robust.board import evaluation_notes

    found = evaluate_csv(args)
    if args.format in ("text", "markdown"):
        render = text_of if args.format == "text" else sheets.markdown
        return render(robust_formats.robust_sheets(found), tuple(evaluation_notes(found)))
    render_all = {"csv": robust_formats.robust_csv, "json": robust_formats.robust_json}
    return render_all[args.format](found)


def _write(text: str, output: Path | None) -> None:
    from scoring.files import write_whole

    if output is None:
        print(text, end="")
    else:
        write_whole(output, text)
        print(f"wrote {output}")
