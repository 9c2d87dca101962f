"""Figure 2: models that Mixup takes for equal and Gi does not."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
from report_runs import write_predictions, write_run

from scoring.report.leaderboard import leaderboard
from starting_kit_adapter.terminal.equal_mixup import EqualPair, equal_mixup_figures, equal_pairs


def test_a_pair_has_equal_mixup_and_different_gi_and_gap():
    mixup = np.array([0.5, 0.51, 0.0, 1.0])
    gi = np.array([0.9, 0.2, 0.0, 1.0])
    gap = np.array([1.0, 0.3, 0.0, 0.9])
    assert equal_pairs(gi, mixup, gap) == [EqualPair(1, 0)]
    assert equal_pairs(gi, mixup, 1 - gap) == []


def test_the_report_draws_it(tmp_path: Path):
    run = write_run(tmp_path, tasks=("alpha",))
    gap = run.gaps["alpha"]
    write_predictions(run.out / "gi_intra_l0" / "alpha.predict", gap)
    mixup = np.where(gap > np.median(gap), 0.5, np.linspace(0, 1, len(gap)))
    mixup[[gap.argmin(), gap.argmax()]] = 0.3
    write_predictions(run.out / "mixup" / "alpha.predict", mixup)
    board = leaderboard(run.reference, run.out, replicates=0)
    figures = equal_mixup_figures(board, "alpha")
    assert figures and f"model_{gap.argmin()}" in figures[0].svg
    assert f"model_{gap.argmax()}" in figures[0].svg
    lines = (run.out / "records.jsonl").read_text().splitlines()
    bare = [{**json.loads(line), "curves": []} for line in lines]
    (run.out / "records.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in bare))
    assert equal_mixup_figures(leaderboard(run.reference, run.out, replicates=0), "alpha") == []
