"""Pieces of HTML: escaped text, exact numbers, tables that scroll, and the page around them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

_PAGE = """\
<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>
:root {{ color-scheme: light dark; --line: #8884; --mark: #fc03; --bad: #c33; }}
body {{ font: 16px/1.5 system-ui, sans-serif; margin: 2rem auto; padding: 0 1rem; }}
.scroll {{ overflow-x: auto; }}
table {{ border-collapse: collapse; font-variant-numeric: tabular-nums; }}
th, td {{ text-align: left; padding: .25rem 1rem .25rem 0; }}
th.number, td.number {{ text-align: right; }}
tr {{ border-bottom: 1px solid var(--line); }}
caption {{ text-align: left; opacity: .8; }}
tbody th {{ font-weight: inherit; }}
tr.marked {{ background: var(--mark); font-weight: 600; }}
{style}</style>
</head>
<body>
{body}
</body>
</html>
"""

LONG = 40  # characters of a row's heading that is broken into lines
MISSING = '<span class="missing" title="no value">&ndash;</span>'


@dataclass(frozen=True)
class Column:
    """A column's heading, in plain text; numbers stand to the right."""

    heading: str
    numeric: bool = True


def number(value: float | None, digits: int = 2, *, exact: float | None = None) -> str:
    """A rounded number; `exact` is the value for machines, where it is another than `value`."""
    if value is None:
        return MISSING
    shown = f"{value:.{digits}f}".replace("-", "&minus;")
    return f'<data value="{value if exact is None else exact!r}">{shown}</data>'


def shaded(content: str, share: float) -> str:
    """A cell's content on a ground whose depth is a share in [0, 1]."""
    return f'<span class="shade" style="--share:{share:.3f}">{content}</span>'


def table(
    caption: str,
    columns: Sequence[Column],
    rows: Sequence[Sequence[str]],
    *,
    marked: int | None = None,
) -> str:
    """Cells are HTML; the first of each row is its heading. Wide tables scroll in their own box.

    The row with the number `marked` has the class of that name.
    """
    mark = ' class="marked"'
    kinds = [' class="number"' if column.numeric else "" for column in columns]
    head = "".join(
        f'<th scope="col"{kind}>{escape(column.heading)}</th>'
        for kind, column in zip(kinds, columns)
    )
    body = "\n".join(
        f'<tr{mark if number == marked else ""}><th scope="row"{_long(first)}>{first}</th>'
        + "".join(f"<td{kind}>{cell}</td>" for kind, cell in zip(kinds[1:], cells))
        + "</tr>"
        for number, (first, *cells) in enumerate(rows)
    )
    label = escape(caption)
    return (
        f'<div class="scroll" tabindex="0" role="region" aria-label="{label}"><table>'
        f"<caption>{label}</caption>\n<thead><tr>{head}</tr></thead>\n<tbody>{body}</tbody>"
        "</table></div>"
    )


def _long(heading: str) -> str:
    """A class for a heading, in HTML, that would leave no room for the row's numbers."""
    return ' class="long"' if len(re.sub("<[^>]*>", "", heading)) > LONG else ""


def page(title: str, style: str, body: str) -> str:
    """A self-contained page. `title` is escaped; `style` is CSS besides that of tables."""
    return _PAGE.format(title=escape(title), style=style, body=body)


def items(lines: Sequence[str]) -> str:
    """A list of escaped lines."""
    return f"<ul>{''.join(f'<li>{escape(line)}</li>' for line in lines)}</ul>"
