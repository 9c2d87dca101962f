"""The cost of measures for each model of a task: operations, seconds here and elsewhere.

The forward passes of a measure are counted while it runs (`counting`). On this machine they take
(counted operations / operations of one pass) x (measured seconds of one pass); on another device,
what the roofline gives. The rest of the measured time - tracing, gradients, perturbations, NumPy -
is assumed to be the same everywhere, so a measure without forward passes never becomes faster.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from time import perf_counter

import tensorflow as tf

from ingestion.corpus import Task
from ingestion.cost.calibration import Machine, Speed, measure_speed
from ingestion.cost.counting import CountedNetwork, Passes, counted
from ingestion.cost.roofline import Device, device_seconds
from ingestion.datasets.data import load_dataset
from ingestion.model_files.custom import Custom
from ingestion.model_files.models import load_model
from pgdl_measures.base import Measure, Subject
from pgdl_measures.data import DEFAULT_MAX_BYTES, training_data
from pgdl_measures.errors import PgdlError

HERE = "here"


@dataclass(frozen=True)
class Forward:
    """The forward passes of a measure."""

    passes: float  # in units of one pass through the whole network
    flops: float
    bytes: float
    seconds: float  # of the passes, out of those measured
    efficiency: float  # share of this machine's roof


@dataclass(frozen=True)
class Cost:
    """The cost of a measure for one model, or the problem that prevented measuring it."""

    task: str
    model: str
    measure: str
    seconds: float = 0.0  # measured here
    checked: dict[str, float] = field(default_factory=dict)  # seconds by device, to be limited
    forward: Forward | None = None
    problem: str = ""

    @property
    def longest(self) -> float:
        """The longest of the checked times."""
        return max(self.checked.values(), default=float("inf"))


@dataclass(frozen=True)
class Metered:
    """What a meter finds, without the time for reading the data."""

    seconds: float
    elsewhere: dict[str, float]
    forward: Forward | None = None


Meter = Callable[[Measure, Subject], Metered]


def profile_task(
    task: Task,
    model_ids: Sequence[str],
    measures: Sequence[Measure],
    meter: Meter,
    step: Callable[[str], None],
    custom: Custom | None = None,
) -> list[Cost]:
    """The cost of every measure for every model.

    Each is measured as if it ran alone: no work is shared with other measures, and each is charged
    for reading the training data, which the models of a task share in a real run.
    """
    costs, read = [], ""
    # The models of one data set after the other: it is read once.
    for model_id in sorted(model_ids, key=task.dataset_of):
        if task.dataset_of(model_id) != read:
            read = task.dataset_of(model_id)
            dataset = load_dataset(task.shards(dataset=read))
            start = perf_counter()
            training_data(dataset, max_bytes=measures[0].max_bytes or DEFAULT_MAX_BYTES)
            reading = perf_counter() - start
        for measure in measures:
            costs.append(_cost(task, model_id, measure, dataset, reading, meter, custom))
        step(f"{task.name} {model_id}")
    return costs


def _cost(
    task: Task,
    model_id: str,
    measure: Measure,
    dataset: tf.data.Dataset,
    reading: float,
    meter: Meter,
    custom: Custom | None,
) -> Cost:
    try:
        model = load_model(task.model_folder(model_id), custom)
        start = perf_counter()
        subject = Subject(model, dataset, max_bytes=measure.max_bytes)
        before = reading + perf_counter() - start
        metered = meter(measure, subject)
    except (PgdlError, tf.errors.OpError) as error:  # OpError: the device is out of memory
        return Cost(task.name, model_id, measure.name, problem=str(error).splitlines()[0])
    checked = {name: before + seconds for name, seconds in metered.elsewhere.items()}
    return Cost(
        task.name, model_id, measure.name, before + metered.seconds, checked, metered.forward
    )


def stopwatch(measure: Measure, subject: Subject) -> Metered:
    """Measures the time on this machine."""
    start = perf_counter()
    measure.on(subject)
    seconds = perf_counter() - start
    return Metered(seconds, {HERE: seconds})


class Estimator:
    """Counts the measure's forward passes and estimates its time on other devices."""

    def __init__(self, machine: Machine, devices: Sequence[Device]) -> None:
        self._machine, self._devices = machine, devices
        # One speed for all models of an architecture.
        self._speeds: weakref.WeakKeyDictionary[CountedNetwork, Speed] = weakref.WeakKeyDictionary()

    def __call__(self, measure: Measure, subject: Subject) -> Metered:
        twin = counted(subject.network)
        if twin not in self._speeds:
            self._speeds[twin] = measure_speed(subject.network, twin, self._machine)
        speed = self._speeds[twin]
        subject.network = twin.network
        twin.restart()
        start = perf_counter()
        measure.on(subject)
        seconds = perf_counter() - start
        passes = twin.passes()
        whole = passes.flops / twin.one_pass(1).flops
        forward = Forward(
            whole,
            passes.flops,
            passes.bytes,
            min(seconds, whole * speed.seconds),
            speed.efficiency,
        )
        input_bytes = float(subject.data.inputs.shape.num_elements() * 4)
        elsewhere = {
            device.name: seconds
            - forward.seconds
            + _on(device, passes, speed.efficiency, input_bytes)
            for device in self._devices
        }
        return Metered(seconds, elsewhere, forward)


def _on(device: Device, passes: Passes, efficiency: float, input_bytes: float) -> float:
    return device_seconds(
        device,
        passes.step_flops.tolist(),
        passes.step_bytes.tolist(),
        calls=int(passes.calls.sum()),
        efficiency=efficiency,
        input_bytes=input_bytes,
    )
