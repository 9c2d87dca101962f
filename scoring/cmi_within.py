"""The CMI given all hyperparameters at once, as Schiff et al. 2021 write it in A.2.

A.2 has a group O_k for each configuration of *all* hyperparameters and counts over the models in
it. Pairs of models with different hyperparameters then count nowhere: what is left to predict is
the order of models that differ in their seed. The organizers' program, which gave the published
scores, conditions on two hyperparameters at a time and takes the smallest score (`scoring.cmi`).

Pairs are ordered and a model pairs with itself, as there. A grid with one model per configuration
has no score.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from scoring.cmi import Cmi, SetScore, check_task, information
from scoring.errors import ScoringError
from scoring.robust.environments import group_numbers


def cmi_within(
    codes: npt.ArrayLike,
    gap: npt.ArrayLike,
    measure: npt.ArrayLike,
    *,
    hparams: Sequence[str] | None = None,
    sizes: Sequence[int] | None = None,
) -> Cmi:
    """The score of `measure` [models]; the arguments are those of `scoring.cmi.cmi`."""
    codes = np.asarray(codes, dtype=np.intp)
    gap, measure = np.asarray(gap, np.float64), np.asarray(measure, np.float64)
    check_task(codes, gap, measure)
    cell = group_numbers(codes)
    first, second = np.nonzero(cell[:, None] == cell)
    gap_above, measure_above = gap[first] > gap[second], measure[first] > measure[second]
    pairs, *counts = (
        np.bincount(cell[first], weights=relation).astype(np.float64)
        for relation in (None, gap_above, measure_above, gap_above & measure_above)
    )
    if not counts[0].any():
        raise ScoringError(
            f"the score of {len(gap)} models given all hyperparameters is undefined: no two models "
            "with equal hyperparameters have different gaps (it takes several seeds per setting)"
        )
    mutual, entropy = information(pairs, *counts)
    names = tuple(hparams) if hparams is not None else tuple(f"h{k}" for k in range(codes.shape[1]))
    widths = sizes if sizes is not None else (codes.max(axis=0, initial=0) + 1).tolist()
    groups = math.prod(widths)
    found = SetScore(names, float(mutual.sum() / entropy.sum()), groups, groups - len(pairs))
    return Cmi((found,), found)
