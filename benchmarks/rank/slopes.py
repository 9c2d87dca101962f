"""How the gap of each measure compares with the true gap, from `pgdl rank --format json`.

    python benchmarks/rank/slopes.py benchmarks/results/rank/fashion.json

Prints for every measure in accuracy units Kendall's tau of the two gaps over the networks, the
slope of a straight line through them, and Kendall's tau of the accuracy on changed examples and
the test accuracy.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import kendalltau


def table(found: dict[str, Any]) -> str:
    """A row per measure, the largest tau first."""
    models = found["models"]
    training, test = (np.array([m[key] for m in models]) for key in ("train_acc", "test_acc"))
    rows = []
    for name, about in found["measures"].items():
        if about["unit"]:
            changed = np.array([m["measures"][name]["shown"] for m in models])
            gap, true_gap = training - changed, training - test
            tau = kendalltau(gap, true_gap).statistic
            slope = np.polyfit(gap, true_gap, 1)[0]
            rows.append((tau, slope, kendalltau(changed, test).statistic, name))
    lines = [
        "| measure | tau of the gaps | slope | tau of the test accuracies |",
        "| --- | ---: | ---: | ---: |",
    ]
    lines += [f"| {n} | {t:.2f} | {s:.2f} | {a:.2f} |" for t, s, a, n in sorted(rows, reverse=True)]
    alone = kendalltau(training, test).statistic
    return "\n".join([*lines, f"| training accuracy alone |  |  | {alone:.2f} |"])


if __name__ == "__main__":
    print(table(json.loads(Path(sys.argv[1]).read_text())))
