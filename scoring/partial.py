"""Partial rank correlation (Wu et al. 2021, eq. 2): of two quantities, with a third held fixed.

    r_XY,Z = (r_XY - r_XZ r_YZ) / (sqrt(1 - r_XZ^2) sqrt(1 - r_YZ^2))

with Spearman's correlations. Table 5 holds the training accuracy fixed, because both the accuracy
on contrastive examples and the test accuracy contain it. Where X or Y has the same ranks as Z, or
the opposite ones, nothing is left of it and the ratio is 0/0: Table 5 says N/A (its footnote 5),
here it is a `ScoringError` that says so.

    partial_spearman(reference.test_acc, -values, reference.train_acc)
"""

from __future__ import annotations

import math

import numpy.typing as npt

from scoring.errors import ScoringError
from scoring.rank import spearman

_SAME = 1 - 1e-12  # a rank correlation this large is 1 up to rounding


def partial_spearman(x: npt.ArrayLike, y: npt.ArrayLike, given: npt.ArrayLike) -> float:
    """The rank correlation of two vectors [models] given a third."""
    between, with_x, with_y = spearman(x, y), spearman(x, given), spearman(y, given)
    for name, correlation in (("first", with_x), ("second", with_y)):
        if abs(correlation) > _SAME:
            raise ScoringError(
                f"a partial correlation is undefined: the {name} quantity orders the models "
                "exactly as the one that is held fixed"
            )
    left = math.sqrt(1 - with_x**2) * math.sqrt(1 - with_y**2)
    return (between - with_x * with_y) / left
