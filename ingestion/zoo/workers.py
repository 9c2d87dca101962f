"""Training in several processes. A process that dies costs the model it was training, no more.

Each worker is a fresh interpreter with its own pipe and a fixed number of threads. TensorFlow's
sums depend in their last bits on the number of threads, but not on how many workers there are.
"""

from __future__ import annotations

import contextlib
import json
import multiprocessing
import os
import signal
import threading
import traceback
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ingestion.corpus import FIRST_DATASET
from ingestion.keras_names import corpus_weights
from ingestion.zoo.layout import Zoo
from pgdl_measures.errors import PgdlError

if TYPE_CHECKING:
    from ingestion.arrays import Data
    from ingestion.zoo.training import Trainer


@dataclass(frozen=True)
class Job:
    """One model to train. Plain values only: it travels to another process."""

    model: int
    repeat: int
    seed: int
    hparams: Mapping[str, Any]
    config: Mapping[str, Any]
    architecture: str
    data: str  # its name
    training: Mapping[str, Any]
    max_epochs: int
    target: Mapping[str, float]
    augment: Mapping[str, str] | None = None  # `perturbation` and `level`

    @property
    def compiled(self) -> tuple[str, ...]:
        """Jobs that are alike in this share one compiled trainer."""
        names = ("batch_size", "optimizer", "augmentation")
        training = {name: self.training[name] for name in names}
        return tuple(map(json.dumps, (self.config, training, self.augment)))

    @property
    def dataset(self) -> str:
        """The folder of its data."""
        return self.config.get("dataset", FIRST_DATASET)


@dataclass(frozen=True)
class Outcome:
    """What became of a job: nothing is wrong, or `problem` says what."""

    job: Job
    problem: str | None


@dataclass(frozen=True)
class Place:
    """Where workers find the data and leave the models, and how many threads each has."""

    root: Path
    task: str
    threads: int


def run_jobs(jobs: Sequence[Job], place: Place, workers: int) -> Iterator[Outcome]:
    """Yields the outcome of each job when it is known, in any order."""
    queue = deque(jobs)
    busy: dict[Connection, tuple[multiprocessing.process.BaseProcess, Job]] = {}

    def hand_next(connection: Connection, process: multiprocessing.process.BaseProcess) -> None:
        busy[connection] = process, queue.popleft()
        with contextlib.suppress(OSError):  # where the worker is dead, `recv` will say so
            connection.send(busy[connection][1])

    try:
        while queue or busy:
            while queue and len(busy) < workers:
                hand_next(*_start(place))
            for ready in wait(list(busy)):
                assert isinstance(ready, Connection)
                process, job = busy.pop(ready)
                try:
                    outcome = Outcome(job, ready.recv())
                except (EOFError, OSError):
                    process.join()
                    outcome = Outcome(job, f"its worker died ({_death(process.exitcode)})")
                else:
                    if queue:
                        hand_next(ready, process)
                    else:
                        ready.close()
                yield outcome
    finally:
        for process, _ in busy.values():
            process.terminate()
            process.join()


def _start(place: Place) -> tuple[Connection, multiprocessing.process.BaseProcess]:
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=_work, args=(theirs, place), daemon=True)
    process.start()
    theirs.close()  # so that its death is the end of the pipe
    return ours, process


def _death(code: int | None) -> str:
    return signal.Signals(-code).name if code is not None and code < 0 else f"exit code {code}"


def _work(connection: Connection, place: Place) -> None:
    """The life of a worker: jobs in, what is wrong with each out, until the pipe closes."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent ends us
    threading.Thread(target=_follow_parent, daemon=True).start()
    worker = _Worker(place)
    while True:
        try:
            job = connection.recv()
        except EOFError:
            return
        try:
            worker.build(job)
            problem = None
        except PgdlError as error:
            problem = str(error)
        except Exception:
            problem = f"a bug or a broken machine:\n{traceback.format_exc()}"
        connection.send(problem)


def _follow_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


class _Worker:
    """Trains and writes models; the data and the last compiled network are kept."""

    def __init__(self, place: Place) -> None:
        from ingestion.quiet import import_tensorflow

        import_tensorflow()
        import tensorflow as tf

        tf.get_logger().setLevel("ERROR")  # it warns of tracing, which each network needs once
        tf.config.threading.set_intra_op_parallelism_threads(place.threads)
        tf.config.threading.set_inter_op_parallelism_threads(1)
        for gpu in tf.config.list_physical_devices("GPU"):
            tf.config.experimental.set_memory_growth(gpu, True)
        tf.config.experimental.enable_op_determinism()
        self._zoo, self._task = Zoo(place.root), place.task
        self._data: tuple[str, Data] | None = None
        self._trainer: tuple[object, Trainer] | None = None

    def build(self, job: Job) -> None:
        """Trains one model and writes it."""
        from ingestion.zoo.schedules import Schedule
        from ingestion.zoo.training import Recipe, Target

        data, trainer, training = self._data_of(job), self._trainer_of(job), job.training
        rules = ("decay_factor", "milestones", "patience")
        trained = trainer.train(
            Recipe(
                seed=job.seed,
                learning_rate=training["learning_rate"],
                weight_decay=training["weight_decay"],
                max_epochs=job.max_epochs,
                target=Target(**job.target),
                momentum=training["momentum"],
                schedule=Schedule(training["schedule"], *(training[rule] for rule in rules)),
            )
        )
        metrics = {
            "train_acc": trained.train.accuracy,
            "test_acc": trainer.fit(data.test.images, data.test.labels).accuracy,
            "train_loss": trained.train.loss,
        }
        if data.validation is not None:
            held = data.validation
            metrics["validation_acc"] = trainer.fit(held.images, held.labels).accuracy
        record: dict[str, Any] = {
            "hparams": dict(job.hparams),
            "metrics": metrics,
            "architecture": job.architecture,
            "data": job.data,
            "dataset": job.dataset,
            "seed": job.seed,
            "repeat": job.repeat,
            "epochs": trained.epochs,
            "reached_target": trained.reached,
        }
        if job.augment is not None:
            record["augment"] = dict(job.augment)
        weights = {}
        for name, values in (
            ("weights_init.hdf5", trained.initial),
            ("weights.hdf5", trained.final),
        ):
            trainer.model.set_weights(values)
            weights[name] = corpus_weights(trainer.model, job.config)
        self._zoo.write_model(self._task, job.model, job.config, weights, record)

    def _data_of(self, job: Job) -> Data:
        from ingestion.shards import read_data

        if self._data is None or self._data[0] != job.dataset:
            self._data = job.dataset, read_data(self._zoo.task_folder(self._task), job.dataset)
        return self._data[1]

    def _trainer_of(self, job: Job) -> Trainer:
        from ingestion.zoo.augment import augmentation
        from ingestion.zoo.standard import training_augmentation
        from ingestion.zoo.training import Trainer

        if self._trainer is None or self._trainer[0] != job.compiled:
            train, training = self._data_of(job).train, job.training
            if job.augment is not None:
                name, level = job.augment["perturbation"], job.augment["level"]
                change = augmentation(name, level, train.images)
            else:
                change = training_augmentation(training["augmentation"], train.images)
            trainer = Trainer(
                job.config,
                train.images,
                train.labels,
                training["batch_size"],
                change,
                training["optimizer"],
            )
            self._trainer = job.compiled, trainer
        return self._trainer[1]
