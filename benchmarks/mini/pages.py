"""Renders the results of the eight small tasks: tables of README.md and docs/results.md, a figure.

    python benchmarks/mini/pages.py

Everything comes from `benchmarks/results/mini`. A table stands between `<!-- mini: NAME -->` and
`<!-- mini: end -->`; `tests/test_mini_results.py` fails where one is not what this renders.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import numpy as np

from pgdl_measures.registry import measures
from scoring.report.leaderboard import Leaderboard, Row, leaderboard, with_robust
from scoring.report.published import ROWS as PUBLISHED
from scoring.report.published_runs import REFERENCE
from scoring.robust.families import summarize

ROOT = Path(__file__).resolve().parents[2]
RESULTS = ROOT / "benchmarks" / "results" / "mini"
FIGURE = ROOT / "benchmarks" / "figures" / "mini.png"
PAGES = (ROOT / "README.md", ROOT / "docs" / "results.md")
WINNERS = ("dbi_mixup", "augmentation_penalty", "vpm")  # first to third place
FIRST = 5
_BLOCK = re.compile(r"(<!-- mini: (\w+) -->\n).*?(<!-- mini: end -->)", re.DOTALL)


@cache
def board() -> Leaderboard:
    """All measures on all tasks, with the robust evaluation."""
    found = leaderboard(RESULTS / REFERENCE, RESULTS, replicates=0)
    return with_robust(found, RESULTS / REFERENCE, test_size=None, min_effective=12)


def rendered(page: str) -> str:
    """The page with all of its tables as they are now."""
    return _BLOCK.sub(lambda block: f"{block[1]}{TABLES[block[2]]()}{block[3]}", page)


def best() -> str:
    """The leaders and the competition's winners: the mean CMI with its interval, tau, each task."""
    tasks = board().tasks
    head = ("", "measure", "mean CMI x 100", "95 % interval", "tau", *tasks)
    rows = [
        (str(place), row.measure, *_mean_and_interval(row), _two(row.kendall), *_scores(row))
        for place, row in enumerate(board().rows, 1)
        if place <= FIRST or row.measure in WINNERS
    ]
    return _table(head, rows, text=2)


def everything() -> str:
    """All measures, with the published mean over the competition's tasks beside ours."""
    published = {row.measure: row.average for row in PUBLISHED}
    head = ("measure", "mean CMI", "95 % interval", "published", "tau", "sign-error", "s/model")
    rows = [
        (
            *(row.measure, *_mean_and_interval(row), _two(published.get(row.measure))),
            *(_two(row.kendall), _two(_sign_error(row.measure)), _two(row.seconds)),
            *_scores(row),
        )
        for row in board().rows
    ]
    return _table((*head, *board().tasks), rows, text=1)


def families() -> str:
    """The median over the measures of a family of Kendall's tau, by task."""
    rows = []
    for family, taus in _taus_by_family().items():
        by_task = np.nanmedian(taus, axis=0)
        rows.append((family, str(len(taus)), *map(_two, [*by_task, np.mean(by_task)])))
    return _table(("family", "measures", *board().tasks, "mean"), rows, text=1)


def tasks() -> str:
    """What the tasks are: their networks and gaps."""
    head = ("task", "networks", "at 99 % training accuracy", "gaps, %", "mean gap, %")
    rows = []
    for task in board().tasks:
        known = board().references[task]
        low, high = 100 * known.gap.min(), 100 * known.gap.max()
        fit = int((known.train_acc >= 0.99).sum())
        spread = f"{low:.1f} to {high:.1f}"
        rows.append((task, str(len(known.ids)), str(fit), spread, f"{100 * known.gap.mean():.1f}"))
    return _table(head, rows, text=1)


TABLES = {"best": best, "everything": everything, "families": families, "tasks": tasks}


def draw() -> None:
    """Measures x tasks at a glance: Kendall's tau, by family."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    families = _taus_by_family()
    names = [name for rows in _rows_by_family().values() for name in rows]
    taus = np.concatenate(list(families.values())).T  # [tasks, measures]
    figure, axes = pyplot.subplots(figsize=(15, 4.4), layout="constrained")
    image = axes.imshow(taus, cmap="RdBu", vmin=-0.8, vmax=0.8, aspect="auto")
    axes.set_facecolor("0.85")  # where a measure is the same for all models
    axes.set_xticks(range(len(names)), names, rotation=90, fontsize=7)
    axes.set_yticks(range(len(taus)), board().tasks)
    start = 0
    for number, (family, rows) in enumerate(families.items()):
        axes.axvline(start - 0.5, color="black", linewidth=1)
        axes.text(start - 0.4, -0.65 - 0.45 * (number % 2), family, fontsize=9)
        start += len(rows)
    bar = figure.colorbar(image, ax=axes, pad=0.01)
    bar.set_label("Kendall's tau with the gap")
    figure.savefig(FIGURE, dpi=90)


def _rows_by_family() -> dict[str, dict[str, Row]]:
    """The measures that differ between the networks of a task."""
    by_name = {row.measure: row for row in board().rows if row.kendall is not None}
    found: dict[str, dict[str, Row]] = {}
    for measure in measures():
        if measure.name in by_name:
            found.setdefault(measure.family, {})[measure.name] = by_name[measure.name]
    return found


def _taus_by_family() -> dict[str, np.ndarray]:
    """[measures, tasks] of each family; NaN where a measure is constant."""
    return {
        family: np.array(
            [[entry.kendall for entry in row.entries.values()] for row in rows.values()], float
        )
        for family, rows in _rows_by_family().items()
    }


def _sign_error(measure: str) -> float | None:
    """The worst environment of Dziugaite et al. 2020, App. D.3, as the mean over tasks.

    Without noise filtering, for which a network per setting is too little.
    """
    robust = board().robust
    known = [
        summary.maximum
        for one in ([] if robust is None else robust.tasks.values())
        if measure in one.measures
        for summary in [summarize(one.unfiltered.weaker.errors[one.measures.index(measure)])]
        if summary.maximum is not None
    ]
    return float(np.mean(known)) if known else None


def _mean_and_interval(row: Row) -> tuple[str, str]:
    bounds = row.interval
    interval = "" if bounds is None else f"{bounds.low:.1f} to {bounds.high:.1f}"
    return _two(row.scores.average), interval


def _scores(row: Row) -> list[str]:
    scores = [entry.score for entry in row.entries.values()]
    return ["" if score is None else f"{100 * score:.1f}" for score in scores]


def _two(value: float | None) -> str:
    return "" if value is None or np.isnan(value) else f"{value:.2f}"


def _table(head: Sequence[str], rows: Sequence[Sequence[str]], *, text: int) -> str:
    """Markdown; the first `text` columns are words, the others numbers."""
    rule = ["---" if column < text else "---:" for column in range(len(head))]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in (head, rule, *rows)) + "\n"


def main() -> None:
    """Writes the pages and the figure."""
    for page in PAGES:
        page.write_text(rendered(page.read_text(encoding="utf-8")), encoding="utf-8")
    draw()
    print(f"wrote the tables of {', '.join(p.name for p in PAGES)}, and {FIGURE.name}")


if __name__ == "__main__":
    main()
