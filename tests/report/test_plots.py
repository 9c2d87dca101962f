"""The plots show the numbers that they are given, on any axes, and say what they need."""

from __future__ import annotations

import sys
from types import SimpleNamespace

import numpy as np
import pytest
from report_runs import FakeRun

from pgdl_measures.response_curves.plots import plot_curves, plot_density
from pgdl_measures.response_curves.statistics import gi
from scoring.canvas import new_figure
from scoring.cmi import cmi
from scoring.errors import ScoringError
from scoring.kit.reference import read_reference
from scoring.report.figures import draw
from scoring.report.leaderboard import Leaderboard
from scoring.report.plots import plot_leaderboard, plot_pairs, plot_scatter

figure = pytest.importorskip("matplotlib.figure")

ALPHAS = np.linspace(0, 0.5, 6)
CURVES = {
    "ideal": SimpleNamespace(magnitudes=ALPHAS, accuracy=np.ones(6)),
    "falls": SimpleNamespace(magnitudes=ALPHAS, accuracy=1 - ALPHAS),
}


@pytest.fixture
def ax():  # type: ignore[no-untyped-def]
    return figure.Figure().add_subplot()


def test_curves_are_drawn_as_they_are(ax) -> None:  # type: ignore[no-untyped-def]
    lines = plot_curves(CURVES, ax).get_lines()
    for line, curve in zip(lines, CURVES.values()):
        np.testing.assert_array_equal(line.get_xydata().T, [curve.magnitudes, curve.accuracy])


def test_the_legend_of_the_density_says_gi(ax) -> None:  # type: ignore[no-untyped-def]
    texts = [text.get_text() for text in plot_density(CURVES, ax).get_legend().get_texts()]
    assert texts[0] == "ideal: Gi 0.000"
    assert texts[1] == f"falls: Gi {gi(ALPHAS, 1 - ALPHAS):.3f}"


def test_the_shaded_area_is_gi(ax) -> None:  # type: ignore[no-untyped-def]
    shade = plot_density({"falls": CURVES["falls"]}, ax).collections[0]
    x, y = shade.get_paths()[0].vertices.T
    area = 0.5 * abs(np.dot(x, np.roll(y, 1)) - np.dot(y, np.roll(x, 1)))  # shoelace
    assert area / 0.5 == pytest.approx(gi(ALPHAS, 1 - ALPHAS))


def test_leaderboard_has_dots_intervals_and_published_scores(board: Leaderboard, ax) -> None:  # type: ignore[no-untyped-def]
    plot_leaderboard(board, "alpha", ax, published={"guesses": 12.0})
    ranked = board.ranked("alpha")
    assert next(tick.get_text() for tick in ax.get_yticklabels()) == "knows"
    at = [tuple(line.get_xdata()) for line in ax.get_lines()]
    for _, entry in ranked:
        assert (100 * entry.score,) in at
        assert (100 * entry.interval.low, 100 * entry.interval.high) in at
    assert (12.0,) in at


def test_scatter_has_every_model_once_by_value(fake: FakeRun, ax) -> None:  # type: ignore[no-untyped-def]
    reference = read_reference(fake.reference / "alpha" / "model_configs.json")
    values = fake.values["alpha"]["guesses"]
    plot_scatter(reference, values, ax, colour_by="depth", measure="guesses")
    points = np.concatenate([line.get_xydata() for line in ax.get_lines()])
    expected = np.stack([values, reference.gap], axis=1)
    assert {tuple(p) for p in points} == {tuple(p) for p in expected}
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["1", "2"]


@pytest.mark.parametrize("hparams", [1, 2, 3])
def test_pairs_show_each_score_and_frame_the_smallest(fake: FakeRun, ax, hparams: int) -> None:  # type: ignore[no-untyped-def]
    reference = read_reference(fake.reference / "alpha" / "model_configs.json")
    score = cmi(reference.codes[:, :hparams], reference.gap, fake.values["alpha"]["guesses"])
    plot_pairs(score, ax)
    texts = {text.get_text(): text.get_weight() for text in ax.texts}
    assert set(texts) == {f"{100 * pair.score:.1f}" for pair in score.pairs}
    assert texts[f"{100 * score.score:.1f}"] == "bold"
    assert sum(not patch.get_fill() for patch in ax.patches) == 1


def test_without_matplotlib_the_error_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("matplotlib", "matplotlib.figure", "matplotlib.pyplot"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(ScoringError, match=r"pip install 'pgdl-measures\[plots\]'"):
        draw(lambda ax: None, alt="nothing", caption="")
    with pytest.raises(ScoringError, match=r"pip install 'pgdl-measures\[plots\]'"):
        new_figure(1, 1, (2, 2))
