"""A plot as inline SVG that takes its colours from the page, so that it follows light and dark.

Plots are drawn in the colours of `_VARIABLES`; in the SVG these become the page's CSS variables,
and the ink becomes `currentColor`. Text stays text. What an SVG file needs and an inline one must
not have (prolog, namespaces, metadata, names that two figures share) is taken out.
"""

from __future__ import annotations

import hashlib
import io
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any

from scoring.canvas import need_matplotlib, new_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_INK, _LINE = "#1d2430", "#cfd4db"
_SERIES = ("#2f6690", "#b8500f", "#3a7d44", "#7a4fa3", "#8a6a00", "#b03a5b")
_VARIABLES = {
    _INK: "currentColor",
    _LINE: "var(--line)",
    **{colour: f"var(--series-{number})" for number, colour in enumerate(_SERIES, 1)},
}
_SETTINGS: dict[Any, Any] = {
    "svg.fonttype": "none",
    "svg.hashsalt": "pgdl",  # the same figure is the same text
    "font.size": 9,
    "legend.frameon": False,
    "axes.axisbelow": True,
    "grid.color": _LINE,
    "grid.linewidth": 0.7,
    "legend.fontsize": 8.5,
    "legend.title_fontsize": 8.5,
    **{
        name: _INK
        for name in (
            "text.color",
            "axes.labelcolor",
            "axes.edgecolor",
            "xtick.color",
            "ytick.color",
        )
    },
}


@dataclass(frozen=True)
class Figure:
    """An inline SVG and the words below it."""

    svg: str
    caption: str

    @property
    def html(self) -> str:
        return f"<figure>{self.svg}<figcaption>{escape(self.caption)}</figcaption></figure>"


def draw(
    plot: Callable[[Axes], object],
    *,
    alt: str,
    caption: str,
    size: tuple[float, float] = (4.5, 2.9),
) -> Figure:
    """Draws on axes of `size` inches; `alt` says in words what this picture alone shows."""
    need_matplotlib()
    import matplotlib
    from cycler import cycler

    colours: dict[Any, Any] = {"axes.prop_cycle": cycler(color=_SERIES)}
    with matplotlib.rc_context({**_SETTINGS, **colours}):
        canvas, axes = new_figure(1, 1, size)
        plot(axes[0, 0])
        file = io.StringIO()
        no_metadata = dict.fromkeys(("Creator", "Date", "Format", "Type"))
        canvas.savefig(file, format="svg", transparent=True, metadata=no_metadata)
    return Figure(_inline(file.getvalue(), alt, width=round(size[0] * 96)), caption)


def figures(drawn: Sequence[Figure], kind: str = "figures") -> str:
    """Figures side by side, as many as the page is wide."""
    return f'<div class="{kind}">{"".join(figure.html for figure in drawn)}</div>'


def _inline(svg: str, alt: str, width: int) -> str:
    view = re.search(r'viewBox="[^"]*"', svg)
    body = svg[svg.index(">", svg.index("<svg")) + 1 :]
    body = re.sub(r"<metadata>.*?</metadata>", "", body, flags=re.S)
    body = re.sub(r"((?:fill|stroke): )(#[0-9a-f]{6})\b", _page_colour, body)
    body = _own_names(body.replace("xlink:href", "href"), alt)
    return (
        f'<svg {view.group() if view else ""} width="{width}" role="img" '
        f'aria-label="{escape(alt)}"><title>{escape(alt)}</title>{body.strip()}'
    )


def _page_colour(found: re.Match[str]) -> str:
    return found.group(1) + _VARIABLES.get(found.group(2), found.group(2))


def _own_names(body: str, alt: str) -> str:
    """Names (ids) that are used get this figure's own prefix; the others go."""
    prefix = "f" + hashlib.sha256(alt.encode()).hexdigest()[:8]
    used = set(re.findall(r'(?:href="#|url\(#)([^")]+)', body))

    def name(found: re.Match[str]) -> str:
        return f' id="{prefix}-{found.group(1)}"' if found.group(1) in used else ""

    body = re.sub(r' id="([^"]*)"', name, body)
    return re.sub(r'(href="#|url\(#)', rf"\g<1>{prefix}-", body)
