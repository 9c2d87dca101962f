"""Made-up runs with repeats, for the tests of this folder."""

from __future__ import annotations

import csv
import itertools
import json
from pathlib import Path

import numpy as np

from scoring.robust.runs import Runs

VALUES = {"depth": (2, 3, 4), "width": (8, 16), "lr": (0.1, 0.01)}


def random_runs(repeats: int = 4, seed: int = 0, *, lose: int = 0) -> Runs:
    """A grid with repeats, of which `lose` models are taken away; measures know some of the gap.

    Gaps and one measure are rounded, so that there are ties.
    """
    rng = np.random.default_rng(seed)
    cells = list(itertools.product(*(range(len(values)) for values in VALUES.values())))
    codes = np.repeat(cells, repeats, axis=0)
    codes = codes[np.sort(rng.permutation(len(codes))[lose:])]
    codes = codes[rng.permutation(len(codes))]
    gap = np.round(0.1 + codes @ [0.02, -0.015, 0.0] + rng.normal(0, 0.01, len(codes)), 3)
    measures = {
        "good": gap + rng.normal(0, 0.01, len(codes)),
        "coarse": np.round(gap + rng.normal(0, 0.02, len(codes)), 2),
        "blind": rng.normal(size=len(codes)),
    }
    return Runs("made_up", tuple(VALUES), tuple(VALUES.values()), codes, gap, measures)


def write_csv(path: Path, runs: Runs, **columns: list[object]) -> Path:
    """The runs as their authors publish them, with further columns."""
    header = [f"hp.{name}" for name in runs.hparams] + ["seed", "gen.gap"]
    header += [f"complexity.{name}" for name in runs.measures]
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow([*header, *columns])
        for i, codes in enumerate(runs.codes):
            cells = [values[code] for values, code in zip(runs.values, codes)]
            numbers = [repr(float(column[i])) for column in runs.measures.values()]
            extra = [column[i] for column in columns.values()]
            writer.writerow([*cells, i, repr(float(runs.gap[i])), *numbers, *extra])
    return path


def write_zoo(folder: Path, runs: Runs) -> tuple[Path, Path]:
    """The runs as one task: its reference, and an output folder with a folder per measure."""
    models = {
        f"model_{i}": {
            "hparams": {
                name: {"possible_values": list(values), "current_value": values[code]}
                for name, values, code in zip(runs.hparams, runs.values, codes)
            },
            "metrics": {"train_acc": 1.0, "test_acc": 1.0 - float(runs.gap[i])},
        }
        for i, codes in enumerate(runs.codes)
    }
    task = folder / "reference" / runs.name
    task.mkdir(parents=True)
    (task / "model_configs.json").write_text(json.dumps(models))
    for measure, values in runs.measures.items():
        write_predictions(folder / "out" / measure / f"{runs.name}.predict", values)
    return folder / "reference", folder / "out"


def write_predictions(path: Path, values: np.ndarray) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({f"model_{i}": float(v) for i, v in enumerate(values)}))
