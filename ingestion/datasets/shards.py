"""The data of a task as tfrecord shards: written as the competition's, read back as arrays."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import tensorflow as tf

from ingestion.corpus import FIRST_DATASET, split_shards
from ingestion.datasets.arrays import Data, Split
from ingestion.datasets.data import load_dataset

_SHARD = 5_000  # examples


def write_data(folder: Path, data: Data) -> None:
    """A folder for each split, with its shards; none for a test part that is empty."""
    write_shards(folder / "train", data.train)
    if len(data.test):
        write_shards(folder / "test", data.test)
    if data.validation is not None:
        write_shards(folder / "validation", data.validation)


def write_shards(folder: Path, split: Split) -> None:
    """Writes `shard_<i>.tfrecord`, each example with serialized `inputs` and `output`."""
    folder.mkdir(parents=True)
    examples = tf.data.Dataset.from_tensor_slices((split.images, split.labels)).map(
        lambda image, label: (tf.io.serialize_tensor(image), tf.io.serialize_tensor(label))
    )
    for i in range(-(-len(split) // _SHARD)):
        with tf.io.TFRecordWriter(os.fsencode(folder / f"shard_{i}.tfrecord")) as file:
            for inputs, output in examples.skip(i * _SHARD).take(_SHARD).as_numpy_iterator():
                features = tf.train.Features(
                    feature={"inputs": _bytes(inputs), "output": _bytes(output)}
                )
                file.write(tf.train.Example(features=features).SerializeToString())


def read_data(task_folder: Path, dataset: str = FIRST_DATASET) -> Data:
    """A data set of a task, as it was written; its test part may be empty."""
    folder = task_folder / dataset
    held = _read(split_shards(folder, "validation")) if (folder / "validation").is_dir() else None
    train = _read(split_shards(folder, "train"))
    has_test = (folder / "test").is_dir()
    test = _read(split_shards(folder, "test")) if has_test else train.take(np.arange(0))
    return Data(train, test, held)


def _read(shards: list[Path]) -> Split:
    images, labels = zip(*load_dataset(shards).batch(1_000).as_numpy_iterator())
    return Split(np.concatenate(images), np.concatenate(labels))


def _bytes(value: bytes) -> tf.train.Feature:
    return tf.train.Feature(bytes_list=tf.train.BytesList(value=[value]))
