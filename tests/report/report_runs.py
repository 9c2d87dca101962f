"""Small runs with known numbers: what `pgdl run` leaves, and the reference to score it against."""

from __future__ import annotations

import itertools
import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np

HPARAMS = {"width": [8, 16, 32], "depth": [1, 2], "drop & <i>out</i>": [0.0, 0.5]}
MODELS = 12
ALPHAS = [0.0, 0.1, 0.2, 0.3, 0.4, 0.5]


@dataclass(frozen=True)
class FakeRun:
    """The folders of a run; `gaps` and `values` are by task, `values` also by measure."""

    reference: Path
    out: Path
    gaps: dict[str, np.ndarray]
    values: dict[str, dict[str, np.ndarray]]


def write_run(folder: Path, tasks: tuple[str, ...] = ("alpha", "beta")) -> FakeRun:
    """Measures that know the gap, that know a little, and whose names need escaping."""
    rng = np.random.default_rng(7)
    gaps, values = {}, {}
    for task in tasks:
        cells = list(itertools.product(*HPARAMS.values()))
        gap = np.round([0.3 - 0.002 * w + 0.02 * d - 0.1 * p for w, d, p in cells], 6)
        gap = gap + np.round(rng.normal(0, 0.01, MODELS), 6)
        gaps[task] = gap
        values[task] = {
            "knows": 3 * gap + 1,
            "guesses": gap + rng.normal(0, 0.05, MODELS),
            "<b>odd & $x$": -gap + rng.normal(0, 0.02, MODELS),
        }
        _write_reference(folder / "reference" / task / "model_configs.json", cells, gap)
        for measure, numbers in values[task].items():
            write_predictions(folder / "out" / measure / f"{task}.predict", numbers)
    records = [_record(task, model, values[task]) for task in tasks for model in range(MODELS)]
    write_records(folder / "out", records)
    return FakeRun(folder / "reference", folder / "out", gaps, values)


def write_predictions(path: Path, numbers: np.ndarray) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({f"model_{i}": float(v) for i, v in enumerate(numbers)}))


def write_records(out: Path, records: list[dict]) -> None:
    lines = (f"{json.dumps(record)}\n" for record in records)
    (out / "records.jsonl").write_text("".join(lines), encoding="utf-8")


def _record(task: str, model: int, values: dict[str, np.ndarray]) -> dict:
    fall = 0.1 + model / 20
    curve = {"magnitudes": ALPHAS, "accuracy": [1 - fall * alpha for alpha in ALPHAS]}
    return {
        "task": task,
        "model": f"model_{model}",
        "values": {measure: float(numbers[model]) for measure, numbers in values.items()},
        "seconds": {measure: 0.5 + model for measure in values},
        "errors": {},
        "curves": [{"pairing": "intra", "layer": 0, **curve}],
        "worker": 3,
    }


def _write_reference(path: Path, cells: list[tuple], gap: np.ndarray) -> None:
    path.parent.mkdir(parents=True)
    models = {
        str(i): {
            "hparams": {
                name: {"possible_values": possible, "current_value": value}
                for (name, possible), value in zip(HPARAMS.items(), cell)
            },
            "metrics": {"train_acc": 1.0, "test_acc": 1.0 - float(gap[i])},
        }
        for i, cell in enumerate(cells)
    }
    path.write_text(json.dumps(models))
