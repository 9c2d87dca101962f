"""A ranking as text, JSON, CSV, Markdown, and as a page."""

from __future__ import annotations

import json
from dataclasses import asdict
from html import escape
from typing import Any

from pgdl_measures.ranking.result import Ranking, Row
from scoring.markup import Column, items, page, table
from scoring.report.sheets import Sheet, csv_text, markdown

_TITLES = {
    "accuracy": "Models by predicted test accuracy",
    "gap": "Models by predicted generalization gap",
}
_STYLE = """\
body { max-width: 72rem; }
table { white-space: nowrap; }
.scroll { margin-top: 1.5rem; }
.pick { font-size: 1.5rem; font-weight: 600; margin: 0; }
"""


def to_text(ranking: Ranking) -> str:
    """The table and the answer in words."""
    return f"{ranking}\n"


def to_markdown(ranking: Ranking) -> str:
    """The table, with the answer in words below."""
    rows = tuple(tuple(_text(cell) for cell in row) for row in ranking.cells())
    sheet = Sheet(_TITLES[ranking.by], tuple(ranking.headers), rows)
    return markdown([sheet], [ranking.legend, *ranking.summary().splitlines()])


def to_csv(ranking: Ranking) -> str:
    """A line per model, numbers in full."""
    rows = [_numbers(row) for row in ranking.rows]
    columns = list(dict.fromkeys(name for row in rows for name in row))
    return csv_text(columns, ([row.get(name) for name in columns] for row in rows))


def to_json(ranking: Ranking) -> str:
    """Everything that is known."""
    content: dict[str, Any] = {
        "by": ranking.by,
        "pick": ranking.pick,
        "not_told_apart": list(ranking.not_told_apart),
        "cautions": list(ranking.concerns),
        "left_out": dict(ranking.left_out),
        "measures": {m.name: {"unit": m.unit or None, **m.options} for m in ranking.measures},
        "models": [
            {
                **_facts(row),
                "measures": {name: asdict(one) for name, one in row.estimates.items()},
            }
            for row in ranking.rows
        ],
    }
    if ranking.agreements:
        content["agreement_with_truth"] = [asdict(one) for one in ranking.agreements]
    return json.dumps(content, indent=1) + "\n"


def to_html(ranking: Ranking) -> str:
    """A self-contained page."""
    words_columns = ("90 %", "model", "expected test acc")
    columns = [Column(h, numeric=h not in words_columns) for h in ranking.headers]
    rows = [[escape(_text(cell)) for cell in row] for row in ranking.cells()]
    summary = ranking.summary().splitlines()
    parts = [
        f"<h1>{_TITLES[ranking.by]}</h1>",
        f'<p class="pick">{escape(summary[0])}</p>',
        items(summary[1:]),
        table(ranking.legend, columns, rows, marked=0),
    ]
    if ranking.agreements:
        cells = [
            [escape(one.name), f"{one.tau:.2f}", f"{100 * one.regret:.1f}"]
            for one in ranking.agreements
        ]
        heads = [
            Column("chosen by", numeric=False),
            Column("Kendall's tau"),
            Column("regret, points"),
        ]
        caption = (
            "Compared with the true test accuracies, which had no part in the ranking; regret: how "
            "much better the best model is than the chosen one"
        )
        parts.append(table(caption, heads, cells))
    return page(_TITLES[ranking.by], _STYLE, "\n".join(parts))


FORMATS = {"text": to_text, "json": to_json, "csv": to_csv, "markdown": to_markdown}


def _facts(row: Row) -> dict[str, Any]:
    expected = row.model.expected
    return {
        "model": row.model.name,
        "rank": row.rank,
        "rank_low": row.low,
        "rank_high": row.high,
        "mean_rank": row.mean_rank,
        "parameters": row.model.parameters,
        "train_acc": row.model.training_accuracy,
        "test_acc": row.model.test_accuracy,
        **({f"expected_{k}": v for k, v in asdict(expected).items()} if expected else {}),
    }


def _numbers(row: Row) -> dict[str, Any]:
    found = {k: " ".join(v) if isinstance(v, tuple) else v for k, v in _facts(row).items()}
    for name, one in row.estimates.items():
        found[name] = one.value
        found[f"{name}_predicted"] = one.shown
        found[f"{name}_standard_error"] = one.standard_error
    return found


def _text(cell: object) -> str:
    if cell is None:
        return "-"
    return f"{cell:.4f}" if isinstance(cell, float) else str(cell)
