"""Learns a predictor of the gap from tasks whose gaps are known, to hold for tasks that are new.

The squared error on the scale of the link, every task counting alike, is minimized together with a
penalty `ridge * sum of w_j^2` on the weights of the standardized inputs; the penalty is chosen by
leaving out whole tasks. The error of a task has two parts: of its mean, and of the differences
between its models. The gaps of tasks differ far more than those of the models of a task, so the
first part alone would decide; `within` is the weight of the second.

A 90 % interval is the prediction plus or minus a quantile of the sizes of the errors that were made
on tasks left out, every task counting alike (grouped conformal prediction, as in Dunn, Wasserman
and Ramdas 2023). Conformal prediction takes the quantile at 90 % (n + 1) / n of n independent
errors. Those of one task err alike, so n is their effective number (Kish 1965): all of them where
tasks make no difference, and the number of tasks where only tasks do, so that of eight tasks or
fewer the largest error then decides. `leave_one_task_out` shows the coverage that was reached.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from scoring.errors import ScoringError, if_defined
from scoring.predictor import Floats, Predictor, inputs_of, logit
from scoring.rank import kendall

COVERAGE = 0.9  # of the intervals
MIN_TASKS = 3  # one to judge, two to choose the penalty on
_RIDGES = tuple(float(ridge) for ridge in np.logspace(-4, 1, 11))


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
class Form:
    """What kind of predictor is learned."""

    measures: tuple[str, ...]
    units: tuple[str, ...] = ()  # of the measures ("" of one that has none): the link is the logit
    within: float = 1.0  # the weight of differences between models of a task

    def equations(self, task: KnownTask) -> tuple[Floats, Floats]:
        """Inputs [models, measures] and targets [models] on the scale of the link."""
        values = task.matrix(self.measures)
        if not self.units:
            return values, task.gap
        return inputs_of(values, self.units), logit(task.gap)


def learn(tasks: Sequence[KnownTask], form: Form) -> Predictor:
    """The predictor of the tasks' gaps, of this form."""
    if len(tasks) < MIN_TASKS:
        raise ScoringError(
            f"a predictor needs {MIN_TASKS} tasks or more to learn from; found {len(tasks)}"
        )
    inputs, targets = zip(*map(form.equations, tasks))
    errors = {ridge: _errors_left_out(inputs, targets, ridge, form.within) for ridge in _RIDGES}
    ridge = min(_RIDGES, key=lambda r: np.mean([np.mean(e**2) for e in errors[r]]))
    intercept, weights = _fit(inputs, targets, ridge, form.within)
    everything = np.concatenate([task.matrix(form.measures) for task in tasks])
    predictor = Predictor(
        measures=tuple(form.measures),
        weights=tuple(map(float, weights)),
        intercept=intercept,
        ridge=ridge,
        half_width=_quantile(errors[ridge], _corrected(COVERAGE, errors[ridge])),
        coverage=COVERAGE,
        smallest=tuple(map(float, everything.min(axis=0))),
        largest=tuple(map(float, everything.max(axis=0))),
        tasks={task.name: len(task.gap) for task in tasks},
        units=form.units,
    )
    return _judged(predictor, tasks, targets, errors[ridge])


def _judged(
    predictor: Predictor,
    tasks: Sequence[KnownTask],
    targets: Sequence[Floats],
    errors: Sequence[Floats],
) -> Predictor:
    """The predictor, with its interval and errors from the tasks that were left out."""
    found = [predictor.gap_at(target + error) for target, error in zip(targets, errors)]
    return replace(
        predictor,
        error=float(np.mean([np.abs(g - task.gap).mean() for g, task in zip(found, tasks)])),
        kendall=float(
            np.mean([if_defined(kendall, task.gap, g) or 0.0 for g, task in zip(found, tasks)])
        ),
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
        low, high = self.predictor.intervals(self.task.matrix(self.predictor.measures))
        return float(((low <= self.task.gap) & (self.task.gap <= high)).mean())


def predict_left_out(task: KnownTask, others: Sequence[KnownTask], form: Form) -> LeftOut:
    """A task predicted from others."""
    predictor = learn(others, form)
    mean_gap = float(np.mean([other.gap.mean() for other in others]))
    return LeftOut(task, predictor, predictor.gaps(task.matrix(form.measures)), mean_gap)


def leave_one_task_out(tasks: Sequence[KnownTask], form: Form) -> list[LeftOut]:
    """Each task predicted from the others: nothing is chosen on the task that judges it."""
    return [
        predict_left_out(task, [*tasks[:number], *tasks[number + 1 :]], form)
        for number, task in enumerate(tasks)
    ]


def _fit(
    inputs: Sequence[Floats], targets: Sequence[Floats], ridge: float, within: float
) -> tuple[float, Floats]:
    """Intercept and weights [measures] that minimize the mean over tasks of the squared error."""
    from scipy.optimize import nnls

    means = np.stack([x.mean(axis=0) for x in inputs])  # [tasks, measures]
    mean_targets = np.array([y.mean() for y in targets])
    centre, centre_target = means.mean(axis=0), mean_targets.mean()
    count = len(targets)
    shares = np.concatenate([np.full(len(y), 1 / (len(y) * count)) for y in targets])
    scale = np.sqrt(shares @ (np.concatenate(inputs) - centre) ** 2)
    scale[scale == 0] = 1.0  # a constant measure says nothing, and gets weight 0
    root = np.sqrt(within * shares)
    within_inputs = np.concatenate([x - m for x, m in zip(inputs, means)])
    within_targets = np.concatenate([y - m for y, m in zip(targets, mean_targets)])
    equations = np.concatenate(
        [
            (means - centre) / scale / np.sqrt(count),
            root[:, None] * within_inputs / scale,
            np.sqrt(ridge) * np.eye(len(scale)),
        ]
    )
    right = np.concatenate(
        [(mean_targets - centre_target) / np.sqrt(count), root * within_targets, 0 * scale]
    )
    weights = nnls(equations, right)[0] / scale
    return float(centre_target - centre @ weights), weights


def _errors_left_out(
    inputs: Sequence[Floats], targets: Sequence[Floats], ridge: float, within: float
) -> list[Floats]:
    """The errors on each task [models] of what is fitted to the others."""
    errors = []
    for i, (x, y) in enumerate(zip(inputs, targets)):
        others = [j for j in range(len(targets)) if j != i]
        intercept, weights = _fit(
            [inputs[j] for j in others], [targets[j] for j in others], ridge, within
        )
        errors.append(intercept + x @ weights - y)
    return errors


def _corrected(coverage: float, errors: Sequence[Floats]) -> float:
    """The share of known errors within an interval that is to hold a new one with `coverage`."""
    models = float(np.mean([len(e) for e in errors]))
    inside = float(np.mean([e.var() for e in errors]))
    between = max(0.0, float(np.mean([e.mean() ** 2 for e in errors])) - inside / models)
    alike = between / (between + inside) if between else 0.0  # the intraclass correlation
    effective = len(errors) * models / (1 + (models - 1) * alike)
    return min(1.0, coverage * (1 + 1 / effective))


def _quantile(errors: Sequence[Floats], share: float) -> float:
    """The size that this share of the errors does not exceed, every task counting alike."""
    sizes = np.abs(np.concatenate(errors))
    shares = np.concatenate([np.full(len(e), 1 / (len(e) * len(errors))) for e in errors])
    order = np.argsort(sizes)
    number = int(np.searchsorted(np.cumsum(shares[order]), share - 1e-9))
    return float(sizes[order][min(number, len(order) - 1)])
