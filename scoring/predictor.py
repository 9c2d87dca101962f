"""From measures to the gap itself, learned on models whose gaps are known, for tasks that are new.

Schiff et al. 2021 (A.8.1) leave open how to combine measures, given models with known gaps, so that
the combination holds for other tasks. Here the predicted gap is

    gap = b + sum over measures of w_j z_j,   w_j >= 0,

where z_j is measure j, standardized over all models that were learned from. Registered measures are
oriented, so that a larger value predicts a larger gap: weights that are never negative keep the
prediction monotone, and a measure that points the wrong way gets weight 0. The squared error, every
task counting alike, is minimized together with a penalty `ridge * sum of w_j^2`; the penalty is
chosen by leaving out whole tasks.

A 90 % interval is the prediction plus or minus the 90 % quantile of the errors that were made on
tasks left out, every task counting alike (grouped split conformal prediction, as in Dunn, Wasserman
and Ramdas 2023). Its guarantee needs tasks that are exchangeable, and nine or more of them for
90 %; with fewer, `leave_one_task_out` shows the coverage that was reached.
"""

from __future__ import annotations

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
MIN_TASKS = 3  # one to judge, two to choose the penalty on
_RIDGES = tuple(float(ridge) for ridge in np.logspace(-4, 1, 11))
_MARGIN = 0.1  # of the learned range: further outside of it a model is said to be unlike


@dataclass(frozen=True, eq=False)
class KnownTask:
    """Models of one task whose gaps are known."""

    name: str
    gap: Floats  # [models]
    values: Mapping[str, Floats]  # [models] by measure

    def matrix(self, measures: Sequence[str]) -> Floats:
        """The values of these measures [models, measures]."""
        missing = [name for name in measures if name not in self.values]
        if missing:
            raise ScoringError(f"task {self.name} has no values of {', '.join(missing)}")
        return np.stack([self.values[name] for name in measures], axis=1)


@dataclass(frozen=True)
class Prediction:
    """The predicted gap of one model, and the interval that holds it 9 times of 10."""

    gap: float
    low: float
    high: float
    outside: tuple[str, ...]  # measures whose value is unlike those that were learned from


@dataclass(frozen=True)
class Predictor:
    """A learned combination of measures; plain numbers, so that it can be stored as JSON."""

    measures: tuple[str, ...]
    weights: tuple[float, ...]  # per unit of the measure
    intercept: float
    ridge: float
    half_width: float  # of the interval
    coverage: float  # that the interval is made for
    smallest: tuple[float, ...]  # values that were learned from, by measure
    largest: tuple[float, ...]
    tasks: Mapping[str, int]  # learned from, with their numbers of models
    options: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)  # of the measures

    def gaps(self, values: Floats) -> Floats:
        """The predicted gaps [models] of `values` [models, measures]."""
        return np.clip(self.intercept + values @ np.array(self.weights), -1.0, 1.0)

    def gap(self, values: Sequence[float]) -> float:
        """The predicted gap of one model from its measures, in their order."""
        return float(self.gaps(np.array([values], np.float64))[0])

    def predict(self, values: Mapping[str, float]) -> Prediction:
        """The gap of one model from its measures."""
        missing = [name for name in self.measures if name not in values]
        if missing:
            raise ScoringError(f"the predictor needs {', '.join(missing)}, which the model lacks")
        row = [values[name] for name in self.measures]
        gap = self.gap(row)
        outside = tuple(
            name
            for name, value, low, high in zip(self.measures, row, self.smallest, self.largest)
            if not low - _MARGIN * (high - low) <= value <= high + _MARGIN * (high - low)
        )
        return Prediction(gap, gap - self.half_width, gap + self.half_width, outside)

    def to_json(self) -> dict[str, Any]:
        """The predictor as plain values."""
        return {"format": FORMAT, **vars(self)}


def from_json(content: Mapping[str, Any], where: str) -> Predictor:
    """The predictor of parsed JSON; `where` is named in errors."""
    if content.get("format") != FORMAT:
        raise ScoringError(f"{where}: is no predictor; expected a file that `pgdl learn` wrote")
    try:
        fields: dict[str, Any] = {
            name: tuple(value) if isinstance(value, list) else value
            for name, value in content.items()
            if name != "format"
        }
        predictor = Predictor(**fields)
        numbers = [*predictor.weights, predictor.intercept, predictor.half_width]
        lengths = {len(getattr(predictor, n)) for n in ("weights", "smallest", "largest")}
        if lengths != {len(predictor.measures)} or not np.isfinite(numbers).all():
            raise TypeError("numbers that do not fit each other")
    except TypeError as error:
        raise ScoringError(f"{where}: is a damaged predictor ({error})") from error
    return predictor


