"""One order of models from several measures, and how far it depends on what was not known.

The consensus is the mean of the ranks that the measures give (Borda's count): measures have scales
of their own, ranks have one. The interval of a rank comes from draws. Each draw is of one measure,
with resampled seeds and one of the slopes that make a gap of its values.

A draw is not a mean over resampled measures, as a bootstrap of the consensus would be: measures err
alike, so their mean is not surer than they are, and intervals of the mean are too narrow
(benchmarks/rank/judged.py has the coverage of both).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.stats import rankdata

from pgdl_measures.ranking.predictions import Prediction

DRAWS = 2000
LEVEL = 0.05  # a model that is level with the pick in this share of draws may be as good


@dataclass(frozen=True)
class Consensus:
    """Models by number, arrays [models] unless said otherwise."""

    mean_rank: np.ndarray  # over measures and draws; 1 is best
    rank: np.ndarray  # of the mean ranks; tied ones share the smaller
    low: np.ndarray  # the 5th percentile of the rank over draws, or the rank if that is smaller
    high: np.ndarray  # the 95th, or the rank if that is larger
    drawn: np.ndarray  # [draws, models]: the ranks; tied ones share their mean

    def is_level(self, model: int, pick: int) -> bool:
        """Whether a model is as good as the pick, or better, in too many of the draws."""
        return bool((self.drawn[:, model] <= self.drawn[:, pick]).mean() >= LEVEL)


def consensus(found: Sequence[Prediction], seed: int = 0) -> Consensus:
    """The consensus of what measures predict of the same models; each has as many draws."""
    rng = np.random.default_rng(seed)
    draws = -(-DRAWS // len(found))
    scores = np.concatenate([one.drawn(draws, rng) for one in found]).round(9)
    drawn = rankdata(-scores, axis=1)
    mean_rank = drawn.mean(axis=0).round(9)
    ranks = rankdata(-scores, method="min", axis=1)
    low, high = np.percentile(ranks, [5, 95], axis=0, method="nearest")
    rank = rankdata(mean_rank, method="min")
    # Second by every measure is first of all if others are first by some and last by others.
    return Consensus(mean_rank, rank, np.minimum(low, rank), np.maximum(high, rank), drawn)
