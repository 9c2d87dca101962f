"""`pgdl score`: the competition's score of predicted generalization gaps."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from starting_kit_adapter.terminal.board import text_of
from starting_kit_adapter.terminal.text import table

if TYPE_CHECKING:
    from scoring.cmi import Cmi
    from scoring.kit.program import Scores

HELP = "Score predictions against the known gaps, exactly as the competition did"
EXAMPLES = """\
examples:
  pgdl score --reference CORPUS --predictions OUT/gi_intra_l0
      one measure: a table per task
  pgdl score --reference CORPUS --predictions OUT
      all measures in OUT/<measure>/<task>.predict: the first sheet of `pgdl table`
  pgdl score --reference REF --predictions PRED -o SCORES
      also writes scores.txt, scores.json, scores.html and detailed_results.html
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Where the references and the predictions are, and where the results go."""
    parser.add_argument(
        "--reference",
        required=True,
        type=Path,
        metavar="REF",
        help="folder with <task>/model_configs.json, or a corpus",
    )
    parser.add_argument(
        "--predictions",
        required=True,
        type=Path,
        metavar="PRED",
        help="folder with <task>.predict, or with one such folder per measure",
    )
    parser.add_argument(
        "--condition",
        choices=("pairs", "all"),
        default="pairs",
        help="hyperparameters that are held fixed: two at a time, the worst pair counting, as the "
        "competition did (default), or all, comparing only models that differ in their seed",
    )
    parser.add_argument(
        "-o", "--output", type=Path, metavar="OUT", help="folder for the result files"
    )


def run(args: argparse.Namespace) -> int:
    """Scores one folder of predictions, or one per measure; 1 if a task could not be scored."""
    from scoring.kit.predictions import find_predictions
    from scoring.kit.program import score_folders

    if find_predictions(args.predictions):
        scores = score_folders(args.reference, args.predictions, _score(args.condition))
        _print_scores(scores)
        _write({"": scores}, args.output)
        return 1 if scores.failed else 0
    return _score_measures(args)


def _score_measures(args: argparse.Namespace) -> int:
    from scoring.report.formats import average_sheet, remarks
    from scoring.report.leaderboard import leaderboard

    board = leaderboard(
        args.reference, args.predictions, replicates=0, score=_score(args.condition)
    )
    print(text_of([average_sheet(board)], remarks(board)), end="")
    _write({row.measure: row.scores for row in board.rows}, args.output)
    return 0 if all(row.is_whole for row in board.rows) else 1


def _score(condition: str) -> Callable[..., Cmi]:
    from scoring.cmi import cmi
    from scoring.cmi_within import cmi_within

    return cmi_within if condition == "all" else cmi


def _print_scores(scores: Scores) -> None:
    rows = [
        (
            task.task,
            task.cmi.score if task.cmi else None,
            task.cmi.minimum.label if task.cmi else "no score",
            len(task.reference.ids) if task.reference else None,
            task.cmi.empty_groups if task.cmi else None,
        )
        for task in scores.tasks
    ]
    print(table(("task", "score", "minimizing pair", "models", "empty groups"), rows))
    print(f"\naverage score {scores.average:.6f} ({scores.meaning})")
    for note in scores.notes:
        print(note)


def _write(measures: Mapping[str, Scores], folder: Path | None) -> None:
    if folder is None:
        return
    from scoring.kit.results import write_results

    for measure, scores in measures.items():
        names = ", ".join(path.name for path in write_results(scores, folder / measure))
    print(f"wrote {names} to {folder / ('<measure>' if len(measures) > 1 else measure)}")
