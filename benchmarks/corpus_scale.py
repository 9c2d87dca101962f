"""`pgdl table`, `pgdl report` and `scores` at the size of the competition's corpus.

The corpus is made up in the shape of the real one: 8 tasks, 550 models, 79 measures of which some
know the gap better than others. With `--before DIR`, a checkout of an older commit, both programs
run on the same files in turns and their tables are compared number by number; the older one is
stopped after `--patience` seconds a command. Limits are compared with processor time, which other
programs on the machine do not change much; the commands use one core.

    git worktree add --detach ../before 9b0745d
    python benchmarks/corpus_scale.py --before ../before
"""

from __future__ import annotations

import argparse
import csv
import itertools
import json
import math
import os
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import NamedTuple

import numpy as np

HERE = Path(__file__).resolve().parents[1]
GRIDS = {  # numbers of values of the hyperparameters, by task
    "task1_v4": (2, 2, 2, 3, 2, 2),
    "task2_v1": (3, 3, 3, 2),
    "task4": (2, 2, 2, 2, 2, 3),
    "task5": (2, 2, 2, 2, 2, 2),
    "task6": (2, 2, 2, 2, 3, 2),
    "task7": (2, 2, 3, 2, 2),
    "task8": (2, 2, 2, 2, 2, 2),
    "task9": (2, 2, 2, 2, 2),
}
MEASURES = 79
LARGE = (5000, 10)  # models and hyperparameters of the one large task
LIMITS = {"table": 15.0, "report": 30.0, "score": 17.0}  # seconds on two cores
MAX_MEGABYTES = 1024
SAME = 1e-12


def write_corpus(folder: Path) -> None:
    """References, predictions and the record of a run, with a response curve per model."""
    rng = np.random.default_rng(0)
    records = []
    for task, grid in GRIDS.items():
        codes = np.array(list(itertools.product(*map(range, grid))))
        gap = write_reference(folder / "reference" / task, codes, grid, rng)
        noise = np.linspace(0.005, 0.3, MEASURES)[:, None] * rng.normal(size=(MEASURES, len(gap)))
        values = {f"measure_{k:02d}": row for k, row in enumerate(gap + noise)}
        for measure, row in values.items():
            write_predictions(folder / "out" / measure / f"{task}.predict", row)
        records += [
            {
                "task": task,
                "model": f"model_{i}",
                "values": {measure: row[i] for measure, row in values.items()},
                "seconds": dict.fromkeys(values, 1.0),
                "curves": [curve(gap[i], pairing) for pairing in ("intra", "inter")],
            }
            for i in range(len(gap))
        ]
    lines = "".join(f"{json.dumps(record)}\n" for record in records)
    (folder / "out" / "records.jsonl").write_text(lines)


def write_large(folder: Path) -> None:
    """One task of many models, and one measure of it."""
    rng = np.random.default_rng(1)
    models, hparams = LARGE
    codes = rng.integers(3, size=(models, hparams))
    gap = write_reference(folder / "reference" / "large", codes, (3,) * hparams, rng)
    write_predictions(folder / "predictions" / "large.predict", gap + rng.normal(size=models))


def write_reference(
    folder: Path, codes: np.ndarray, grid: tuple[int, ...], rng: np.random.Generator
) -> np.ndarray:
    """Writes model_configs.json and returns the gaps [models]."""
    effect = rng.normal(0, 0.03, codes.shape[1])
    gap = 0.3 + codes @ effect + rng.normal(0, 0.02, len(codes))
    models = {
        str(i): {
            "hparams": {
                f"h{k}": {"possible_values": list(range(size)), "current_value": int(code)}
                for k, (size, code) in enumerate(zip(grid, cell))
            },
            "metrics": {"train_acc": 1.0, "test_acc": 1.0 - gap[i]},
        }
        for i, cell in enumerate(codes)
    }
    folder.mkdir(parents=True)
    (folder / "model_configs.json").write_text(json.dumps(models))
    return gap