def read_predictor(path: str | Path) -> Predictor:
    """The predictor that `pgdl learn` wrote."""
    return from_json(read_json_object(Path(path)), str(path))


def learn(tasks: Sequence[KnownTask], measures: Sequence[str], coverage: float = 0.9) -> Predictor:
    """The predictor of the tasks' gaps by these measures."""
    if len(tasks) < MIN_TASKS:
        raise ScoringError(
            f"a predictor is learned from {MIN_TASKS} tasks or more, to hold for another; "
            f"found {len(tasks)}"
        )
    inputs = [task.matrix(measures) for task in tasks]
    gaps = [task.gap for task in tasks]
    errors = {ridge: _errors_left_out(inputs, gaps, ridge) for ridge in _RIDGES}
    ridge = min(_RIDGES, key=lambda r: np.mean([np.mean(e**2) for e in errors[r]]))
    intercept, weights = _fit(inputs, gaps, ridge)
    everything = np.concatenate(inputs)
    return Predictor(
        measures=tuple(measures),
        weights=tuple(map(float, weights)),
        intercept=intercept,
        ridge=ridge,
        half_width=_quantile(errors[ridge], coverage),
        coverage=coverage,
        smallest=tuple(map(float, everything.min(axis=0))),
        largest=tuple(map(float, everything.max(axis=0))),
        tasks={task.name: len(task.gap) for task in tasks},
    )


@dataclass(frozen=True, eq=False)
class LeftOut:
    """A task that was predicted by what was learned from the others."""

    task: KnownTask
    predictor: Predictor
    gaps: Floats  # [models], predicted
    mean_gap: float  # of the other tasks, every task counting alike: the prediction to beat

    @property
    def error(self) -> float:
        """The mean absolute error of the predicted gaps."""
        return float(np.abs(self.gaps - self.task.gap).mean())

    @property
    def error_of_mean(self) -> float:
        """The mean absolute error of predicting the mean gap of the other tasks."""
        return float(np.abs(self.mean_gap - self.task.gap).mean())

    @property
    def covered(self) -> float:
        """The share of models whose gap lies within its interval."""
        return float((np.abs(self.gaps - self.task.gap) <= self.predictor.half_width).mean())


def leave_one_task_out(
    tasks: Sequence[KnownTask], measures: Sequence[str], coverage: float = 0.9
) -> list[LeftOut]:
    """Each task predicted from the others: nothing is chosen on the task that judges it."""
    found = []
    for number, task in enumerate(tasks):
        others = [*tasks[:number], *tasks[number + 1 :]]
        predictor = learn(others, measures, coverage)
        mean_gap = float(np.mean([other.gap.mean() for other in others]))
        found.append(LeftOut(task, predictor, predictor.gaps(task.matrix(measures)), mean_gap))
    return found


def _fit(inputs: Sequence[Floats], gaps: Sequence[Floats], ridge: float) -> tuple[float, Floats]:
    """Intercept and weights [measures] that minimize the mean over tasks of the squared error."""
    from scipy.optimize import nnls

    shares = np.concatenate([np.full(len(gap), 1 / (len(gap) * len(gaps))) for gap in gaps])
    values, gap = np.concatenate(inputs), np.concatenate(gaps)
    centre, centre_gap = shares @ values, shares @ gap
    scale = np.sqrt(shares @ (values - centre) ** 2)
    scale[scale == 0] = 1.0  # a constant measure says nothing, and gets weight 0
    root = np.sqrt(shares)[:, None]
    equations = np.concatenate(
        [root * (values - centre) / scale, np.sqrt(ridge) * np.eye(values.shape[1])]
    )
    target = np.concatenate([root[:, 0] * (gap - centre_gap), np.zeros(values.shape[1])])
    weights = nnls(equations, target)[0] / scale
    return float(centre_gap - centre @ weights), weights


def _errors_left_out(
    inputs: Sequence[Floats], gaps: Sequence[Floats], ridge: float
) -> list[Floats]:
    """The errors on each task [models] of what is fitted to the others."""
    errors = []
    for i, (values, gap) in enumerate(zip(inputs, gaps)):
        others = [j for j in range(len(gaps)) if j != i]
        intercept, weights = _fit([inputs[j] for j in others], [gaps[j] for j in others], ridge)
        errors.append(intercept + values @ weights - gap)
    return errors


def _quantile(errors: Sequence[Floats], coverage: float) -> float:
    """The size that a share `coverage` of the errors does not exceed, every task counting alike."""
    sizes = np.abs(np.concatenate(errors))
    shares = np.concatenate([np.full(len(e), 1 / (len(e) * len(errors))) for e in errors])
    order = np.argsort(sizes)
    reached = np.cumsum(shares[order]) >= coverage - 1e-12
    return float(sizes[order][np.argmax(reached)])
