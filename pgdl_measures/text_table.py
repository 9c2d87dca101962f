"""An aligned table as text."""

from __future__ import annotations

from collections.abc import Sequence


def table(headers: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """An aligned table: numbers to the right, words to the left."""
    cells = [[_cell(value) for value in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(headers, *cells)]
    numeric = [
        bool(rows) and all(isinstance(v, (int, float)) or v is None for v in column)
        for column in (zip(*rows) if rows else [()] * len(headers))
    ]

    def line(values: Sequence[str]) -> str:
        aligned = [
            value.rjust(width) if right else value.ljust(width)
            for value, width, right in zip(values, widths, numeric)
        ]
        return "  ".join(aligned).rstrip()

    return "\n".join([line(headers), line(["-" * w for w in widths]), *map(line, cells)])


def _cell(value: object) -> str:
    if value is None:
        return "-"
    return f"{value:.4f}" if isinstance(value, float) else str(value)
