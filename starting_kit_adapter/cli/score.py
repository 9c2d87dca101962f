"""`pgdl score`: how well predictions tell generalization gaps, by the competition's score."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from scoring.errors import ScoringError
from starting_kit_adapter.cli.text import table

if TYPE_CHECKING:
    from scoring.program import Scores

HELP = "Score predictions against the known gaps, exactly as the competition did"
EXAMPLES = """\
examples:
  pgdl score --reference CORPUS --predictions OUT/gi_intra_l0
      one measure: a table per task
  pgdl score --reference CORPUS --predictions OUT
      all measures in OUT/<measure>/<task>.predict: a leaderboard
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
        "-o", "--output", type=Path, metavar="OUT", help="folder for the result files"
    )


def run(args: argparse.Namespace) -> int:
    """Scores one folder of predictions, or one per measure; 1 if a task could not be scored."""
    from scoring.predictions import find_predictions
    from scoring.program import score_folders

    if find_predictions(args.predictions):
        scores = score_folders(args.reference, args.predictions)
        _print_scores(scores)
        _write({"": scores}, args.output)
        return 1 if scores.failed else 0

    folders = sorted(path for path in args.predictions.iterdir() if path.is_dir())
    measures = {
        path.name: score_folders(args.reference, path) for path in folders if find_predictions(path)
    }
    if not measures:
        raise ScoringError(f"{args.predictions} has no <task>.predict and no <measure>/ with one")
    _print_leaderboard(measures)
    _write(measures, args.output)
    return 1 if any(scores.failed for scores in measures.values()) else 0


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
    print(table(("task", "score", "smallest given", "models", "empty groups"), rows))
    print(f"\naverage score {scores.average:.6f} ({scores.meaning})")
    for note in scores.notes:
        print(note)


def _print_leaderboard(measures: Mapping[str, Scores]) -> None:
    ranked = sorted(measures.items(), key=lambda item: -item[1].average)
    tasks = [task.task for task in ranked[0][1].tasks]
    rows = [
        (
            measure,
            scores.average,
            f"{len(scores.scored)} of {len(scores.tasks)}",
            *(task.cmi.score if task.cmi else None for task in scores.tasks),
        )
        for measure, scores in ranked
    ]
    print(table(("measure", "average", "tasks", *tasks), rows))
    for measure, scores in ranked:
        for note in scores.notes:
            print(f"{measure}: {note}")


def _write(measures: Mapping[str, Scores], folder: Path | None) -> None:
    if folder is None:
        return
    from scoring.results import write_results

    for measure, scores in measures.items():
        names = ", ".join(path.name for path in write_results(scores, folder / measure))
    print(f"wrote {names} to {folder / ('<measure>' if len(measures) > 1 else measure)}")
