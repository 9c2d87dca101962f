"""The process that trains models of a zoo, one job after the other.

    python -m ingestion.zoo.worker CHANNEL ROOT TASK THREADS

CHANNEL is that of `ingestion.processes`: the worker ends when its parent does. TensorFlow's sums
depend in their last bits on the number of threads, so that number is fixed; they do not depend on
how many workers there are.
"""

from __future__ import annotations

import sys
import traceback
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ingestion.model_files.keras_names import corpus_weights
from ingestion.processes import connect_to_parent
from ingestion.zoo.jobs import Job, Place
from ingestion.zoo.layout import Zoo
from pgdl_measures.errors import PgdlError

if TYPE_CHECKING:
    from ingestion.datasets.arrays import Data
    from ingestion.zoo.training import Trainer


def main(channel: str, place: Place) -> None:
    """Trains what it is sent and answers with the problem, if any, until the parent ends it."""
    connection = connect_to_parent(channel)
    worker = _Worker(place)
    while True:
        try:
            job = connection.recv()
        except EOFError:
            return
        problem = None
        try:
            worker.build(job)
        except PgdlError as error:
            problem = str(error)
        except Exception:
            problem = f"a bug or a broken machine:\n{traceback.format_exc()}"
        connection.send(problem)


class _Worker:
    """Trains and writes models; keeps the data and the last compiled network."""

    def __init__(self, place: Place) -> None:
        from ingestion.quiet import import_tensorflow

        import_tensorflow()
        import tensorflow as tf

        tf.get_logger().setLevel("ERROR")  # it warns of retracing, which each network needs
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
        from ingestion.datasets.shards import read_data

        if self._data is None or self._data[0] != job.dataset:
            self._data = job.dataset, read_data(self._zoo.task_folder(self._task), job.dataset)
        return self._data[1]

    def _trainer_of(self, job: Job) -> Trainer:
        from ingestion.zoo.standard import augmentation_of
        from ingestion.zoo.training import Trainer

        if self._trainer is None or self._trainer[0] != job.compiled:
            train, training = self._data_of(job).train, job.training
            trainer = Trainer(
                job.config,
                train.images,
                train.labels,
                training["batch_size"],
                augmentation_of(job, train.images),
                training["optimizer"],
            )
            self._trainer = job.compiled, trainer
        return self._trainer[1]


if __name__ == "__main__":
    _, _channel, _root, _task, _threads = sys.argv
    main(_channel, Place(Path(_root), _task, int(_threads)))
