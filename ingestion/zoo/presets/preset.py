"""What a preset is: a grid in two sizes, and where it comes from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

SIZES = ("full", "small")


@dataclass(frozen=True)
class Preset:
    """A grid by name; the texts are sentences."""

    rebuilds: str
    published: str
    ours: str
    full: Mapping[str, Any]  # as in a grid file
    small: Mapping[str, Any] = field(default_factory=dict)  # entries that replace those of `full`
    scaled: str = "Nothing: it is small already."

    def entry(self, size: str) -> dict[str, Any]:
        """The grid of a size, as in a grid file."""
        return {**self.full, **(self.small if size == "small" else {})}
