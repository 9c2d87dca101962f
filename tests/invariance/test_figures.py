"""Figures of the studies: named in full, and asked for before hours of computing."""

from __future__ import annotations

import sys

import pytest
from verbs import run_verb

from scoring.canvas import new_figure
from scoring.errors import ScoringError
from starting_kit_adapter.cli import invariance as one_model
from starting_kit_adapter.studies import contre, invariance, sensitivity
from starting_kit_adapter.terminal.figures import save


def test_names_with_dots_do_not_collide(tmp_path):
    for name in ("fashion.v1", "fashion.v2"):
        figure, axes = new_figure(1, 2, (4, 2))
        assert axes.shape == (1, 2)
        save(figure, tmp_path / "figures" / name)
    found = {path.name for path in (tmp_path / "figures").iterdir()}
    assert found == {f"fashion.v{i}.{suffix}" for i in (1, 2) for suffix in ("svg", "png")}


@pytest.mark.parametrize(
    ("verb", "arguments"),
    [
        (one_model, ["nowhere.keras"]),
        (contre, ["nowhere", "-o", "out"]),
        (invariance, ["nowhere", "-o", "out"]),
        (sensitivity, ["nowhere", "-o", "out", "-m", "gi_noise"]),
    ],
)
def test_without_matplotlib_nothing_is_begun(verb, arguments, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ScoringError, match="plots need Matplotlib, which is not installed"):
        run_verb(verb, *arguments)
