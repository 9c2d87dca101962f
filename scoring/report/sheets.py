"""A titled table of cells, and tables as Markdown and as CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Union

Cell = Union[str, float, None]


@dataclass(frozen=True)
class Sheet:
    """A titled table."""

    title: str
    headers: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]


def markdown(sheets: Iterable[Sheet], remarks: Sequence[str]) -> str:
    """The sheets as Markdown tables, with the remarks as a list below them."""
    parts = []
    for sheet in sheets:
        cells = [[_markdown_cell(cell) for cell in row] for row in sheet.rows]
        right = [any(isinstance(cell, float) for cell in column) for column in zip(*sheet.rows)]
        rule = ["---:" if numeric else "---" for numeric in right]
        lines = [map(_markdown_cell, sheet.headers), rule, *cells]
        table = "\n".join(f"| {' | '.join(line)} |" for line in lines)
        parts.append(f"**{_markdown_cell(sheet.title)}**\n\n{table}\n")
    below = "".join(f"- {_markdown_cell(remark)}\n" for remark in remarks)
    return "\n".join([*parts, below] if below else parts)


def csv_text(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Rows as CSV below the names of their columns; None is an empty cell."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(rows)
    return text.getvalue()


def _markdown_cell(cell: Cell) -> str:
    if cell is None:
        return "-"
    text = f"{cell:.2f}" if isinstance(cell, float) else " ".join(cell.split())
    return text.replace("\\", "\\\\").replace("|", "\\|").replace("<", "&lt;").replace("*", "\\*")
