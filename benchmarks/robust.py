"""Robust evaluation at the size of Dziugaite et al. 2020: 10,000 runs, 24 measures, 1.6 M pairs.

The runs are made up on that paper's grid (5 learning rates x 5 depths x 5 widths x 2 data sets x
4 training set sizes, 10 seeds each). Printed are the seconds of each part and the peak memory of
the process; it exits with 1 past a limit of issue 9, 60 s and 4 GB on 2 cores.

    python benchmarks/robust.py
"""

from __future__ import annotations

import itertools
import resource
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from scoring.robust.evaluation import Evaluation, evaluate, records
from scoring.robust.runs import GAP, HPARAM, MEASURE, read_csv

GRID = {"lr": 5, "depth": 5, "width": 5, "dataset": 2, "train_size": 4}
SEEDS, MEASURES = 10, 24
MAX_SECONDS, MAX_GIGABYTES = 60.0, 4.0


def write_runs(path: Path) -> None:
    """Gaps that depend on the grid, and measures that know more or less of them."""
    rng = np.random.default_rng(0)
    cells = np.array(list(itertools.product(*map(range, GRID.values()))))
    codes = np.repeat(cells, SEEDS, axis=0)
    gap = 0.2 + codes @ [0.01, -0.01, 0.002, -0.1, -0.03] + rng.normal(0, 0.01, len(codes))
    noise = np.linspace(0.01, 0.2, MEASURES)[:, None] * rng.normal(size=(MEASURES, len(codes)))
    header = [f"{HPARAM}{name}" for name in GRID] + [GAP]
    header += [f"{MEASURE}m{k}" for k in range(MEASURES)]
    rows = np.column_stack([codes, gap, (gap + noise).T])
    np.savetxt(path, rows, fmt="%.9g", delimiter=",", header=",".join(header), comments="")


def main() -> int:
    """Prints the seconds and the memory; 1 if either is past its limit."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "runs.csv"
        write_runs(path)
        start = time.perf_counter()
        runs = read_csv(path)
    read = time.perf_counter()
    found: Evaluation = evaluate(runs)
    done = time.perf_counter()
    lines = sum(1 for _ in records(found))
    end = time.perf_counter()
    environments = len(found.unfiltered.weight)
    pairs = 2 * int(found.unfiltered.weight.sum())
    print(
        f"{len(runs.gap):,} runs x {len(runs.measures)} measures: {environments:,} environments, "
        f"{pairs:,} ranked pairs (each in both orders, as the paper counts)"
    )
    print(f"  reading the CSV                                {read - start:6.2f} s")
    print(f"  sign-errors twice, robust RMSE, Psi, tau       {done - read:6.2f} s")
    print(f"  {lines:,} lines of results                        {end - done:6.2f} s")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024**2
    print(
        f"  together {end - start:.1f} s (limit {MAX_SECONDS:g}), "
        f"peak memory {peak:.2f} GB (limit {MAX_GIGABYTES:g})"
    )
    return int(end - start > MAX_SECONDS or peak > MAX_GIGABYTES)


if __name__ == "__main__":
    sys.exit(main())
