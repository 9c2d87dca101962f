"""The entries of a leaderboard: each measure on one task, with intervals and correlations.

The score is that of the scoring program. Beside it stand bootstrap intervals, Kendall's tau and
Spearman's rho with the gap over all models, and the seconds per model that the run recorded.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import numpy.typing as npt

from scoring.bootstrap import Interval
from scoring.cmi_intervals import cmi_intervals
from scoring.errors import ScoringError, if_defined
from scoring.kit.predictions import SUFFIX, MeasureFolder
from scoring.kit.program import FEW_MODELS, TaskResult
from scoring.rank import kendall, spearman
from scoring.rank_intervals import rank_intervals
from scoring.recorded_run import Run

NO_FILE = "no predictions"


@dataclass(frozen=True, eq=False)
class Entry:
    """One measure on one task; without a score, the reason is in `result`."""

    result: TaskResult
    values: npt.NDArray[np.float64] | None = None  # [models] in the order of the reference
    interval: Interval | None = None  # of the score
    kendall: float | None = None
    spearman: float | None = None
    rank_intervals: Mapping[str, Interval] = field(default_factory=dict)  # kendall, spearman, psi
    seconds: float | None = None  # per model

    @property
    def score(self) -> float | None:
        """The task's CMI, in [0, 1]."""
        return None if self.result.cmi is None else self.result.cmi.score


def entries_of_task(
    results: Mapping[str, TaskResult],
    folders: Mapping[str, MeasureFolder],
    run: Run,
    replicates: int,
) -> dict[str, Entry]:
    """All measures on one task: its intervals are computed for all of them at once."""
    intervals, ranks = _intervals(results, replicates)
    found = {}
    for name, result in results.items():
        folder, reference, values = folders[name].path, result.reference, result.values
        seconds = run.seconds_per_model(result.task, folder.name)
        if result.cmi is None:
            result = _without_path(result, folder / f"{result.task}{SUFFIX}")
        if reference is None or values is None:
            found[name] = Entry(result, seconds=seconds)
        else:
            tau, rho = (if_defined(s, reference.gap, values) for s in (kendall, spearman))
            of_ranks = ranks.get(name, {})
            found[name] = Entry(result, values, intervals.get(name), tau, rho, of_ranks, seconds)
    return found


def _intervals(
    results: Mapping[str, TaskResult], replicates: int
) -> tuple[dict[str, Interval], dict[str, dict[str, Interval]]]:
    """By measure, the interval of the score on a task and those of its rank correlations.

    There is none of the score where there are too few models.
    """
    scores, values, references = {}, [], []
    for name, result in results.items():
        if result.cmi is not None and result.reference is not None:
            scores[name] = result.cmi.score
            values.append(result.values)
            references.append(result.reference)
    if not scores or not replicates or len(references[0].ids) < FEW_MODELS:
        return {}, {}  # resamples of a few models agree, however wrong they are
    arrays = references[0].codes, references[0].gap, np.array(values)
    ranks = dict(zip(scores, rank_intervals(*arrays, replicates=replicates)))
    try:
        of_scores = cmi_intervals(*arrays, list(scores.values()), replicates=replicates)
    except ScoringError:
        return {}, ranks
    return dict(zip(scores, of_scores)), ranks


def _without_path(result: TaskResult, path: Path) -> TaskResult:
    """The result with a reason that is the same for every measure with the same problem."""
    reason = (result.reason or "").replace(f"{path}: ", "")
    if result.reference is not None and not path.is_file():
        reason = NO_FILE
    return replace(result, reason=reason)
