"""What the runner costs and what it saves, as ratios measured in one run.

    python benchmarks/runner.py [--models 24]

Over a zoo of convolutional networks, in two architectures by turns, where a model takes about a
second:

- overhead: `pgdl run` with one worker against a plain loop that calls the measure on the same
  models in one process with as many threads, both from start to end. The seconds of the processors
  count too, because they do not depend on what else the machine does;
- speed-up: two workers against one;
- sharing: graphs traced and bytes decoded by a worker, against models measured.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
MEASURE = "mixup"
SHAPE, CLASSES, EXAMPLES = (28, 28, 1), 10, 6000

LOOP = """
import sys, tensorflow as tf
tf.config.threading.set_intra_op_parallelism_threads(1)
tf.config.threading.set_inter_op_parallelism_threads(1)
from ingestion.corpus import find_corpus
from ingestion.datasets.data import load_dataset
from ingestion.model_files.models import load_model
from pgdl_measures import complexity
task, = find_corpus(sys.argv[1]).tasks
dataset = load_dataset(task.shards())
measure = complexity(sys.argv[2])
for model in task.model_ids:
    tf.keras.backend.clear_session()
    measure(load_model(task.model_folder(model)), dataset)
"""


def main() -> None:
    """Writes the zoo, times the three ways, counts what was shared."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--models", type=int, default=24)
    models = parser.parse_args().models
    with tempfile.TemporaryDirectory() as folder:
        zoo, out = Path(folder) / "zoo", Path(folder) / "out"
        write_zoo(zoo / "t", models)
        loop, loop_cpu = timed([sys.executable, "-c", LOOP, zoo, MEASURE])
        one, one_cpu = timed(pgdl_run(zoo, Path(f"{out}1"), workers=1))
        two, _ = timed(pgdl_run(zoo, Path(f"{out}2"), workers=2))
        lines = Path(f"{out}1", "records.jsonl").read_text().splitlines()
        each = float(np.median([json.loads(line)["seconds"][MEASURE] for line in lines]))
        traces, decoded, stored = sharing(zoo)
    print(f"{models} models of 2 architectures, {each:.2f} s each, 1 thread per worker")
    print(f"plain loop            {loop:6.1f} s   {loop_cpu:6.1f} s of CPU")
    print(f"pgdl run --workers 1  {one:6.1f} s   {one_cpu:6.1f} s of CPU")
    print(
        f"overhead              {one / loop:6.2f}x  {one_cpu / loop_cpu:6.2f}x of CPU  (<= 1.10x)"
    )
    print(f"pgdl run --workers 2  {two:6.1f} s   {one / two:6.2f}x faster than with 1")
    print(f"models per traced graph {models / traces:.1f}")
    print(f"bytes decoded by a worker / bytes of training inputs {decoded / stored:.2f}")


def sharing(zoo: Path) -> tuple[int, int, int]:
    """Graphs traced and bytes decoded by one worker's work, done here; bytes of all inputs."""
    import pgdl_measures.data
    from ingestion.corpus import find_corpus
    from ingestion.run.executors.measuring import Measuring
    from ingestion.run.executors.queue import Queue
    from ingestion.run.plan import Request, make_plan
    from pgdl_measures import complexity
    from pgdl_measures.network.compiled import Network

    counts = {"traces": 0, "bytes": 0}
    graph, read = Network.graph, pgdl_measures.data.decode

    def counted_graph(self: Network, key: Any, build: Any) -> Any:
        def counted() -> Any:
            counts["traces"] += 1
            return build()

        return graph(self, key, counted)

    def counted_read(*args: Any) -> Any:
        data = read(*args)
        counts["bytes"] += data.inputs.numpy().nbytes
        return data

    Network.graph, pgdl_measures.data.decode = counted_graph, counted_read  # type: ignore[assignment]
    measure = complexity(MEASURE, batches=1)
    jobs = Queue(make_plan(Request(find_corpus(zoo).tasks, [measure]), []).jobs)
    measuring = Measuring()
    while (job := jobs.take(0)) is not None:
        for _ in measuring.run(job):
            pass
    return counts["traces"], counts["bytes"], EXAMPLES * int(np.prod(SHAPE)) * 4


def pgdl_run(zoo: Path, out: Path, *, workers: int) -> list[object]:
    """The command of a run."""
    command = [sys.executable, "-m", "starting_kit_adapter.cli.main", "run", zoo]
    return [*command, "-m", MEASURE, "-o", out, "--workers", workers]


def timed(command: list[object]) -> tuple[float, float]:
    """Seconds from start to end, and seconds of the processors."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "TF_CPP_MIN_LOG_LEVEL": "3"}
    words = list(map(str, command))
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run(words, check=True, env=environment, capture_output=True)
    seconds, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    return seconds, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def write_zoo(task: Path, models: int) -> None:
    """Random networks in two widths by turns, and random data."""
    from ingestion.datasets.arrays import Split
    from ingestion.datasets.shards import write_shards
    from ingestion.model_files.weights import write_weights

    rng = np.random.default_rng(0)
    inputs = rng.normal(size=(EXAMPLES, *SHAPE)).astype(np.float32)
    labels = np.arange(EXAMPLES, dtype=np.int32) % CLASSES
    write_shards(task / "dataset_1" / "train", Split(inputs, labels))
    for number in range(models):
        folder, width = task / f"model_{number}", (8, 10)[number % 2]
        folder.mkdir()
        conv = {"layer_name": "Conv2D", "kernel_size": 3, "strides": 2, "activation": "relu"}
        conv["filters"] = width
        layers = [conv, conv, {"layer_name": "Flatten"}]
        layers.append({"layer_name": "Dense", "units": CLASSES})
        config = {"model_config": layers, "input_shape": SHAPE}
        (folder / "config.json").write_text(json.dumps(config))
        shapes = [(3, 3, 1, width), (3, 3, width, width), (6 * 6 * width, CLASSES)]
        write_weights(
            folder / "weights.hdf5",
            [
                (f"layer_{i}", [("kernel:0", rng.normal(size=s)), ("bias:0", np.zeros(s[-1]))])
                for i, s in enumerate(shapes)
            ],
        )


if __name__ == "__main__":
    main()
