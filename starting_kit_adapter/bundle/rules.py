"""Combination rules that need one model only (paper 000, A.8.2 to A.8.4): PROD, AVG, PROD+AVG.

A copy of this file goes into every bundle of several measures, so it needs nothing but Python.

Orientation. Registered measures are oriented so that larger predicts a larger gap; Pal and
accuracies are negated, hence never positive. The paper negates Pal where it stands beside Gi and
not where it stands beside Pal: the product of two Pal-scores is that of the positive values. So
where no value is positive, magnitudes are multiplied and the product is negated, which is the
paper's value in the contract's orientation and grows with every factor. Of values of both signs
(Gi times negated Pal) the product is taken as it is, as in Table 7; such a product does not grow
with each of its factors, and an average may be the better choice. A submission sees one model at a
time, so signs are looked at model by model; `pgdl combine`, which sees a task, looks at all of its
values. The two differ for measures whose sign changes from model to model.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence


def product(values: Sequence[float]) -> float:
    """PROD: the product, oriented like its factors where they all have one sign."""
    result = math.prod(values)
    return -abs(result) if all(value <= 0 for value in values) else result


def average(values: Sequence[float]) -> float:
    """AVG: the mean."""
    return math.fsum(values) / len(values)


def product_plus_average(values: Sequence[float]) -> float:
    """PROD+AVG: the product plus the mean."""
    return product(values) + average(values)


RULES: dict[str, Callable[[Sequence[float]], float]] = {
    "prod": product,
    "avg": average,
    "prod_avg": product_plus_average,
}
