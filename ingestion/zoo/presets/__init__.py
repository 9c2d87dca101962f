"""Grids by name: the zoos that the papers and the competition built, and a few of our own.

One file per source. Each preset says what of it is published, what is ours because it is not, and
what the small size changes, so that two cores can train it.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from ingestion.zoo.grid import Grid, parse_grid, read_grid
from ingestion.zoo.presets import competition, dziugaite, own, schiff, wu
from ingestion.zoo.presets.preset import SIZES, Preset
from pgdl_measures.errors import UnknownNameError

PRESETS: Mapping[str, Preset] = {
    **schiff.PRESETS,
    **dziugaite.PRESETS,
    **wu.PRESETS,
    **competition.PRESETS,
    **own.PRESETS,
}

__all__ = ["PRESETS", "SIZES", "Preset", "find_grid"]


def find_grid(name: str, size: str = "full") -> tuple[str, Grid]:
    """The preset of that name and size, or the grid of a JSON file; with a name for the task."""
    if name in PRESETS:
        return name, parse_grid(PRESETS[name].entry(size), f"preset {name}")
    if name.endswith(".json") or Path(name).exists():
        return Path(name).stem, read_grid(Path(name))
    raise UnknownNameError("grid", name, PRESETS)
