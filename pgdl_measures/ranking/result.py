"""A ranking: rows best first, the pick, and reasons to doubt it. `ranking.make` makes it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Union

from pgdl_measures.base import Measure
from pgdl_measures.ranking.concerns import counted
from pgdl_measures.ranking.consensus import LEVEL
from pgdl_measures.ranking.truth import Agreement
from pgdl_measures.text_table import table

Cell = Union[str, int, float, None]


@dataclass(frozen=True)
class Expectation:
    """The test accuracy that a predictor expects, which was learned from models of other tasks."""

    accuracy: float
    low: float  # the 90 % interval
    high: float
    unlike: tuple[str, ...] = ()  # measures whose values are unlike those that it was learned from

    def __str__(self) -> str:
        return f"{100 * self.accuracy:.0f} % ({100 * self.low:.0f} to {100 * self.high:.0f})"


@dataclass(frozen=True)
class Candidate:
    """A model and what was measured of it."""

    name: str
    parameters: int
    training_accuracy: float
    values: Mapping[str, Sequence[float]]  # by measure: one per seed
    refusals: Mapping[str, str] = field(default_factory=dict)  # by measure: why it has none
    test_accuracy: float | None = None  # shown, never used
    expected: Expectation | None = None  # shown; the order is that of the measures


@dataclass(frozen=True)
class Estimate:
    """One measure of one model."""

    value: float  # the mean over seeds
    shown: float  # accuracy on changed examples, or gap; the value, of a measure without a unit
    standard_error: float | None  # of `shown`; None where nothing is drawn at random
    rank: float


@dataclass(frozen=True)
class Row:
    """One model of a ranking."""

    model: Candidate
    rank: int
    low: int  # the 90 % interval of the rank over draws of a measure and its seeds
    high: int
    mean_rank: float  # over the measures and their draws
    estimates: Mapping[str, Estimate]  # by measure


@dataclass(frozen=True)
class Ranking:
    """Models, best first."""

    by: str  # "accuracy" or "gap"
    rows: tuple[Row, ...]
    measures: tuple[Measure, ...]
    not_told_apart: tuple[str, ...]  # from the pick
    concerns: tuple[str, ...]  # reasons to doubt it
    left_out: Mapping[str, str]  # measures and models without values: why
    agreements: tuple[Agreement, ...]  # with known test accuracies or gaps; empty without them

    @property
    def pick(self) -> str:
        """The name of the model that is predicted to be best."""
        return self.rows[0].model.name

    @property
    def headers(self) -> list[str]:
        """Of `cells`."""
        truth = [f"true {_TRUTH[self.by]}"] if self.agreements else []
        names = [measure.name for measure in self.measures]
        expected = ["expected test acc"] if self.expects else []
        return ["rank", "90 %", "model", "parameters", "train acc", *expected, *names, *truth]

    @property
    def expects(self) -> bool:
        """Whether a predictor gave a test accuracy for any model."""
        return any(row.model.expected for row in self.rows)

    def cells(self) -> list[list[Cell]]:
        """The table's rows."""
        return [self._cells(row) for row in self.rows]

    def table(self) -> str:
        """The table as aligned text."""
        return table(self.headers, self.cells())

    @property
    def legend(self) -> str:
        """What the table's columns are."""
        changed = [measure.name for measure in self.measures if measure.unit]
        others = [measure.name for measure in self.measures if not measure.unit]
        parts = ["90 %: interval of the rank"]
        if changed:
            parts.append(f"{', '.join(changed)}: {_SHOWN[self.by]}, ± standard error")
        if others:
            parts.append(f"{', '.join(others)}: larger for a larger gap")
        return "; ".join(parts)

    def summary(self) -> str:
        """The answer in words; first of all whether there is one."""
        level = self.not_told_apart
        lines = [f"pick: {self.pick}"]
        expected = self.rows[0].model.expected
        if expected:
            lines.append(f"expected test accuracy {expected}; 90 % interval in brackets")
        if level:
            others = f"{len(level)} of the {counted(len(self.rows) - 1, 'other model')}"
            lines.insert(0, f"no clear winner: {others} may be as good as the pick, or better")
            lines.append(f"cannot be told apart from it: {', '.join(level)}")
            lines.append("what would tell them apart: accuracies on data that no model has seen")
        elif len(self.rows) > 1:
            lines.append(
                f"it is ahead of every other model in more than {100 * (1 - LEVEL):.0f} % of the "
                "draws of a measure and its seeds"
            )
        lines += [f"caution: {concern}" for concern in self.concerns]
        alike: dict[str, list[str]] = {}
        for name, why in self.left_out.items():
            alike.setdefault(why, []).append(name)
        lines += [f"left out: {', '.join(names)}: {why}" for why, names in alike.items()]
        if self.agreements:
            ours = self.agreements[0]
            lines.append(
                f"truth: Kendall's tau of this ranking and the true {_TRUTH[self.by]} is "
                f"{ours.tau:.2f}; "
                f"the best model is {100 * ours.regret:.1f} points better than the pick"
            )
        return "\n".join(lines)

    def __str__(self) -> str:
        return f"{self.table()}\n\n{self.legend}\n\n{self.summary()}"

    def _cells(self, row: Row) -> list[Cell]:
        interval = f"{row.low}-{row.high}" if row.low < row.high else str(row.low)
        model = row.model
        start: list[Cell] = [row.rank, interval, model.name, model.parameters]
        start.append(model.training_accuracy)
        if self.expects:
            start.append(str(model.expected) if model.expected else None)
        shown: list[Cell] = [_with_error(row.estimates[m.name]) for m in self.measures]
        if not self.agreements:
            return [*start, *shown]
        assert model.test_accuracy is not None
        gap = model.training_accuracy - model.test_accuracy
        return [*start, *shown, gap if self.by == "gap" else model.test_accuracy]


_SHOWN = {
    "accuracy": "accuracy on training examples that the measure changes",
    "gap": "training accuracy minus that on examples that the measure changes",
}
_TRUTH = {"accuracy": "test acc", "gap": "gap"}


def _with_error(estimate: Estimate) -> str:
    if estimate.standard_error is None:
        return f"{estimate.shown:.4g}"
    return f"{estimate.shown:.4f} ±{estimate.standard_error:.4f}"
