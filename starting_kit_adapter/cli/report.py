"""`pgdl report`: a run as one page to read."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from starting_kit_adapter.cli.table import add_robust, add_source, find_reference, read_board

if TYPE_CHECKING:
    from scoring.report.figures import Figure
    from scoring.report.records import ModelRecord
    from scoring.table import Leaderboard

HELP = "Write a run as one self-contained HTML page with tables and figures"
EXAMPLES = """\
examples:
  pgdl report out/ -o report.html
  pgdl report out/ --reference zoo/ -o report.html

The page needs no network: it can be mailed, printed or published as it is.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_source(parser)
    add_robust(parser)
    parser.add_argument(
        "-o", "--output", type=Path, required=True, metavar="FILE", help="the page to write"
    )


def run(args: argparse.Namespace) -> int:
    """Writes the page; 1 if a measure could not be scored on a task, as the page then says."""
    from scoring.files import write_whole
    from scoring.report.page import report_page

    folder = find_reference(args).resolve()
    corpus = folder.parent if folder.name in ("reference_data", "input_data") else folder
    board = read_board(args, robust=True)
    curves = {task: curve_figures(board, task) for task in board.tasks}
    write_whole(args.output, report_page(board, name=corpus.name, curves=curves))
    print(f"wrote {args.output}")
    return 0 if all(row.is_whole for row in board.rows) else 1


def curve_figures(board: Leaderboard, task: str) -> list[Figure]:
    """Response curves and their densities, of the models with the smallest and the largest gap.

    Two figures for each perturbation with curves of at least two models; a single magnitude, as
    that of the mixup accuracy alone, is no curve.
    """
    if task not in board.references:
        return []
    reference, records = board.references[task], board.run.of_task(task)
    gaps = {
        name: gap for name, gap in zip(reference.ids, reference.gap.tolist()) if name in records
    }
    labels = dict.fromkeys(label for name in gaps for label in records[name].curves)
    return [figure for label in labels for figure in _pair(task, label, gaps, records)]


def _pair(
    task: str, label: str, gaps: dict[str, float], records: dict[str, ModelRecord]
) -> list[Figure]:
    from pgdl_measures.plots import plot_curves, plot_density
    from scoring.report.figures import draw

    known = [
        name
        for name in gaps
        if label in records[name].curves and len(records[name].curves[label].magnitudes) > 1
    ]
    if len(known) < 2:
        return []
    best, worst = min(known, key=gaps.__getitem__), max(known, key=gaps.__getitem__)
    curves = {
        f"{name} (gap {gaps[name]:.3f})": records[name].curves[label] for name in (best, worst)
    }
    partly = f" Of the {len(known)} models with this curve." if len(known) < len(gaps) else ""
    return [
        draw(
            lambda ax: plot_curves(curves, ax),
            alt=f"{task}: accuracy of {best} and {worst} against the magnitude of {label}",
            caption=f"Response to {label}.{partly}",
        ),
        draw(
            lambda ax: plot_density(curves, ax),
            alt=f"{task}: cumulative density of the response of {best} and {worst} to {label}",
            caption=f"Cumulative density of the response to {label}.",
        ),
    ]
