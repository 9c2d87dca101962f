"""The test accuracy that a learned predictor expects of each model, beside the ranking.

The predictor's measures are computed as they were when it was learned: with those options, and
under names of their own, so that the seeds of the ranking are not mixed up with them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from pgdl_measures.base import Measure
from pgdl_measures.errors import PgdlError
from pgdl_measures.ranking.result import Expectation
from pgdl_measures.registry import complexity
from scoring.predictor import Predictor

_SUFFIX = "_learned"


def learned_measures(predictor: Predictor) -> list[Measure]:
    """What has to be computed, each named `<measure>_learned`."""
    found = [complexity(name, **predictor.options.get(name, {})) for name in predictor.measures]
    return [replace(measure, name=f"{measure.name}{_SUFFIX}") for measure in found]


def expectation(
    predictor: Predictor, values: Mapping[str, float], training_accuracy: float
) -> Expectation:
    """What is expected of a model with these values, by the names of `learned_measures`.

    Raises where the whole interval of the gap is beyond the training accuracy, as no gap is.
    """
    found = predictor.predict({name: values[f"{name}{_SUFFIX}"] for name in predictor.measures})
    if found.low > training_accuracy:
        raise PgdlError(
            f"the predictor expects a gap of {found.gap:.0%}, more than its training accuracy of "
            f"{training_accuracy:.0%}: the predictor was learned from models unlike this one"
        )
    expected, low, high = (
        min(max(training_accuracy - gap, 0.0), 1.0) for gap in (found.gap, found.high, found.low)
    )
    return Expectation(expected, low, high, found.outside)
