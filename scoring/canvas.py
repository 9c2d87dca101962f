"""New figures, and the one check that Matplotlib, an optional dependency, is there.

Plots draw on the axes that they are given, so that only the code that
makes the axes checks for Matplotlib.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

import numpy as np

from scoring.errors import ScoringError

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def need_matplotlib() -> None:
    """Raises `ScoringError` where Matplotlib is not installed; to be called before long work."""
    try:
        importlib.import_module("matplotlib")
    except ImportError as error:
        raise ScoringError(
            "plots need Matplotlib, which is not installed: pip install 'pgdl-measures[plots]'"
        ) from error


def new_figure(rows: int, columns: int, size: tuple[float, float]) -> tuple[Figure, np.ndarray]:
    """A figure of `size` inches that no window shows, and its axes [rows, columns]."""
    need_matplotlib()
    from matplotlib.figure import Figure

    figure = Figure(figsize=size, layout="constrained")
    return figure, figure.subplots(rows, columns, squeeze=False)
