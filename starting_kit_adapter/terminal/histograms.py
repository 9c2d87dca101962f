"""Histograms of p-values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from matplotlib.axes import Axes

BINS = [i / 20 for i in range(21)]


def histograms(
    ax: Axes, values: Mapping[str, Sequence[float] | np.ndarray], bins: Sequence[float] = BINS
) -> None:
    """Draws the share of p-values in each bin, for every name; the bars of a bin stand side by
    side, since outlines over one another hide all but the last."""
    weights = [np.full(len(p), 1 / max(1, len(p))) for p in values.values()]
    ax.hist(list(values.values()), bins=bins, weights=weights, label=list(values))
    ax.set(xlabel="p", ylabel="share of tests")
    ax.legend(fontsize=8)