def write_predictions(path: Path, values: np.ndarray) -> None:
    """A measure of a task."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({f"model_{i}": value for i, value in enumerate(values)}))


def curve(gap: float, pairing: str) -> dict:
    """A response curve that falls faster the larger the gap is."""
    magnitudes = [k / 10 for k in range(6)]
    accuracy = [max(0.0, 1 - abs(gap) * a) for a in magnitudes]
    return {"magnitudes": magnitudes, "accuracy": accuracy, "pairing": pairing, "layer": 0}


class Cost(NamedTuple):
    """What a command took."""

    seconds: float
    processor: float  # seconds
    megabytes: float  # at its peak
    finished: bool

    def __str__(self) -> str:
        seconds = f"{self.seconds:.1f}" if self.finished else f"> {self.seconds:.0f}"
        return f"{seconds:>14}{self.processor:8.1f}{self.megabytes:8.0f}"


def run(tree: Path, words: tuple[str, ...], patience: float | None) -> Cost:
    """What a `pgdl` command of a tree takes; it is stopped after so many seconds."""
    command = [sys.executable, "-m", "starting_kit_adapter.cli.main", *words]
    environment = {**os.environ, "PYTHONPATH": str(tree)}
    start = time.perf_counter()
    with subprocess.Popen(command, cwd=tree, env=environment, stdout=subprocess.DEVNULL) as process:
        alarm = threading.Timer(patience or threading.TIMEOUT_MAX, process.kill)
        alarm.daemon = True
        alarm.start()
        _, status, used = os.wait4(process.pid, 0)
        alarm.cancel()
        process.returncode = os.waitstatus_to_exitcode(status)
    seconds = time.perf_counter() - start
    finished = patience is None or seconds < patience
    if process.returncode and finished:
        raise SystemExit(f"{' '.join(words)} of {tree} failed")
    return Cost(seconds, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024, finished)


def largest_difference(one: Path, other: Path) -> float:
    """Of two tables as CSV, over the columns of both; infinite where words or lines differ."""
    first, second = (
        {(row["measure"], row["task"]): row for row in csv.DictReader(path.open())}
        for path in (one, other)
    )
    if first.keys() != second.keys():
        return math.inf
    worst = 0.0
    for key, row in first.items():
        for column in row.keys() & second[key].keys():
            if row[column] != second[key][column]:
                try:
                    worst = max(worst, abs(float(row[column]) - float(second[key][column])))
                except ValueError:
                    return math.inf
    return worst


def main() -> int:
    """Prints the table; 1 past a limit or where numbers differ."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--before", type=Path, metavar="DIR", help="a checkout to compare with")
    parser.add_argument(
        "--patience",
        type=float,
        default=600,
        metavar="SECONDS",
        help="for a command of that checkout, which is then stopped (default: %(default)g)",
    )
    args = parser.parse_args()
    before, failed, compared = args.before, False, False
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_corpus(folder)
        write_large(folder / "large")
        trees = {"now": HERE, **({"before": before.resolve()} if before else {})}
        source = (str(folder / "out"), "--reference", str(folder / "reference"))
        large = ("--reference", str(folder / "large" / "reference"))
        print(f"{'':34}" + "".join(f"{tree + ' (s)':>14}{'cpu s':>8}{'MB':>8}" for tree in trees))
        for verb, limit in LIMITS.items():
            cells = ""
            for tree, path in trees.items():
                target = ("-o", str(folder / f"{verb}-{tree}"))
                words = {
                    "table": ("table", *source, "--format", "csv", *target),
                    "report": ("report", *source, *target),
                    "score": ("score", *large, "--predictions", str(folder / "large/predictions")),
                }[verb]
                cost = run(path, words, None if tree == "now" else args.patience)
                cells += str(cost)
                if tree == "now":
                    failed |= cost.processor > limit or cost.megabytes > MAX_MEGABYTES
                elif verb == "table":
                    compared = cost.finished
            print(
                f"pgdl {verb} (limit {limit:g} s, {MAX_MEGABYTES} MB)".ljust(34) + cells, flush=True
            )
        if before and not compared:
            print(f"tables not compared: the older program took more than {args.patience:g} s")
        elif before:
            difference = largest_difference(folder / "table-now", folder / "table-before")
            print(f"largest difference between the tables: {difference:.1e} (limit {SAME:g})")
            failed |= difference > SAME
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
