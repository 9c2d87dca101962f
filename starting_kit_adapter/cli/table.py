"""`pgdl table`: the leaderboard of a run."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from starting_kit_adapter.cli.text import Progress, table

if TYPE_CHECKING:
    from scoring.report.sheets import Sheet
    from scoring.table import Leaderboard

HELP = "Rank the measures of a run by how well they predict the gaps"
EXAMPLES = """\
examples:
  pgdl table out/                                   the corpus is the one that was run
  pgdl table out/ --reference zoo/ --format markdown
  pgdl table out/ --reference reference_data/ --format csv -o table.csv
  pgdl table out/ --robust                          and how measures do in their worst environment
  pgdl table --csv runs.csv --robust                runs from elsewhere: hp.*, complexity.*, gen.gap

Text and Markdown show CMI times 100; CSV and JSON hold the numbers of scores.json.

A robust evaluation compares settings that differ in one hyperparameter, all seeds of one against
all seeds of the other; environments with fewer than 12 effective samples do not count, so that it
takes four models or more per setting. With fewer, settings that vary alike are taken together.
"""

FORMATS = ("text", "markdown", "csv", "json")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_source(parser, required=False)
    parser.add_argument("--csv", type=Path, metavar="FILE", help="a row per run, instead of OUT")
    parser.add_argument("--robust", action="store_true", help="judge by the worst environment too")
    add_robust(parser)
    parser.add_argument("--format", choices=FORMATS, default="text", help="default: text")
    parser.add_argument("-o", "--output", type=Path, metavar="FILE", help="default: print it")


def run(args: argparse.Namespace) -> int:
    """Prints or writes the table; 1 if a measure could not be scored on a task."""
    from scoring.errors import ScoringError

    if (args.csv is None) == (args.out is None):
        raise ScoringError("say either OUT or --csv FILE")
    if args.csv is not None:
        if not args.robust:
            raise ScoringError("a table of runs is only evaluated with --robust")
        _write(_of_runs(args), args.output)
        return 0
    board = read_board(args, robust=args.robust)
    _write(_of_board(board, args.format), args.output)
    return 0 if all(row.is_whole for row in board.rows) else 1


def _of_board(board: Leaderboard, form: str) -> str:
    from scoring.report import formats

    if form == "text":
        return _text(formats.sheets(board), formats.remarks(board))
    render = {"markdown": formats.to_markdown, "csv": formats.to_csv, "json": formats.to_json}
    return render[form](board)


def _of_runs(args: argparse.Namespace) -> str:
    from scoring.evaluation import TEST_SIZE, evaluate
    from scoring.report import robust_formats, sheets
    from scoring.robust_board import evaluation_notes
    from scoring.runs import read_csv

    size = TEST_SIZE if args.test_size is None else args.test_size
    found = evaluate(read_csv(args.csv), test_size=size, min_effective=args.min_effective)
    if args.format in ("text", "markdown"):
        render = _text if args.format == "text" else sheets.markdown
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


def add_source(parser: argparse.ArgumentParser, *, required: bool = True) -> None:
    """Where the results of the run and the known gaps are."""
    parser.add_argument(
        "out",
        type=Path,
        metavar="OUT",
        nargs=None if required else "?",
        help="the folder that `pgdl run` wrote",
    )
    parser.add_argument(
        "--reference",
        type=Path,
        metavar="REF",
        help="a corpus, or a folder with <task>/model_configs.json; default: the corpus of the run",
    )


def add_robust(parser: argparse.ArgumentParser) -> None:
    """What a robust evaluation depends on."""
    parser.add_argument(
        "--test-size",
        type=int,
        metavar="M",
        help="examples behind each gap; default: as many as the corpus has, else 10,000",
    )
    parser.add_argument(
        "--min-effective",
        type=float,
        default=12.0,
        metavar="N",
        help="effective samples that an environment must have to count; default: 12",
    )


def read_board(args: argparse.Namespace, *, robust: bool) -> Leaderboard:
    """Scores all measures in OUT, with progress shown."""
    from scoring.table import leaderboard, measure_folders, with_robust

    reference = find_reference(args)
    with Progress(len(measure_folders(args.out)), "measures") as progress:
        board = leaderboard(reference, args.out, step=progress.step)
    if not robust:
        return board
    return with_robust(board, reference, test_size=args.test_size, min_effective=args.min_effective)


def find_reference(args: argparse.Namespace) -> Path:
    """The folder named by --reference, else the corpus that the run recorded."""
    from scoring.errors import ScoringError
    from scoring.report.records import RUN, read_run

    if not args.out.is_dir():
        raise ScoringError(f"there is no folder {args.out}; expected one that `pgdl run` wrote")
    if args.reference is not None:
        return args.reference
    corpus = read_run(args.out).corpus
    if corpus is None:
        raise ScoringError(
            f"{args.out} has no {RUN} that names a corpus; expected a folder that `pgdl run` "
            "wrote, or --reference REF for predictions from elsewhere"
        )
    if not corpus.is_dir():
        raise ScoringError(f"the corpus of the run, {corpus}, is not there: say --reference REF")
    return corpus


def _text(sheets: Sequence[Sheet], remarks: Sequence[str]) -> str:
    parts = [f"{sheet.title}\n{table(sheet.headers, sheet.rows)}\n" for sheet in sheets]
    below = "".join(f"{remark}\n" for remark in remarks)
    return "\n".join([*parts, below] if below else parts)
