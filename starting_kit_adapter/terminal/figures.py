"""How the figures of verbs and studies are written."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def save(figure: Figure, stem: Path) -> list[Path]:
    """Writes a figure as SVG and as PNG. Dots in the stem's name are part of the name."""
    paths = [stem.with_name(stem.name + suffix) for suffix in (".svg", ".png")]
    for path in paths:
        save_as(figure, path)
    return paths


def save_as(figure: Figure, path: Path) -> None:
    """Writes a figure in the format that the path's suffix says."""
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=150)
