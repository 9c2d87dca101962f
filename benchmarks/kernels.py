"""Where the seconds of the measures go, and what a response curve would ask of a GPU.

    python benchmarks/kernels.py [--examples 250] [--batches 4] [--networks VGG-like]

TensorFlow's profiler tells how long each kernel of each family of measures takes: convolutions and
dense layers, forward and backward, which are the passes themselves; pooling and activations; all
others, which mix, gather, perturb and draw. The rest is Python, NumPy and the start of graphs. A
first model of the architecture, which pays for tracing, is left out.

Then the counts of one curve, which are the same on a GPU: calls from Python into TensorFlow,
kernels, and tensors that Python waits for.
"""

from __future__ import annotations

import argparse
import os
import re
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "1")

import tensorflow as tf
from measures import NETWORKS, images, model_of
from tensorflow.tsl.profiler.protobuf.xplane_pb2 import XSpace

from pgdl_measures import complexity, measures
from pgdl_measures.base import Measure, Subject
from pgdl_measures.errors import PgdlError

KINDS = {
    "convolutions, dense": re.compile("conv|matmul|einsum", re.IGNORECASE),
    "pooling, activations": re.compile("pool|relu|softmax", re.IGNORECASE),
    "other kernels": re.compile(""),
}
_KERNEL = re.compile(r"[^:\s]*:(_?[A-Z]\w*)")  # name:Operation
_CONTAINERS = re.compile("While|If|Case|PartitionedCall")  # of kernels that are told themselves
CURVES = ("gi_intra_l0", "gi_intra_l1", "gi_rotation", "gi_noise_l1")


class Profile(NamedTuple):
    """What happened during an action."""

    seconds: float
    kernels: Counter[str]  # seconds by operation
    counts: Counter[str]  # events by name; kernels by operation
    fetched: int


@contextmanager
def fetches() -> Iterator[list[int]]:
    """Counts, in the one number of the list, the tensors whose values Python reads."""
    kind = type(tf.constant(0))
    found, original = [0], kind._numpy

    def counted(tensor: Any) -> Any:
        found[0] += 1
        return original(tensor)

    kind._numpy = counted
    try:
        yield found
    finally:
        kind._numpy = original


def profiled(action: Callable[[], object]) -> Profile:
    """Runs an action under TensorFlow's profiler."""
    with tempfile.TemporaryDirectory() as folder, fetches() as found:
        tf.profiler.experimental.start(folder)
        start = time.perf_counter()
        action()
        seconds = time.perf_counter() - start
        tf.profiler.experimental.stop()
        space = XSpace()
        for path in Path(folder).rglob("*.xplane.pb"):
            space.MergeFromString(path.read_bytes())
    kernels: Counter[str] = Counter()
    counts: Counter[str] = Counter()
    for plane in space.planes:
        for line in plane.lines:
            for event in line.events:
                name = plane.event_metadata[event.metadata_id].name
                kernel = _KERNEL.fullmatch(name)
                if kernel and not _CONTAINERS.search(kernel[1]):
                    kernels[kernel[1]] += event.duration_ps / 1e12
                counts[kernel[1] if kernel else name] += 1
    return Profile(seconds, kernels, counts, found[0])


def run(wanted: list[Measure], subject: Subject) -> None:
    """Computes measures; one that is refused costs no other."""
    for measure in wanted:
        with suppress(PgdlError):
            measure.on(subject)


def main() -> None:
    """Prints a table of families and one of curves for each network."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--examples", type=int, default=250)
    parser.add_argument("--batches", type=int, default=4)
    parser.add_argument("--networks", nargs="+", choices=NETWORKS, default=["VGG-like"])
    options = parser.parse_args()
    tf.config.threading.set_intra_op_parallelism_threads(1)
    tf.config.threading.set_inter_op_parallelism_threads(1)
    families: dict[str, list[Measure]] = {}
    for entry in measures():
        measure = complexity(entry.name)
        if "batches" in measure.defaults():
            measure = measure.with_options(batches=options.batches)
        families.setdefault(entry.family, []).append(measure)
    data = tf.data.Dataset.from_tensor_slices(images(options.examples))
    print(f"{options.examples} images of 28x28, {options.batches} batches of 128, one thread")
    for name in options.networks:
        everything = [measure for family in families.values() for measure in family]
        first, model = (with_initial(model_of(name)) for _ in range(2))
        run(everything, Subject(first, data))
        print(f"\n{name:32}{'seconds':>9}" + "".join(f"{kind:>22}" for kind in [*KINDS, "rest"]))
        subject = Subject(model, data)
        for family, wanted in families.items():
            print(row(family, profiled(partial(run, wanted, subject))), flush=True)
        print(f"\n{'one curve':32}{'calls':>9}{'kernels':>9}{'fetched':>9}")
        for curve in CURVES:
            measure = complexity(curve, batches=options.batches)
            subject = Subject(model, data)
            found = profiled(partial(measure.on, subject))
            kernels = sum(found.counts[kernel] for kernel in found.kernels)
            calls = found.counts["EagerKernelExecute"]
            print(f"{curve:32}{calls:9}{kernels:9}{found.fetched:9}")


def with_initial(model: tf.keras.Model) -> tf.keras.Model:
    """The model, with weights that some measures take for its initial ones."""
    model.initial_weights = [0.9 * weight for weight in model.get_weights()]
    return model


def row(family: str, found: Profile) -> str:
    """The shares of the seconds of a family."""
    left, text = found.kernels.copy(), f"{family:32}{found.seconds:9.2f}"
    for pattern in KINDS.values():
        names = [kernel for kernel in left if pattern.search(kernel)]
        text += f"{sum(left.pop(kernel) for kernel in names) / found.seconds:22.0%}"
    return text + f"{1 - sum(found.kernels.values()) / found.seconds:22.0%}"


if __name__ == "__main__":
    main()
