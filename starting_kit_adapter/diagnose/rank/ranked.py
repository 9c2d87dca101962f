"""From a collection to a ranking: every measure with every seed, by the runner, then the order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from ingestion import evaluate
from ingestion.arrays import Data
from ingestion.run.loop import Report
from pgdl_measures.base import Measure
from pgdl_measures.errors import PgdlError
from pgdl_measures.ranking.recommended import Variant, variants
from pgdl_measures.ranking.result import Candidate, Ranking, make_ranking
from starting_kit_adapter.diagnose.rank.collection import Member


def ranked(
    root: Path,
    members: Sequence[Member],
    measures: Sequence[Measure],
    refused: Mapping[str, str],
    data: Data,
    *,
    by: str,
    seeds: int,
    **run: Any,
) -> Ranking:
    """Computes what `root/run` does not have yet, and ranks.

    `refused` are models that could not be collected, with the reasons; `run` are arguments of
    `evaluate`.
    """
    if not members:
        reasons = "; ".join(refused.values())
        raise PgdlError(f"no model can be ranked: {reasons}")
    asked = variants(measures, seeds)
    report = evaluate(
        root / "models",
        [one.measure for one in asked],
        root / "run",
        tasks=sorted({member.task for member in members}),
        models=[member.model for member in members],
        **run,
    )
    candidates = [_candidate(member, asked, report) for member in members]
    ranking = make_ranking(
        candidates, measures, classes=data.classes, examples=len(data.train), by=by
    )
    return replace(ranking, left_out={**refused, **ranking.left_out})


def _candidate(member: Member, asked: Sequence[Variant], report: Report) -> Candidate:
    values: dict[str, list[float]] = {}
    refusals: dict[str, str] = {}
    for one in asked:
        result = report.results.get((member.task, member.model, one.measure.name))
        if result is not None and result.value is not None:
            values.setdefault(one.of, []).append(result.value)
        else:
            refusals[one.of] = (result.error if result else None) or "was not computed"
    return Candidate(
        member.name,
        member.parameters,
        member.training_accuracy,
        {name: found for name, found in values.items() if name not in refusals},
        refusals,
        member.test_accuracy,
    )
