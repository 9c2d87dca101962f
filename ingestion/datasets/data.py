"""The training data of a task as the dataset that a measure is given."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import tensorflow as tf

from ingestion.errors import CorpusError
from scoring.files import count_tfrecords

_FEATURES = {
    "inputs": tf.io.FixedLenFeature([], tf.string),
    "output": tf.io.FixedLenFeature([], tf.string),
}


def load_dataset(shards: Sequence[Path]) -> tf.data.Dataset:
    """An unbatched, unshuffled dataset of `(inputs float32, output int32)` of unknown shapes.

    The files are checked first, so that an error names its file, and comes before
    hours of work rather than in the middle of it.
    """
    for shard in shards:
        check_shard(shard)
    return _records(shards).map(_parse)


def check_shard(shard: Path) -> int:
    """The number of records of a whole TFRecord file whose first record is an example."""
    if not shard.is_file():
        raise CorpusError(shard, "is missing")
    try:
        records = count_tfrecords(shard)
    except OSError as error:
        raise CorpusError(shard, f"cannot be read ({error.strerror})") from error
    except ValueError as error:
        raise CorpusError(shard, str(error)) from error
    if not records:
        raise CorpusError(shard, "has no record")
    try:
        _parse(next(iter(_records([shard]).take(1))))
    except tf.errors.OpError as error:
        raise CorpusError(
            shard,
            "is not data of the competition: expected examples with a serialized float32 tensor "
            f"`inputs` and a serialized int32 tensor `output` ({error.message.splitlines()[0]})",
        ) from error
    return records


def _records(shards: Sequence[Path]) -> tf.data.Dataset:
    # As bytes: TensorFlow takes text for UTF-8, whatever the file system's encoding is.
    return tf.data.TFRecordDataset([os.fsencode(shard) for shard in shards])


def _parse(example: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
    record = tf.io.parse_single_example(example, _FEATURES)
    return (
        tf.io.parse_tensor(record["inputs"], tf.float32),
        tf.io.parse_tensor(record["output"], tf.int32),
    )
