"""A learned predictor of the gap: what it is, what it predicts, and its file.

Schiff et al. 2021 (A.8.1) leave open how to combine measures, given models with known gaps, so that
the combination holds for other tasks. Here it is

    link(gap) = b + sum over measures of w_j x_j,   w_j >= 0,

where the link is the identity and x_j the measure, or the link is the logit and x_j the logit of
the error on changed training examples, for measures in accuracy units: on that scale a change from
2 to 4 % of error is about as large as one from 50 to 67 %. Registered measures are oriented, so
that a larger value predicts a larger gap: weights that are never negative keep the prediction
monotone. `scoring.predictor_fit` learns it.

The interval is the prediction plus or minus the `half_width`, on the scale of the link.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from scoring.errors import ScoringError
from scoring.files import read_json_object

Floats = npt.NDArray[np.float64]

FORMAT = "pgdl-predictor-1"
_PACKAGED = Path(__file__).with_name("predictors")
_MARGIN = 0.1  # of the learned range: further outside of it a model is said to be unlike
_EDGE = 0.005  # errors and gaps nearer to 0 or 1 are taken for this
# What is added to a measure of each unit to make it an error from 0 to 1.
_TO_ERROR = {"accuracy": 1.0, "error": 0.0, "gap": 0.0}


def logit(shares: Floats) -> Floats:
    """log p / (1 - p), of shares that are kept off 0 and 1."""
    inside = np.clip(shares, _EDGE, 1 - _EDGE)
    return np.log(inside / (1 - inside))


def inputs_of(values: Floats, units: Sequence[str]) -> Floats:
    """The x_j [models, measures] of values: of measures with a unit the logit of their errors."""
    columns = [
        logit(column + _TO_ERROR[unit]) if unit else column for column, unit in zip(values.T, units)
    ]
    return np.stack(columns, axis=1)


@dataclass(frozen=True)
class Prediction:
    """The predicted gap of one model, and the interval that holds it 9 times out of 10."""

    gap: float
    low: float
    high: float
    outside: tuple[str, ...]  # measures whose value is unlike those that were learned from


@dataclass(frozen=True)
class Predictor:
    """A learned combination of measures; plain numbers, so that it can be stored as JSON."""

    measures: tuple[str, ...]
    weights: tuple[float, ...]  # per unit of x_j
    intercept: float
    ridge: float
    half_width: float  # of the interval, on the scale of the link
    coverage: float  # that the interval is made for
    smallest: tuple[float, ...]  # values that were learned from, by measure
    largest: tuple[float, ...]
    tasks: Mapping[str, int]  # learned from, with their numbers of models
    options: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)  # of the measures
    units: tuple[str, ...] = ()  # of the measures, where the link is the logit
    error: float | None = None  # mean absolute error on tasks that were left out
    kendall: float | None = None  # mean Kendall's tau on tasks that were left out

    def gaps(self, values: Floats) -> Floats:
        """The predicted gaps [models] of `values` [models, measures]."""
        return self.gap_at(self._linear(values))

    def _linear(self, values: Floats) -> Floats:
        inputs = inputs_of(values, self.units) if self.units else values
        return self.intercept + inputs @ np.array(self.weights)

    def gap_at(self, linear: Floats) -> Floats:
        """The gaps of numbers on the scale of the link."""
        return 1 / (1 + np.exp(-linear)) if self.units else np.clip(linear, -1.0, 1.0)

    def intervals(self, values: Floats) -> tuple[Floats, Floats]:
        """The ends of the intervals [models] of `values` [models, measures]."""
        linear = self._linear(values)
        return self.gap_at(linear - self.half_width), self.gap_at(linear + self.half_width)

    def gap(self, values: Sequence[float]) -> float:
        """The predicted gap of one model from its measures, in their order."""
        return float(self.gaps(np.array([values], np.float64))[0])

    def predict(self, values: Mapping[str, float]) -> Prediction:
        """The gap of one model from its measures."""
        missing = [name for name in self.measures if name not in values]
        if missing:
            raise ScoringError(f"the predictor needs {', '.join(missing)}, which the model lacks")
        row = [values[name] for name in self.measures]
        (low,), (high,) = self.intervals(np.array([row], np.float64))
        outside = tuple(
            name
            for name, value, low, high in zip(self.measures, row, self.smallest, self.largest)
            if not low - _MARGIN * (high - low) <= value <= high + _MARGIN * (high - low)
        )
        return Prediction(self.gap(row), float(low), float(high), outside)

    def to_json(self) -> dict[str, Any]:
        """The predictor as plain values."""
        return {"format": FORMAT, **vars(self)}


def from_json(content: Mapping[str, Any], where: str) -> Predictor:
    """The predictor of parsed JSON; `where` is named in errors."""
    if content.get("format") != FORMAT:
        raise ScoringError(f"{where}: is not a predictor; expected a file that `pgdl learn` wrote")
    try:
        fields: dict[str, Any] = {
            name: tuple(value) if isinstance(value, list) else value
            for name, value in content.items()
            if name != "format"
        }
        predictor = Predictor(**fields)
        numbers = [*predictor.weights, predictor.intercept, predictor.half_width]
        numbers += [*predictor.smallest, *predictor.largest]
        lengths = {len(getattr(predictor, n)) for n in ("weights", "smallest", "largest")}
        if predictor.units:
            lengths.add(len(predictor.units))
        if not {*predictor.units} <= {"", *_TO_ERROR}:
            raise TypeError(f"unknown units {predictor.units}")
        if lengths != {len(predictor.measures)} or not all(map(math.isfinite, numbers)):
            raise TypeError("numbers that do not fit each other")
    except (TypeError, OverflowError) as error:
        raise ScoringError(f"{where}: is a damaged predictor ({error})") from error
    return predictor


def packaged_predictors() -> list[str]:
    """The names of the predictors that come with the toolkit."""
    return sorted(path.stem for path in _PACKAGED.glob("*.json"))


def read_predictor(path: str | Path) -> Predictor:
    """The predictor that `pgdl learn` wrote, or the one of that name that is packaged."""
    if str(path) in packaged_predictors():
        path = _PACKAGED / f"{path}.json"
    return from_json(read_json_object(Path(path)), str(path))
