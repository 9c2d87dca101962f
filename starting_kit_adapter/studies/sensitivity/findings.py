"""Time and CMI of a measure for each number of batches, over runs: computed and as text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean, stdev
from typing import TYPE_CHECKING

from starting_kit_adapter.terminal.text import table

if TYPE_CHECKING:
    from ingestion.run.loop import Report
    from scoring.kit.reference import Reference


@dataclass(frozen=True)
class Point:
    """One number of batches, over runs; None if a score is undefined or there is no model."""

    batches: int
    cmi: float | None
    cmi_deviation: float | None
    seconds: float | None  # per model
    seconds_deviation: float | None


@dataclass(frozen=True)
class Sensitivity:
    """Time and CMI of one measure against the number of batches."""

    measure: str
    models: int
    runs: int
    points: tuple[Point, ...]  # by the number of batches
    left_out: tuple[int, ...] = ()  # numbers of batches that the task has too few examples for

    @property
    def recommended(self) -> int | None:
        """The smallest number of batches whose CMI is within one standard deviation of that of the
        largest; None if no deviation is known."""
        best = self.points[-1]
        if self.runs < 2 or best.cmi is None or best.cmi_deviation is None:
            return None
        scored = ((p.batches, p.cmi) for p in self.points if p.cmi is not None)
        return next(b for b, score in scored if abs(score - best.cmi) <= best.cmi_deviation)


def sensitivity(
    reference: Reference, report: Report, measure: str, batches: Sequence[int], runs: int
) -> Sensitivity:
    """Mean and standard deviation over runs, for the models that have all values."""
    names = [[variant_name(measure, b, seed) for seed in range(runs)] for b in batches]
    known = [
        i
        for i, model in enumerate(reference.ids)
        if all(_value(report, reference.task, model, name) is not None for r in names for name in r)
    ]
    points = []
    for number, row in zip(batches, names):
        results = [
            [report.results[reference.task, reference.ids[i], name] for i in known] for name in row
        ]
        scores = [_score(reference, known, [r.value for r in of_run]) for of_run in results]
        seconds = [fmean(r.seconds for r in of_run) if of_run else None for of_run in results]
        points.append(Point(number, *_mean_and_deviation(scores), *_mean_and_deviation(seconds)))
    return Sensitivity(measure, len(known), runs, tuple(points))


def to_text(found: Sensitivity) -> str:
    """A row per number of batches, and the recommendation."""
    rows = [
        [p.batches, _percent(p.cmi), _percent(p.cmi_deviation), p.seconds, p.seconds_deviation]
        for p in found.points
    ]
    headers = ["batches", "CMI x 100", "+-", "seconds per model", "+-"]
    lines = [f"{found.measure}: {found.models} models, {found.runs} runs", table(headers, rows)]
    if found.left_out:
        lines.append(left_out_note(found.left_out))
    if found.recommended is not None:
        lines.append(
            f"recommended: {found.recommended} batches - the CMI is within one standard deviation "
            f"of that of {found.points[-1].batches}"
        )
    elif found.runs < 2:
        lines.append("no recommendation: one run has no standard deviation")
    else:
        lines.append("no recommendation: the CMI is undefined because all gaps or values are equal")
    return "\n".join(lines)


def left_out_note(left_out: Sequence[int]) -> str:
    """Says which numbers of batches were left out, and why."""
    numbers = ", ".join(map(str, left_out))
    return f"skipped: {numbers} batches - the training data has fewer; each example is used once"


def variant_name(measure: str, batches: int, seed: int) -> str:
    """The name in the record of a measure with these options."""
    return f"{measure}_b{batches}_s{seed}"


def _value(report: Report, task: str, model: str, measure: str) -> float | None:
    result = report.results.get((task, model, measure))
    return None if result is None else result.value


def _score(
    reference: Reference, known: Sequence[int], values: Sequence[float | None]
) -> float | None:
    from scoring.cmi import cmi_score
    from scoring.errors import if_defined

    return if_defined(cmi_score, reference.codes[known], reference.gap[known], values)


def _mean_and_deviation(values: Sequence[float | None]) -> tuple[float | None, float | None]:
    """Both None if a value is unknown; the deviation is None for a single value."""
    known = [value for value in values if value is not None]
    if len(known) < len(values):
        return None, None
    return fmean(known), stdev(known) if len(known) > 1 else None


def _percent(value: float | None) -> float | None:
    return None if value is None else 100 * value
