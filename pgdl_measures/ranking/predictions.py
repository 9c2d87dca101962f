"""From a measure's values to gaps, and from gaps to an order of models.

The value of a measure with a unit gives the accuracy on changed training examples:

    accuracy  -value          error  1 - value          gap  training accuracy - value

Its distance g from the training accuracy is a gap. It is not *the* gap: changed training examples
are nearer to the training set than test examples are, and some changes are harder than any test
example. What is compared is therefore

    training accuracy - s g,

in which a constant error of g drops out, and only the slope s matters: 0 ranks by training accuracy
alone, 1 by the accuracy on changed examples, infinity by the gap. The best slope cannot be found
from training data. The middle of its range is 1, and the consensus draws it from all of `SLOPES`,
so that models whose order depends on a factor of two in s are reported as not told apart.
(docs/rank.md has slopes of trained networks.)

Any other measure orders gaps and says nothing of their size. Where training accuracies differ, an
order of gaps is not an order of test accuracies. So sizes are taken from the others: the model with
the k-th smallest value gets the k-th smallest of the mean gaps of the measures with units. Where
all training accuracies are equal this is the measure's own order.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.stats import rankdata

from pgdl_measures.base import Measure
from pgdl_measures.errors import PgdlError

BY = ("accuracy", "gap")
MIDDLE = 1.0
SLOPES = (MIDDLE / math.sqrt(2), MIDDLE * math.sqrt(2))


@dataclass(frozen=True)
class Prediction:
    """What one measure predicts of all models."""

    measure: Measure
    values: np.ndarray  # [seeds, models], as measured
    shown: np.ndarray  # [seeds, models]: accuracies on changed examples, or gaps, or values
    gaps: np.ndarray  # [seeds, models], larger is worse
    training: np.ndarray | None  # [models]: training accuracies; None where gaps are compared

    def scores(self) -> np.ndarray:
        """What is compared, [models], larger is better."""
        return self._scores(self.gaps.mean(axis=0), np.array(MIDDLE))

    def drawn(self, draws: int, rng: np.random.Generator) -> np.ndarray:
        """The same [draws, models], each of resampled seeds and of another of the slopes.

        One seed fewer is drawn than there are, so that the variance is that of a mean over seeds
        (Rao and Wu 1988). A seed draws the same batches for every model, so all models are
        resampled together.
        """
        seeds = len(self.gaps)
        rows = rng.integers(0, seeds, (draws, max(1, seeds - 1)))
        return self._scores(self.gaps[rows].mean(axis=1), np.geomspace(*SLOPES, draws)[:, None])

    def _scores(self, gaps: np.ndarray, slopes: np.ndarray) -> np.ndarray:
        return -gaps if self.training is None else self.training - slopes * gaps

    @property
    def standard_error(self) -> np.ndarray | None:
        """Of the mean of `shown`, [models]; None of a measure that draws nothing at random."""
        seeds = len(self.shown)
        return None if seeds < 2 else self.shown.std(axis=0, ddof=1) / np.sqrt(seeds)


def check_scale(measures: Sequence[Measure], by: str) -> None:
    """Raises where the size of the gap is needed and no measure predicts it."""
    if by not in BY:
        raise PgdlError(f"models are ranked by {by!r}; expected one of {', '.join(BY)}")
    if by == "accuracy" and not any(measure.unit for measure in measures):
        names = ", ".join(measure.name for measure in measures)
        raise PgdlError(
            f"{names}: only the order of such values has a meaning, but a predicted test accuracy "
            "needs the size of the gap. Add a measure in accuracy units, such as mixup, or rank "
            "by gap (--by gap)"
        )


def predictions(
    measures: Sequence[Measure], values: Mapping[str, np.ndarray], training: np.ndarray, by: str
) -> list[Prediction]:
    """What is predicted of `values` [seeds, models] by measure and training accuracies [models]."""
    check_scale(measures, by)
    accuracies = {
        measure.name: changed_accuracy(measure.unit, values[measure.name], training)
        for measure in measures
        if measure.unit
    }
    found = []
    for measure in measures:
        own, accuracy = values[measure.name], accuracies.get(measure.name)
        if accuracy is not None:
            gaps = training - accuracy
            shown = accuracy if by == "accuracy" else gaps
        else:
            shown = gaps = own
            if by == "accuracy":
                sizes = [training - other.mean(axis=0) for other in accuracies.values()]
                gaps = np.array([_borrowed(row, np.mean(sizes, axis=0)) for row in own])
        found.append(Prediction(measure, own, shown, gaps, training if by == "accuracy" else None))
    return found


def changed_accuracy(unit: str, values: np.ndarray, training: np.ndarray) -> np.ndarray:
    """The accuracy on changed training examples, from the values of a measure of this unit."""
    return {"accuracy": -values, "error": 1 - values, "gap": training - values}[unit]


def _borrowed(values: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """The sizes handed out in the order of the values; tied values share theirs."""
    return np.interp(rankdata(values) - 1, np.arange(len(sizes)), np.sort(sizes))
