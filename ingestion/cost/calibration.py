"""How fast this machine is: its roof, and the share of it that a network's forward pass reaches.

The roof is measured: arithmetic by a product of large matrices, memory bandwidth by adding to an
array that is too large for the caches. If TensorFlow finds a GPU, it is the roof of the GPU.
"""

from __future__ import annotations

import platform
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import tensorflow as tf

from ingestion.cost.counting import CountedNetwork
from ingestion.cost.roofline import Roof, roofline_seconds
from ingestion.run.executors.local import available_cpus
from pgdl_measures.network.compiled import Network

_REPEATS = 3  # the fastest counts: other programs only slow a run down
_SIDE = 2048  # of the matrices
_ELEMENTS = 2**25  # of the arrays: 128 MiB each


@dataclass(frozen=True)
class Machine:
    """The device that TensorFlow computes on."""

    name: str
    roof: Roof


@dataclass(frozen=True)
class Speed:
    """The speed of a network's forward pass on this machine."""

    seconds: float  # per example
    efficiency: float  # share of the roof


def gpu_name() -> str | None:
    """The first GPU that TensorFlow sees, such as `Tesla K80`."""
    gpus = tf.config.list_physical_devices("GPU")
    if not gpus:
        return None
    return tf.config.experimental.get_device_details(gpus[0]).get("device_name", "a GPU")


def measure_machine() -> Machine:
    """Measures the roof; takes about a second."""
    matrix = tf.random.stateless_normal([_SIDE, _SIDE], [0, 0])
    array = tf.ones(_ELEMENTS)
    sums = tf.Variable(array)  # added to in place: allocating would be slower
    product = _fastest(lambda: tf.linalg.matmul(matrix, matrix))
    addition = _fastest(lambda: sums.assign_add(array))
    roof = Roof(2 * _SIDE**3 / product, 3 * array.dtype.size * _ELEMENTS / addition)
    return Machine(gpu_name() or f"{available_cpus()} cores of {_processor()}", roof)


def measure_speed(network: Network, counted: CountedNetwork, machine: Machine) -> Speed:
    """Times the network on batches of the size that measures use."""
    batch = network.forward_batch
    inputs = tf.random.stateless_normal([batch, *network.input_shape], [0, 0])
    forward = network.graph(
        "forward",
        lambda: tf.function(
            network.run,
            input_signature=[tf.TensorSpec([None, *network.input_shape], tf.float32)],
        ),
    )
    seconds = _fastest(lambda: forward(inputs))
    work = counted.one_pass(batch)
    least = roofline_seconds(machine.roof, work.step_flops.tolist(), work.step_bytes.tolist())
    return Speed(seconds / batch, least / seconds)


def _fastest(compute: Callable[[], tf.Tensor]) -> float:
    compute()  # allocates, and chooses algorithms
    times = []
    for _ in range(_REPEATS):
        start = time.perf_counter()
        tf.reduce_sum(compute()[..., :1]).numpy()  # waits for the device
        times.append(time.perf_counter() - start)
    return min(times)


def _processor() -> str:
    information = Path("/proc/cpuinfo")
    if information.is_file():
        for line in information.read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()
