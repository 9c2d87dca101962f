"""Tiny zoos written file by file, and `pgdl run` over them in a process of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from ingestion.model_files.weights import write_weights

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]

SHAPE, CLASSES = (6, 6, 1), 3


def write_zoo(root: Path, models: int, *, task: str = "t", examples: int = 60) -> Path:
    """A task of random convolutional networks, in two architectures by turns."""
    write_data(root / task, examples)
    for number in range(models):
        write_model(root / task / f"model_{number}", seed=number, filters=3 + number % 2)
    return root


def write_model(folder: Path, *, seed: int, filters: int = 3, mark: float = 0.0) -> None:
    """A model of random weights; its last bias carries the mark that `faulty_measures` look at."""
    folder.mkdir(parents=True, exist_ok=True)
    layers = [
        {"layer_name": "Conv2D", "filters": filters, "kernel_size": 3, "activation": "relu"},
        {"layer_name": "Flatten"},
        {"layer_name": "Dense", "units": CLASSES},
    ]
    config = {"model_config": layers, "input_shape": list(SHAPE)}
    (folder / "config.json").write_text(json.dumps(config))
    rng = np.random.default_rng(seed)
    bias = rng.normal(size=CLASSES)
    bias[0] += mark
    write_weights(
        folder / "weights.hdf5",
        [
            (
                "conv2d",
                [("kernel:0", rng.normal(size=(3, 3, 1, filters))), ("bias:0", np.zeros(filters))],
            ),
            ("flatten", []),
            ("dense", [("kernel:0", rng.normal(size=(16 * filters, CLASSES))), ("bias:0", bias)]),
        ],
    )


def write_data(task: Path, examples: int, *, seed: int = 0) -> None:
    from corpora import write_shards  # imports TensorFlow

    inputs = np.random.default_rng(seed).normal(size=(examples, *SHAPE))
    labels = np.arange(examples) % CLASSES
    write_shards(task / "dataset_1" / "train", inputs, labels, shards=1)


def start_pgdl_run(
    *arguments: object, toolkit: Path = ROOT, prefix: Sequence[str] = ()
) -> subprocess.Popen[str]:
    """`pgdl run …` of a copy of the toolkit, with the measures of this folder at hand.

    `prefix` is a command that starts it, such as `setpriv …`.
    """
    path = os.pathsep.join([str(toolkit), str(HERE), os.environ.get("PYTHONPATH", "")])
    return subprocess.Popen(
        [
            *prefix,
            sys.executable,
            "-m",
            "starting_kit_adapter.cli.main",
            "run",
            *map(str, arguments),
        ],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        cwd=toolkit,
        env={**os.environ, "PYTHONPATH": path, "TF_CPP_MIN_LOG_LEVEL": "3"},
    )


def pgdl_run(
    *arguments: object, toolkit: Path = ROOT, prefix: Sequence[str] = ()
) -> tuple[int, str]:
    """The exit code of `pgdl run …` and what it printed."""
    process = start_pgdl_run(*arguments, toolkit=toolkit, prefix=prefix)
    printed, _ = process.communicate(timeout=600)
    return process.returncode, printed


def predictions(out: Path, measure: str, task: str = "t") -> dict[str, float]:
    return json.loads((out / measure / f"{task}.predict").read_text())


def records(out: Path) -> list[dict]:
    return [json.loads(line) for line in (out / "records.jsonl").read_text().splitlines()]
