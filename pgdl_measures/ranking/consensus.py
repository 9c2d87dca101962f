"""One order of models from several measures, and how far it depends on what was not known.

The consensus is the mean of the ranks that the measures give (Borda's count): measures have scales
of their own, ranks have one. Resampled are, with replacement, the measures and the seeds, and for
each measure the slope that makes a gap of its values. A seed draws the same batches for every
model, so all models are resampled together. Drawing one fewer than there are makes the variance of
a mean unbiased (Rao and Wu 1988).

This says how stable the answer is. It does not say how far the measures are right.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.stats import rankdata

from pgdl_measures.ranking.predictions import SLOPES, Prediction

DRAWS = 2000
LEVEL = 0.05  # a model that is level with the pick in this share of draws may be as good


@dataclass(frozen=True)
class Consensus:
    """Models by number, arrays [models] unless said otherwise."""

    mean_rank: np.ndarray  # over measures and draws; 1 is best
    rank: np.ndarray  # of the mean ranks; tied ones share the smaller
    low: np.ndarray  # the 5th percentile of the rank over draws
    high: np.ndarray  # the 95th
    drawn: np.ndarray  # [draws, models]: the mean ranks over measures

    def is_level(self, model: int, pick: int) -> bool:
        """Whether a model is as good as the pick, or better, in too many of the draws."""
        return bool((self.drawn[:, model] <= self.drawn[:, pick]).mean() >= LEVEL)


def consensus(found: Sequence[Prediction], seed: int = 0) -> Consensus:
    """The consensus of what measures predict of the same models."""
    rng = np.random.default_rng(seed)
    drawn = np.array([_draw(found, rng) for _ in range(DRAWS)]).round(9)
    mean_rank = drawn.mean(axis=0).round(9)
    ranks = rankdata(drawn, method="min", axis=1)
    low, high = np.percentile(ranks, [5, 95], axis=0, method="nearest")
    return Consensus(mean_rank, rankdata(mean_rank, method="min"), low, high, drawn)


def _draw(found: Sequence[Prediction], rng: np.random.Generator) -> np.ndarray:
    """Mean ranks of resampled measures, seeds and slopes."""
    seeds = max(len(one.gaps) for one in found)
    rows = rng.integers(0, seeds, max(1, seeds - 1))
    chosen = rng.integers(0, len(found), max(1, len(found) - 1))
    low, high = np.log(SLOPES)
    slopes = np.exp(rng.uniform(low, high, len(chosen)))
    scores = [found[i].scores(rows, slope) for i, slope in zip(chosen, slopes)]
    return rankdata(-np.array(scores), axis=1).mean(axis=0)
