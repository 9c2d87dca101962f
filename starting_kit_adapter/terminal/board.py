"""The options that name a run to score; its leaderboard, computed with progress; its text."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from scoring.errors import ScoringError
from starting_kit_adapter.terminal.numbers import natural
from starting_kit_adapter.terminal.selection import split_names
from starting_kit_adapter.terminal.text import Progress, table

if TYPE_CHECKING:
    from scoring.report.leaderboard import Leaderboard
    from scoring.report.sheets import Sheet
    from scoring.robust.evaluation import Evaluation

_RESULTS = Path(__file__).resolve().parents[2] / "benchmarks" / "results"


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
        "-m",
        "--measures",
        metavar="A,B",
        help="only these, separated by commas; -name is the negation of a measure; default: all",
    )
    add_reference(parser)


def add_reference(parser: argparse.ArgumentParser) -> None:
    """Where the known gaps are."""
    parser.add_argument(
        "--reference",
        type=Path,
        metavar="REF",
        help="a corpus, or a folder with <task>/model_configs.json; default: the corpus of the run",
    )


def add_replicates(parser: argparse.ArgumentParser) -> None:
    """How many resamples are behind the intervals."""
    parser.add_argument(
        "--replicates",
        type=natural,
        default=1000,
        metavar="N",
        help="bootstrap resamples behind each interval, 0 for none; default: 1000",
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


def read_board(args: argparse.Namespace, *, robust: bool) -> tuple[Leaderboard, Path]:
    """Scores all measures in OUT with progress shown; also returns the reference's folder."""
    from scoring.kit.reference import find_references
    from scoring.report.leaderboard import leaderboard, with_robust

    if not args.out.is_dir():
        raise ScoringError(f"there is no folder {args.out}; expected one that `pgdl run` wrote")
    reference = find_reference(args.out, args.reference)
    with Progress(len(find_references(reference)), "tasks scored") as progress:
        board = leaderboard(
            reference,
            args.out,
            measures=_names(args.measures),
            replicates=args.replicates,
            step=progress.step,
        )
    if robust:
        sizes = {"test_size": args.test_size, "min_effective": args.min_effective}
        with Progress(len(board.tasks), "tasks evaluated") as progress:
            board = with_robust(board, reference, **sizes, step=progress.step)
    return board, reference


def beside_results(board: Leaderboard, args: argparse.Namespace) -> Leaderboard:
    """The leaderboard with the published results of `--against`, with progress shown."""
    from scoring.report.published_runs import beside_published

    folder = _RESULTS / args.against
    if not folder.is_dir():
        folder = Path(args.against)
    if not folder.is_dir():
        known = sorted(path.parent.name for path in _RESULTS.glob("*/reference"))
        raise ScoringError(
            f"there are no published results {args.against!r}; expected a folder"
            + (
                f" or {', '.join(known)}"
                if known
                else ": named ones are in a checkout of pgdl only"
            )
        )
    with Progress(len(board.tasks), "tasks scored") as progress:
        sizes = {"replicates": args.replicates, "step": progress.step}
        return beside_published(board, folder, folder.resolve().name, **sizes)


def evaluate_csv(args: argparse.Namespace) -> Evaluation:
    """The robust evaluation of the runs in `--csv`."""
    from scoring.robust.evaluation import TEST_SIZE, evaluate
    from scoring.robust.runs import read_csv

    size = TEST_SIZE if args.test_size is None else args.test_size
    runs, names = read_csv(args.csv), _names(args.measures)
    runs = runs if names is None else runs.only(names)
    return evaluate(runs, test_size=size, min_effective=args.min_effective)


def find_reference(out: Path, named: Path | None) -> Path:
    """The folder that the user named, else that of published results, or the corpus of the run."""
    from scoring.record import RUN
    from scoring.recorded_run import recorded_corpus
    from scoring.report.published_runs import REFERENCE

    if named is not None:
        return named
    if (out / REFERENCE).is_dir():
        return out / REFERENCE
    corpus = recorded_corpus(out)
    if corpus is None:
        raise ScoringError(
            f"{out} has no {RUN} that names a corpus; expected a folder that `pgdl run` "
            "wrote, or --reference REF for predictions from elsewhere"
        )
    if not corpus.is_dir():
        raise ScoringError(f"the corpus of the run, {corpus}, is not there: give --reference REF")
    return corpus


def _names(measures: str | None) -> list[str] | None:
    if measures is None:
        return None
    names = list(dict.fromkeys(split_names(measures)))
    if not names:
        raise ScoringError(f"--measures names no measure; found {measures!r}")
    return names


def text_of(sheets: Sequence[Sheet], remarks: Sequence[str]) -> str:
    """Sheets as aligned text, with the remarks below them."""
    parts = [f"{sheet.title}\n{table(sheet.headers, sheet.rows)}\n" for sheet in sheets]
    below = "".join(f"{remark}\n" for remark in remarks)
    return "\n".join([*parts, below] if below else parts)
