"""A run beside results that were published with their data: two leaderboards as one.

A folder of published results is what `pgdl run` wrote, with the references of its tasks in
`reference/`. Its rows are named `LABEL:measure`. The scores of both are of the same networks, or it
is said that they are not: a corpus that was trained anew has other networks of the same kind.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np

from scoring.errors import ScoringError
from scoring.kit.reference import Reference
from scoring.report.leaderboard import Leaderboard, Row, best_first, leaderboard

REFERENCE = "reference"


def beside_published(
    board: Leaderboard,
    folder: Path,
    label: str,
    *,
    replicates: int,
    step: Callable[[str], None] = lambda note: None,
) -> Leaderboard:
    """The rows of a leaderboard and those of published results, best first."""
    if not (folder / REFERENCE).is_dir():
        raise ScoringError(
            f"{folder} has no published results: expected the folders of measures that `pgdl run` "
            f"writes, and {REFERENCE}/<task>/model_configs.json"
        )
    published = leaderboard(folder / REFERENCE, folder, replicates=replicates, step=step)
    _check_tasks(board, published, label)
    rows = [*board.rows, *(_labelled(row, label) for row in published.rows)]
    others = [
        task
        for task in board.tasks
        if not _same_networks(board.references[task], published.references[task])
    ]
    return replace(board, rows=best_first(rows), beside=(_remark(label, published, others),))


def _check_tasks(board: Leaderboard, published: Leaderboard, label: str) -> None:
    missing = [task for task in published.tasks if task not in board.tasks]
    unknown = [task for task in board.tasks if task not in published.tasks]
    if missing or unknown:
        raise ScoringError(
            f"{label} has the tasks {', '.join(published.tasks)}; your run "
            + " and ".join(
                f"{verb} {', '.join(tasks)}"
                for verb, tasks in (("lacks", missing), ("has besides", unknown))
                if tasks
            )
            + ": averages would be over different tasks"
        )


def _same_networks(ours: Reference, theirs: Reference) -> bool:
    return ours.ids == theirs.ids and bool(np.array_equal(ours.gap, theirs.gap))


def _labelled(row: Row, label: str) -> Row:
    return replace(row, measure=f"{label}:{row.measure}")


def _remark(label: str, published: Leaderboard, others: list[str]) -> str:
    remark = f"{label}: are {len(published.rows)} published measures"
    if not others:
        return f"{remark}, of the same networks as yours"
    return (
        f"{remark}; on {', '.join(others)} of other networks than yours: trained from the same "
        "grid, with other gaps, so small differences of scores mean nothing"
    )
