"""How good a ranking was, if test accuracies are known; they are not used to make it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.stats import kendalltau


@dataclass(frozen=True)
class Agreement:
    """One way of choosing, against the truth."""

    name: str
    tau: float  # Kendall's tau-b of the scores and the truth; nan where all scores are equal
    regret: float  # what is true of the best model, less what is true of the one with most score


def agreement(name: str, scores: np.ndarray, truth: np.ndarray) -> Agreement:
    """The agreement of scores with the truth, both larger for better models.

    Of models that share the largest score any may be chosen: the regret is their mean.
    """
    chosen = truth[scores == scores.max()]
    tau = float(kendalltau(scores, truth).statistic)
    return Agreement(name, tau, float(truth.max() - chosen.mean()))
