"""The figure of the README, from a run: curves of two models, and a measure against the gap.

python benchmarks/figures/fashion.py OUT ZOO MEASURE FIGURE.png
"""

from __future__ import annotations

import sys
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
from matplotlib import pyplot

from pgdl_measures.response_curves.plots import plot_curves
from scoring.report.leaderboard import leaderboard
from scoring.report.plots import plot_scatter


def main(out: str, zoo: str, measure: str, path: str) -> None:
    board = leaderboard(Path(zoo), Path(out))
    (task,) = board.tasks
    reference, records = board.references[task], board.run.of_task(task)
    gaps = dict(zip(reference.ids, reference.gap.tolist()))
    label = next(iter(records[reference.ids[0]].curves))
    chosen = min(gaps, key=gaps.__getitem__), max(gaps, key=gaps.__getitem__)
    curves = {f"{m} (gap {gaps[m]:.3f})": records[m].curves[label] for m in chosen}
    values = next(row for row in board.rows if row.measure == measure).entries[task].values
    figure, (left, right) = pyplot.subplots(1, 2, figsize=(10, 3.6), layout="constrained")
    plot_curves(curves, left).set_title(f"response to {label}")
    plot_scatter(reference, values, right, measure=measure).set_title("measure against gap")
    figure.savefig(path, dpi=110)


if __name__ == "__main__":
    main(*sys.argv[1:])
