"""Core-seconds of all measures, by family, on three small networks, beside an older version.

    python benchmarks/measures.py [--before CHECKOUT] [--examples 500] [--batches 45] [--models 2]

With `--before`, a checkout of another commit measures the same models in turns with this one, one
family at a time, so that both see the same machine; processor seconds of one thread are compared,
which depend little on what else runs. The values of both are compared too.

The default settings are a quarter of 2,000 images and of the papers' 180 batches: examples are then
drawn as often as at full size (`--examples 2000 --batches 180`). `--older-processor` leaves oneDNN
off in the version before, as TensorFlow does by itself on older processors. The first model of an
architecture is listed apart: it pays for tracing and for what its task needs once.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
SHAPE, CLASSES = (28, 28, 1), 10
Seconds = dict[str, float]


def vgg(layers: Any) -> Any:
    """Convolutions with fused activations, pooling, two dense layers."""
    x = inputs = layers.Input(SHAPE)
    for width, depth in ((16, 2), (32, 2), (64, 1)):
        for _ in range(depth):
            x = layers.Conv2D(width, 3, padding="same", activation="relu")(x)
        x = layers.MaxPooling2D()(x)
    x = layers.Dense(64, activation="relu")(layers.Flatten()(x))
    return inputs, layers.Dense(CLASSES)(x)


def nin(layers: Any) -> Any:
    """Blocks of one 3x3 and two 1x1 convolutions with batch norm, then an average."""
    x = inputs = layers.Input(SHAPE)
    for width in (24, 48):
        for size, stride in ((3, 2), (1, 1), (1, 1)):
            x = layers.Conv2D(width, size, strides=stride, padding="same")(x)
            x = layers.ReLU()(layers.BatchNormalization()(x))
    return inputs, layers.GlobalAveragePooling2D()(layers.Conv2D(CLASSES, 1)(x))


def resnet(layers: Any) -> Any:
    """Four residual blocks with batch norm."""
    x = inputs = layers.Input(SHAPE)
    x = layers.ReLU()(layers.BatchNormalization()(layers.Conv2D(16, 3, padding="same")(x)))
    for width, stride in ((16, 2), (16, 1), (32, 2), (32, 1)):
        y = layers.Conv2D(width, 3, strides=stride, padding="same")(x)
        y = layers.ReLU()(layers.BatchNormalization()(y))
        y = layers.BatchNormalization()(layers.Conv2D(width, 3, padding="same")(y))
        if stride > 1:
            x = layers.BatchNormalization()(layers.Conv2D(width, 1, strides=stride)(x))
        x = layers.ReLU()(layers.Add()([x, y]))
    return inputs, layers.Dense(CLASSES)(layers.GlobalAveragePooling2D()(x))


NETWORKS: dict[str, Callable[[Any], Any]] = {"VGG-like": vgg, "NiN-like": nin, "ResNet": resnet}


def images(examples: int) -> tuple[np.ndarray, np.ndarray]:
    """Smooth patterns, one for each class, shifted and under noise: learned in a few epochs."""
    rng = np.random.default_rng(0)
    coarse = rng.normal(size=(CLASSES, 7, 7))
    patterns = np.kron(coarse, np.ones((4, 4)))
    labels = rng.integers(0, CLASSES, examples).astype(np.int32)
    shifts = rng.integers(-3, 4, (examples, 2))
    moved = np.stack([np.roll(patterns[y], s, (0, 1)) for y, s in zip(labels, shifts)])
    noisy = moved + rng.normal(size=moved.shape)
    return noisy[..., None].astype(np.float32), labels


def model_of(name: str) -> Any:
    """An untrained network."""
    import tensorflow as tf

    return tf.keras.Model(*NETWORKS[name](tf.keras.layers))


def train(folder: Path, names: list[str], models: int, examples: int) -> None:
    """Writes the initial and the trained weights of each model."""
    import tensorflow as tf

    inputs, labels = images(max(examples, 1000))
    for name in names:
        for number in range(models):
            tf.keras.utils.set_random_seed(number)
            model = model_of(name)
            initial = model.get_weights()
            loss = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
            model.compile(tf.keras.optimizers.Adam(3e-3), loss)
            model.fit(inputs, labels, batch_size=64, epochs=4, verbose=0)
            arrays = {f"trained_{i}": w for i, w in enumerate(model.get_weights())}
            arrays.update({f"initial_{i}": w for i, w in enumerate(initial)})
            np.savez(folder / f"{name}-{number}.npz", **arrays)


def work(folder: Path, examples: int, options: dict[str, Any]) -> None:
    """Answers questions on stdin: the values of some measures for a model, and their seconds."""
    import tensorflow as tf

    tf.config.threading.set_intra_op_parallelism_threads(1)
    tf.config.threading.set_inter_op_parallelism_threads(1)
    from pgdl_measures import complexity
    from pgdl_measures.base import Subject
    from pgdl_measures.errors import PgdlError

    data = tf.data.Dataset.from_tensor_slices(images(examples))
    subjects: dict[str, Any] = {}
    for line in sys.stdin:
        name, number, wanted = json.loads(line)
        if f"{name}-{number}" not in subjects:
            subjects.clear()
            arrays = np.load(folder / f"{name}-{number}.npz")
            model, count = model_of(name), len(arrays.files) // 2
            model.set_weights([arrays[f"trained_{i}"] for i in range(count)])
            model.initial_weights = [arrays[f"initial_{i}"] for i in range(count)]
            subjects[f"{name}-{number}"] = Subject(model, data)
        subject = subjects[f"{name}-{number}"]
        values: dict[str, Any] = {}
        start = time.process_time()
        for measure_name in wanted:
            try:
                measure = complexity(measure_name)
                known = {k: v for k, v in options.items() if k in measure.defaults()}
                values[measure_name] = measure.with_options(**known).on(subject)
            except PgdlError as refusal:
                values[measure_name] = str(refusal)
        print(json.dumps([time.process_time() - start, values]), flush=True)


class Worker:
    """A process with the code of one checkout."""

    def __init__(
        self, checkout: Path, folder: Path, options: argparse.Namespace, onednn: bool = True
    ) -> None:
        command = [sys.executable, __file__, "--worker", folder, "--examples", options.examples]
        self._process = subprocess.Popen(
            [*map(str, command), "--batches", str(options.batches)],
            env={
                **os.environ,
                "PYTHONPATH": str(checkout),
                "TF_ENABLE_ONEDNN_OPTS": str(int(onednn)),
            },
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def ask(self, *question: Any) -> tuple[float, dict[str, Any]]:
        """The seconds and values of some measures of a model."""
        assert self._process.stdin and self._process.stdout
        self._process.stdin.write(json.dumps(question) + "\n")
        self._process.stdin.flush()
        seconds, values = json.loads(self._process.stdout.readline())
        return seconds, values

    def close(self) -> None:
        """Ends it."""
        assert self._process.stdin
        self._process.stdin.close()
        self._process.wait()


def difference(before: dict[str, Any], after: dict[str, Any]) -> tuple[float, str]:
    """The largest relative difference of two values, and whose it is."""
    found = [(0.0, "")]
    for name in before.keys() & after.keys():
        old, new = before[name], after[name]
        if isinstance(old, str) or isinstance(new, str):
            found.append((float(type(old) is not type(new)), name))
        elif old != new:
            found.append((abs(old - new) / max(abs(old), abs(new)), name))
    return max(found)


def compare(name: str, workers: list[Worker], families: dict[str, list[str]], models: int) -> None:
    """Prints the table of one network; `families` has the names of their measures."""
    left_out: list[str] = []
    first: list[Seconds] = [defaultdict(float) for _ in workers]
    later: list[Seconds] = [defaultdict(float) for _ in workers]
    worst: dict[str, tuple[float, str]] = defaultdict(lambda: (0.0, ""))
    for number in range(models):
        for family, wanted in families.items():
            answers = [workers[0].ask(name, number, wanted)]
            if len(workers) > 1:
                there = [m for m in wanted if not isinstance(answers[0][1][m], str)]
                left_out += set(wanted) - set(there) - set(left_out)
                answers.append(workers[1].ask(name, number, there))
            for seconds, total in zip(answers, later if number else first):
                total[family] += seconds[0] / max(1, models - 1 if number else 1)
            found = difference(answers[0][1], answers[-1][1])
            worst[family] = max(worst[family], found)
    print(f"\n{name}")
    for title, table in (("first model", first), ("each further model", later)):
        if not table[0]:
            continue
        print(f"  {title}")
        for family in [*families, "all"]:
            row = [sum(t.values()) if family == "all" else t[family] for t in table]
            text = "".join(f"{seconds:9.2f} s" for seconds in row)
            ratio = f"   {row[-1] / row[0]:5.2f}" if len(row) > 1 and row[0] else ""
            print(f"    {family:32}{text}{ratio}")
    if left_out:
        print(f"  without {len(left_out)} measures that there were not before")
    if len(workers) > 1:
        print("  largest relative difference of values")
        for family, (size, measure) in worst.items():
            print(f"    {family:32} {size:.1e} {measure}")


def main() -> None:
    """Trains the networks, then asks both versions in turns."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--before", type=Path, help="a checkout of the version to compare with")
    parser.add_argument("--older-processor", action="store_true", help="see above")
    parser.add_argument("--examples", type=int, default=500)
    parser.add_argument("--batches", type=int, default=45)
    parser.add_argument("--models", type=int, default=2)
    parser.add_argument("--networks", nargs="+", choices=NETWORKS, default=list(NETWORKS))
    parser.add_argument("--families", nargs="+", help="parts of their names; default: all")
    parser.add_argument("--worker", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        work(options.worker, options.examples, {"batches": options.batches})
        return
    sys.path.insert(0, str(ROOT))
    from pgdl_measures import measures

    families: dict[str, list[str]] = {}
    for measure in measures():
        if not options.families or any(part in measure.family for part in options.families):
            families.setdefault(measure.family, []).append(measure.name)
    with tempfile.TemporaryDirectory() as folder:
        train(Path(folder), options.networks, options.models, options.examples)
        workers = [Worker(ROOT, Path(folder), options)]
        if options.before:
            onednn = not options.older_processor
            workers.insert(0, Worker(options.before.resolve(), Path(folder), options, onednn))
        print(f"{options.examples} images of 28x28, {options.batches} batches of 128, one thread")
        if options.before:
            print("seconds of the processor before, after, and their ratio")
        for name in options.networks:
            compare(name, workers, families, options.models)
        for worker in workers:
            worker.close()


if __name__ == "__main__":
    main()
