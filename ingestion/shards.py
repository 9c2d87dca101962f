"""The data of a task as tfrecord shards: written as the competition's, read back as arrays."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import tensorflow as tf

from ingestion.arrays import Data, Split
from ingestion.corpus import Task
from ingestion.data import load_dataset

_SHARD = 5_000  # examples


def write_shards(folder: Path, split: Split) -> None:
    """Writes `shard_<i>.tfrecord`, each example with serialized `inputs` and `output`."""
    folder.mkdir(parents=True)
    examples = tf.data.Dataset.from_tensor_slices((split.images, split.labels)).map(
        lambda image, label: (tf.io.serialize_tensor(image), tf.io.serialize_tensor(label))
    )
    for i in range(-(-len(split) // _SHARD)):
        with tf.io.TFRecordWriter(str(folder / f"shard_{i}.tfrecord")) as file:
            for inputs, output in examples.skip(i * _SHARD).take(_SHARD).as_numpy_iterator():
                features = tf.train.Features(
                    feature={"inputs": _bytes(inputs), "output": _bytes(output)}
                )
                file.write(tf.train.Example(features=features).SerializeToString())


def read_data(task_folder: Path) -> Data:
    """The data of a task, as it was written."""
    task = Task(task_folder.name, task_folder, None, ())
    return Data(_read(task.shards("train")), _read(task.shards("test")))


def _read(shards: list[Path]) -> Split:
    images, labels = zip(*load_dataset(shards).batch(1_000).as_numpy_iterator())
    return Split(np.concatenate(images), np.concatenate(labels))


def _bytes(value: bytes) -> tf.train.Feature:
    return tf.train.Feature(bytes_list=tf.train.BytesList(value=[value]))
