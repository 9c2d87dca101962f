"""Seconds per model of the winners' public programs and of our measures, on the same corpus.

    python benchmarks/podium.py CORPUS dbi_mixup=FOLDER augmentation_penalty=FOLDER vpm=FOLDER

Each FOLDER has the `complexity.py` of a public program that our measure follows. The programs are
not part of this repository:

    dbi_mixup             github.com/parthnatekar/pgdl
    augmentation_penalty  github.com/sumukhaithal6/pgdl, runner_up_solution
    vpm                   github.com/cadurosar/pgdl, VPM_1

They need TensorFlow 2.15 or older, scikit-learn, Matplotlib and Pillow. Programs and measures get
the same models and the same data, as our ingestion program loads them, each in a process of its own
with one thread. The first model is left out: it pays for tracing. A tau of -1 means that the values
have opposite signs and rank alike.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import inspect
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "1")
os.environ.setdefault("MPLBACKEND", "agg")

ROOT = Path(__file__).resolve().parents[1]


def work(corpus: Path, models: int, measure: str, folder: str) -> None:
    """Prints the processor seconds of each model and its value, as JSON."""
    sys.path.insert(0, str(ROOT))
    import tensorflow as tf

    tf.config.threading.set_intra_op_parallelism_threads(1)
    tf.config.threading.set_inter_op_parallelism_threads(1)
    from ingestion.corpus import find_corpus
    from ingestion.datasets.data import load_dataset
    from starting_kit_adapter.submission.kit_model import load_kit_model

    (task,) = find_corpus(corpus).tasks
    dataset = load_dataset(task.shards())
    call = program(Path(folder)) if folder else ours(measure)
    seconds, values = [], []
    for name in task.model_ids[: models + 1]:
        tf.keras.backend.clear_session()
        model = load_kit_model(task.model_folder(name))
        start = time.process_time()
        with contextlib.redirect_stdout(sys.stderr):
            values.append(float(call(model, dataset)))
        seconds.append(time.process_time() - start)
    print(json.dumps([seconds, values]))


def program(folder: Path) -> Callable[[Any, Any], float]:
    """The `complexity` of a public program."""
    import numpy as np

    vars(np).setdefault("int", int)  # NumPy of 2020 had it, and a program uses it
    sys.path.insert(0, str(folder.resolve()))
    found = importlib.import_module("complexity").complexity
    if len(inspect.signature(found).parameters) == 2:
        return found
    space = tempfile.mkdtemp()  # a folder of its own, as the program's third argument
    return lambda model, dataset: found(model, dataset, space)


def ours(name: str) -> Callable[[Any, Any], float]:
    """A measure of ours."""
    from pgdl_measures import complexity

    return complexity(name)


def ask(corpus: Path, models: int, measure: str, folder: str = "") -> tuple[list[float], list]:
    """The seconds and values of one process."""
    words = [sys.executable, __file__, corpus, "--models", models, "--worker", measure, folder]
    done = subprocess.run([*map(str, words)], stdout=subprocess.PIPE, check=True, text=True)
    seconds, values = json.loads(done.stdout.splitlines()[-1])
    return seconds[1:], values


def main() -> None:
    """Prints a row per program."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("corpus", type=Path, help="a corpus of one task")
    parser.add_argument("programs", nargs="*", metavar="MEASURE=FOLDER")
    parser.add_argument("--models", type=int, default=4, help="after the first one (default: 4)")
    parser.add_argument("--worker", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        work(options.corpus, options.models, *options.worker)
        return
    from scipy.stats import kendalltau

    print("processor seconds per model, one thread; tau of the values of program and measure")
    print(f"{'measure':24}{'program':>10}{'ours':>10}{'ratio':>8}{'tau':>8}")
    for word in options.programs:
        measure, folder = word.split("=", 1)
        theirs, their_values = ask(options.corpus, options.models, measure, folder)
        mine, values = ask(options.corpus, options.models, measure)
        a, b = (sum(s) / len(s) for s in (theirs, mine))
        tau = kendalltau(their_values, values).statistic
        print(f"{measure:24}{a:8.2f} s{b:8.2f} s{a / b:8.1f}{tau:8.2f}", flush=True)


if __name__ == "__main__":
    main()
