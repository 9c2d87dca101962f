"""A ranking: rows best first, the pick, and reasons to doubt it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Union

import numpy as np
from scipy.stats import rankdata

from pgdl_measures.base import Measure
from pgdl_measures.errors import PgdlError
from pgdl_measures.ranking.concerns import chance_warning, concerns, counted, near_chance
from pgdl_measures.ranking.consensus import LEVEL, Consensus, consensus
from pgdl_measures.ranking.predictions import Prediction, predictions
from pgdl_measures.ranking.truth import Agreement, agreement
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


def make_ranking(
    candidates: Sequence[Candidate],
    measures: Sequence[Measure],
    *,
    chance: float,
    examples: int,
    by: str = "accuracy",
) -> Ranking:
    """Ranks models on so many training examples, of which guessing gets a share of `chance` right.

    A measure without a value for one of the models is left out: its ranks would be of other models
    than those of the rest. A model of which no measure has a value is left out first.
    """
    kept, used, left_out = _complete(candidates, measures)
    training = np.array([model.training_accuracy for model in kept])
    values = {m.name: np.array([model.values[m.name] for model in kept]).T for m in used}
    found = predictions(used, values, training, by)
    agreed = consensus(found)
    names = [model.name for model in kept]
    order = np.argsort(agreed.mean_rank, kind="stable")
    lost = [model for model in kept if near_chance(model.training_accuracy, chance, examples)]
    said = [*concerns(names, training, found, by), *_unlike(kept)]
    if lost:
        accuracies = [model.training_accuracy for model in lost]
        said.insert(0, chance_warning([model.name for model in lost], accuracies, chance))
    pick = int(order[0])
    return Ranking(
        by,
        tuple(_row(int(i), kept, agreed, found) for i in order),
        tuple(used),
        tuple(names[i] for i in order[1:] if agreed.is_level(int(i), pick)),
        tuple(said),
        left_out,
        _agreements(kept, found, agreed, by),
    )


def _unlike(models: Sequence[Candidate]) -> list[str]:
    """One sentence on the models for which the predictor was not learned; none if there are none"""
    unlike = {m.name: m.expected.unlike for m in models if m.expected and m.expected.unlike}
    if not unlike:
        return []
    many = "; ".join(f"{name} ({', '.join(measures)})" for name, measures in unlike.items())
    return [f"unlike the models that the predictor was learned from, by these measures: {many}"]


def _complete(
    candidates: Sequence[Candidate], measures: Sequence[Measure]
) -> tuple[list[Candidate], list[Measure], dict[str, str]]:
    """Models and measures that have all values of each other, and why the rest has not."""
    left_out, kept = {}, []
    for model in candidates:
        if model.values:
            kept.append(model)
        else:
            left_out[model.name] = next(iter(model.refusals.values()), "no measure has a value")
    used = []
    for measure in measures:
        missing = [model for model in kept if measure.name not in model.values]
        if not missing:
            used.append(measure)
        else:
            one = missing[0]
            more = f" (and {len(missing) - 1} more)" if len(missing) > 1 else ""
            why = one.refusals.get(measure.name, "no value")
            hint = f"rank without {'them' if more else 'it'} to use this measure"
            left_out[measure.name] = f"no value for {one.name}{more}: {why}; {hint}"
    if not kept or not used:
        reasons = "; ".join(f"{name}: {why}" for name, why in left_out.items())
        raise PgdlError(f"nothing can be ranked: {reasons or 'no model is given'}")
    return kept, used, left_out


def _row(
    i: int, models: Sequence[Candidate], agreed: Consensus, found: Sequence[Prediction]
) -> Row:
    estimates = {}
    for one in found:
        error = one.standard_error
        estimates[one.measure.name] = Estimate(
            float(one.values[:, i].mean()),
            float(one.shown[:, i].mean()),
            None if error is None else float(error[i]),
            float(rankdata(-one.scores())[i]),
        )
    return Row(
        models[i],
        int(agreed.rank[i]),
        int(agreed.low[i]),
        int(agreed.high[i]),
        float(agreed.mean_rank[i]),
        estimates,
    )


def _agreements(
    models: Sequence[Candidate], found: Sequence[Prediction], agreed: Consensus, by: str
) -> tuple[Agreement, ...]:
    """Of the consensus, of every measure, and of what people do without one."""
    known = [model.test_accuracy for model in models]
    if len(models) < 2 or any(accuracy is None for accuracy in known):
        return ()
    test = np.array(known, float)
    training = np.array([model.training_accuracy for model in models])
    parameters = np.array([model.parameters for model in models], float)
    truth = test if by == "accuracy" else test - training
    return (
        agreement("consensus", -agreed.mean_rank, truth),
        *(agreement(one.measure.name, one.scores(), truth) for one in found),
        *_agreement_of_predictor(models, truth, training if by == "gap" else 0 * training),
        agreement("training accuracy", training, truth),
        agreement("most parameters", parameters, truth),
    )


def _agreement_of_predictor(
    models: Sequence[Candidate], truth: np.ndarray, less: np.ndarray
) -> list[Agreement]:
    """Of the expected accuracies, `less` taken off, if there is one of every model."""
    expected = [model.expected.accuracy for model in models if model.expected]
    if len(expected) < len(models):
        return []
    return [agreement("predictor", np.array(expected) - less, truth)]


def _with_error(estimate: Estimate) -> str:
    if estimate.standard_error is None:
        return f"{estimate.shown:.4g}"
    return f"{estimate.shown:.4f} ±{estimate.standard_error:.4f}"
