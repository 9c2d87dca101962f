"""What the plots of sign-errors draw."""

from __future__ import annotations

import numpy as np
import pytest
from robust_runs import random_runs

from scoring.errors import ScoringError
from scoring.robust.evaluation import Evaluation, evaluate
from scoring.robust.families import Family, summarize

matplotlib = pytest.importorskip("matplotlib")

from matplotlib.collections import LineCollection, PolyCollection  # noqa: E402
from matplotlib.figure import Figure  # noqa: E402

from scoring.report.robust_plots import plot_sign_errors, plot_triangle  # noqa: E402


@pytest.fixture(scope="module")
def found() -> Evaluation:
    return evaluate(random_runs(repeats=5))


def lines(ax: object, name: str) -> np.ndarray:
    """The ends of the lines with a label: [lines, 2, 2]."""
    collections = [c for c in ax.collections if isinstance(c, LineCollection)]
    (chosen,) = [c for c in collections if c.get_label() == name]
    return np.array(chosen.get_segments())


def test_bars_are_ordered_by_their_mean_and_marked_at_their_statistics(found: Evaluation) -> None:
    ax = plot_sign_errors(found, Figure().add_subplot())
    labels = [label.get_text() for label in ax.get_xticklabels()]
    assert labels == [found.measures[k] for k in found.order]
    assert ax.get_yticklabels()[0].get_text() == "all\n(9)"
    top = 1.25 * 3  # three hyperparameters below the row of all
    for name, column in (("max", "maximum"), ("mean", "mean")):
        heights = [y for (_, y), _ in lines(ax, name) if y >= top]
        expected = [getattr(summarize(found.filtered.errors[k]), column) for k in found.order]
        assert heights == pytest.approx([top + value for value in expected])
    crosses = ax.lines[0].get_xydata()
    assert len(crosses) == 3  # no environment of lr counts, for none of three measures


def test_the_shade_ends_at_the_maximum_and_half_of_it_is_full(found: Evaluation) -> None:
    ax = plot_sign_errors(found, Figure().add_subplot())
    blind = found.order[-1]
    errors = found.filtered.errors[blind]
    shades = [c for c in ax.collections if isinstance(c, PolyCollection) and c.get_alpha()]
    boxes = np.array(
        [path.vertices for c in shades for path in c.get_paths() if path.vertices[0][0] > 2]
    )
    heights = boxes[..., 1]
    of_all = heights[heights.min(axis=1) >= 3.75] - 3.75
    assert of_all.max() == pytest.approx(np.nanmax(errors))
    median = np.nanquantile(errors, 0.5, method="inverted_cdf")
    assert of_all[0].max() == pytest.approx(median)


def test_the_triangle_has_a_bar_for_each_pair_of_values(found: Evaluation) -> None:
    ax = plot_triangle(found, "blind", "depth", Figure().add_subplot())
    ends = lines(ax, "max")
    assert len(ends) == 3
    chosen = Family(0, (0, 2)).of(found.filtered)
    expected = summarize(found.filtered.errors[found.measures.index("blind")][chosen]).maximum
    assert any((left[0], left[1]) == pytest.approx((0.1, expected)) for left, _ in ends)
    with pytest.raises(ScoringError, match="no 'height' here; there are depth, width, lr"):
        plot_triangle(found, "blind", "height", Figure().add_subplot())
