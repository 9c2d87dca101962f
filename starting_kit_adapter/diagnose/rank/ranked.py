"""Computes every measure of the collected models with every seed, and ranks the models."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from ingestion import evaluate
from ingestion.run.loop import Report
from pgdl_measures.base import Measure
from pgdl_measures.errors import PgdlError
from pgdl_measures.ranking.make import make_ranking
from pgdl_measures.ranking.recommended import Variant, variants
from pgdl_measures.ranking.result import Candidate, Expectation, Ranking
from scoring.predictor import Predictor
from starting_kit_adapter.diagnose.rank.collecting import Facts
from starting_kit_adapter.diagnose.rank.collection import Member
from starting_kit_adapter.diagnose.rank.expected import expectation, learned_measures


def ranked(
    root: Path,
    members: Sequence[Member],
    measures: Sequence[Measure],
    refused: Mapping[str, str],
    facts: Facts,
    *,
    by: str,
    seeds: int,
    predictor: Predictor | None = None,
    **run: Any,
) -> Ranking:
    """Computes what `root/run` does not have yet, and ranks.

    A `predictor` adds the expected test accuracies beside the ranking. `refused` are models that
    could not be collected, with the reasons; `run` are arguments of `evaluate`.
    """
    if not members:
        raise PgdlError("\n  ".join(["no model can be ranked:", *refused.values()]))
    requested = variants(measures, seeds)
    learned = learned_measures(predictor) if predictor else []
    report = evaluate(
        root / "models",
        [*(one.measure for one in requested), *learned],
        root / "run",
        tasks=sorted({member.task for member in members}),
        models=[member.model for member in members],
        **run,
    )
    candidates = [_candidate(member, requested, report) for member in members]
    without: dict[str, str] = {}  # models of which nothing is expected
    if predictor:
        for i, (member, model) in enumerate(zip(members, candidates)):
            try:
                expected = _expected(member, predictor, learned, report)
                candidates[i] = replace(model, expected=expected)
            except PgdlError as error:
                without[f"{member.name} (expected test accuracy)"] = str(error)
    ranking = make_ranking(
        candidates, measures, chance=facts.chance, examples=facts.examples, by=by
    )
    return replace(ranking, left_out={**refused, **ranking.left_out, **without})


def _expected(
    member: Member, predictor: Predictor, learned: Sequence[Measure], report: Report
) -> Expectation:
    values, refusals = _values(member, learned, report)
    if refusals:
        raise PgdlError("; ".join(refusals.values()))
    return expectation(predictor, values, member.training_accuracy)


def _values(
    member: Member, measures: Sequence[Measure], report: Report
) -> tuple[dict[str, float], dict[str, str]]:
    """The values of these measures by name, and why some have none."""
    values, refusals = {}, {}
    for measure in measures:
        result = report.results.get((member.task, member.model, measure.name))
        if result is not None and result.value is not None:
            values[measure.name] = result.value
        else:
            refusals[measure.name] = (result.error if result else None) or "was not computed"
    return values, refusals


def _candidate(member: Member, asked: Sequence[Variant], report: Report) -> Candidate:
    values: dict[str, list[float]] = {}
    refusals: dict[str, str] = {}
    found, refused = _values(member, [one.measure for one in asked], report)
    for one in asked:
        if one.measure.name in found:
            values.setdefault(one.of, []).append(found[one.measure.name])
        else:
            refusals[one.of] = refused[one.measure.name]
    return Candidate(
        member.name,
        member.parameters,
        member.training_accuracy,
        {name: found for name, found in values.items() if name not in refusals},
        refusals,
        member.test_accuracy,
    )
