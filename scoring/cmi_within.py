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

from scoring.cmi import Cmi, SetScore, checked_task, information
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
    task = checked_task(codes, gap, measure, hparams, sizes)
    cell = group_numbers(task.codes)
    first, second = np.nonzero(cell[:, None] == cell)
    gap_above = task.gap[first] > task.gap[second]
    measure_above = task.measure[first] > task.measure[second]
    pairs, *counts = (
        np.bincount(cell[first], weights=relation).astype(np.float64)
        for relation in (None, gap_above, measure_above, gap_above & measure_above)
    )
    if not counts[0].any():
        raise ScoringError(
            f"the score of {len(task.gap)} models given all hyperparameters is undefined: no two "
            "models with equal hyperparameters have different gaps (it takes several seeds per "
            "setting)"
        )
    mutual, entropy = information(pairs, *counts)
    groups = math.prod(task.sizes.tolist())
    score = float(mutual.sum() / entropy.sum())
    found = SetScore(task.hparams, score, groups, groups - len(pairs))
    return Cmi((found,), found)
