"""Speed of the CMI score against the literal loop over pairs of models, and of its bootstrap.

The ratio is of best times in one run. Uses task1_v4 (96 models, 6 hyperparameters) where the shared
data is there, else a synthetic task of the same grid.

    python benchmarks/cmi.py
"""

from __future__ import annotations

import itertools
import math
import time
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path

import numpy as np

from scoring.bootstrap import interval
from scoring.cmi import cmi
from scoring.kit.predictions import in_order, read_predictions
from scoring.kit.reference import read_reference

SHARED = Path(__file__).resolve().parents[2] / "shared" / "data" / "pgdl"


def looped(codes: list[list[int]], gap: list[float], measure: list[float]) -> float:
    """The score by its definition: one step per ordered pair of models and pair of values."""
    models = range(len(gap))
    scores = []
    for a, b in itertools.combinations(range(len(codes[0])), 2):
        groups: dict[tuple[int, ...], list[int]] = defaultdict(lambda: [0, 0, 0, 0])
        for i in models:
            for j in models:
                group = codes[i][a], codes[j][a], codes[i][b], codes[j][b]
                groups[group][2 * (gap[i] > gap[j]) + (measure[i] > measure[j])] += 1
        information, entropy = map(sum, zip(*map(_information, groups.values())))
        scores.append(information / entropy)
    return min(scores)


def _information(counts: list[int]) -> tuple[float, float]:
    joint = [count / sum(counts) for count in counts]
    p_gap = joint[0] + joint[1], joint[2] + joint[3]
    p_measure = joint[0] + joint[2], joint[1] + joint[3]
    mutual = sum(
        p * math.log2(p / (p_gap[k // 2] * p_measure[k % 2])) for k, p in enumerate(joint) if p
    )
    return mutual, -sum(p * math.log2(p + 1e-12) for p in p_gap)


def task() -> tuple[str, np.ndarray, np.ndarray, np.ndarray]:
    """Name, codes, gap and measure."""
    path = SHARED / "reference_data" / "task1_v4" / "model_configs.json"
    if path.is_file():
        reference = read_reference(path)
        path = SHARED / "predictions" / "VR" / "task1_v4.predict"
        measure = in_order(read_predictions(path), reference, path)
        return "task1_v4", reference.codes, reference.gap, measure
    codes = np.array(list(itertools.product(*map(range, (2, 2, 2, 3, 2, 2)))))
    gap, measure = np.random.default_rng(0).normal(size=(2, len(codes)))
    return "a synthetic task", codes, gap, measure


def best_seconds(loop: Callable[[], object], ours: Callable[[], object]) -> tuple[float, float]:
    """The best time of each, taken in turns so that both meet the machine in the same state.

    The best and not the median: other programs interrupt the long loop more often than the short
    call, so that on a busy machine a ratio of medians flatters.
    """

    def timed(call: Callable[[], object]) -> float:
        start = time.perf_counter()
        call()
        return time.perf_counter() - start

    rounds = [(timed(loop), min(timed(ours) for _ in range(20))) for _ in range(15)]
    return min(loop for loop, _ in rounds), min(ours for _, ours in rounds)


def main() -> None:
    """Prints the two figures."""
    name, codes, gap, measure = task()
    lists = codes.tolist(), gap.tolist(), measure.tolist()
    assert math.isclose(looped(*lists), cmi(codes, gap, measure).score, rel_tol=1e-9)
    loop, ours = best_seconds(lambda: looped(*lists), lambda: cmi(codes, gap, measure))
    print(f"CMI of {name}, {codes.shape[0]} models, {codes.shape[1]} hyperparameters")
    print(f"  per-pair Python loop  {1e3 * loop:8.2f} ms")
    print(f"  scoring.cmi           {1e3 * ours:8.2f} ms  {loop / ours:.0f}x faster")

    start = time.perf_counter()
    found = interval(lambda *task: cmi(*task).score, codes, gap, measure, bounds=(0, 1))
    elapsed = time.perf_counter() - start
    print(f"  {found.replicates} bootstrap replicates in {elapsed:.2f} s: ", end="")
    print(f"{found.value:.4f} in [{found.low:.4f}, {found.high:.4f}]")


if __name__ == "__main__":
    main()
