"""Measures one model after the other inside a worker, and reports each step to the parent.

The data of the last task stays decoded; graphs stay traced in `pgdl_measures.network.compiled`.
"""

from __future__ import annotations

import contextlib
import resource
import sys
import time
import traceback
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import tensorflow as tf

from ingestion.datasets.data import load_dataset
from ingestion.errors import CorpusError
from ingestion.model_files.custom import load_custom
from ingestion.model_files.models import load_model
from ingestion.run import fingerprint
from ingestion.run.executors.outcome import (
    LOADING,
    READING,
    WARMING_UP,
    Files,
    Finished,
    Measured,
    Message,
    Step,
)
from ingestion.run.fingerprint import model_files, stamp
from ingestion.run.plan import Job
from pgdl_measures.base import Measure, Subject
from pgdl_measures.data import DEFAULT_MAX_BYTES, training_data
from pgdl_measures.errors import MeasureError, PgdlError, with_place
from pgdl_measures.response_curves.shared import computed_curves
from scoring.record import REFUSED, Curve, Stamp


class Measuring:
    """Measures models; keeps the data of the current task in memory."""

    def __init__(self) -> None:
        tf.keras.backend.clear_session()  # imports Keras now, not on the first model's time
        self._shards: tuple[Path, ...] = ()
        self._dataset: tf.data.Dataset | None = None
        self._stamp: Stamp | None = None
        self._checked: set[tuple[str, str]] = set()  # measures whose loaded code is as planned

    def run(self, job: Job) -> Iterator[Message]:
        """Computes the job's measures; an exception costs one measure, not the others."""
        _reset_peak_memory()
        tf.keras.backend.clear_session()
        start = time.perf_counter()
        try:
            yield Step(READING)
            yield Files(stamp(model_files(job.folder, job.custom)), self._data_stamp(job))
            dataset = self._data(job)
            yield Step(LOADING)
            model = load_model(job.folder, load_custom(job.custom))
            subject = Subject(model, dataset, max_bytes=job.measures[0].max_bytes)
        except Exception as error:
            seconds = time.perf_counter() - start
            for measure in job.measures:
                yield Measured(measure.name, round(seconds, 3), error=_reason(error))
            yield Finished([], _peak_memory())
            return
        for measure in job.warm_up:
            yield Step(WARMING_UP)
            with contextlib.suppress(Exception):  # the measures report the error themselves
                measure.on(subject)
        for measure in job.measures:
            yield Step(measure.name)
            result = _measured(measure, subject)
            yield result if self._is_as_planned(measure, job) else _refused(result)
        yield Finished(_curves(subject), _peak_memory())

    def _is_as_planned(self, measure: Measure, job: Job) -> bool:
        """Whether the code that this process has loaded is the code that the run was planned with.

        It is another one if a file was edited before this process started, or if this machine of
        the cluster has another version. Asked after the measure's first use, which loads its code.
        """
        planned = job.fingerprints.get(measure.name)
        if planned is None or (measure.name, planned) in self._checked:
            return True
        if fingerprint.settings(measure) != planned:
            return False
        self._checked.add((measure.name, planned))
        return True

    def _data_stamp(self, job: Job) -> Stamp:
        if self._stamp is None or job.shards != self._shards:
            found = stamp(job.shards)  # if this fails, the last task stays the current one
            self._shards, self._dataset, self._stamp = job.shards, None, found
        return self._stamp

    def _data(self, job: Job) -> tf.data.Dataset:
        if not job.shards:
            raise CorpusError(job.folder / "config.json", "names no data set of its task")
        if self._dataset is None:
            dataset = load_dataset(job.shards)
            # Decoded here, so that the time is not counted as that of the first model's measure.
            training_data(dataset, max_bytes=job.measures[0].max_bytes or DEFAULT_MAX_BYTES)
            self._dataset = dataset
        return self._dataset


def _measured(measure: Measure, subject: Subject) -> Measured:
    start, reused = time.perf_counter(), subject.reused_seconds
    value = error = subject.batches = None
    try:
        value = measure.on(subject)
    except MeasureError as refusal:
        error = f"{REFUSED}{refusal}"
    except Exception as problem:
        error = _reason(problem)
    # The time that it would have taken alone: cached work of other measures counts.
    reused = subject.reused_seconds - reused
    seconds = round(time.perf_counter() - start + reused, 3)
    return Measured(measure.name, seconds, value, error, subject.batches)


def _refused(result: Measured) -> Measured:
    error = (
        "a worker has other code of this measure than the run began with: it was edited during the "
        "run, or this machine has another version; start the run again"
    )
    return replace(result, value=None, error=error)


def _reason(error: Exception) -> str:
    """One line. A bug is reported with its place; the whole traceback is in the record."""
    if isinstance(error, PgdlError):
        return str(error)
    traceback.print_exception(type(error), error, error.__traceback__, file=sys.stderr)
    return with_place(error)


def _curves(subject: Subject) -> list[Curve]:
    return [
        Curve(
            tuple(curve.magnitudes.tolist()),
            tuple(round(accuracy, 6) for accuracy in curve.accuracy.tolist()),
            settings.get("perturbation"),
            settings.get("pairing"),
            settings.get("layer"),
        )
        for settings, curve in computed_curves(subject)
    ]


def _reset_peak_memory() -> None:
    """Resets the peak that Linux keeps, so that the next reading is of one model."""
    with contextlib.suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")


def _peak_memory() -> int:
    """The peak of resident memory in bytes: of this model on Linux, elsewhere of the process."""
    with contextlib.suppress(OSError, StopIteration):
        status = Path("/proc/self/status").read_text().splitlines()
        return int(next(line for line in status if line.startswith("VmHWM")).split()[1]) * 1024
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024
