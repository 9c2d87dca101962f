"""TrainingData: the contract's dataset read once into tensors (design, section 3).

The dataset yields single examples of unknown static shape, in shard order. A task hands the same
dataset object to the measure of every model, so the last one read is kept.
"""

from __future__ import annotations

import functools
import weakref
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import tensorflow as tf
from absl import logging

from pgdl_measures.errors import MeasureError

DEFAULT_MAX_BYTES = 2 * 1024**3
_READ = 512  # examples decoded at a time


@dataclass(frozen=True)
class TrainingData:
    """The examples that measures see."""

    inputs: tf.Tensor  # [examples, ...] float32
    labels: tf.Tensor  # [examples] int32
    total: int  # examples of the dataset: more than are kept where memory is limited

    def __len__(self) -> int:
        return int(self.labels.shape[0])

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of one input."""
        return tuple(self.inputs.shape[1:])

    @functools.cached_property
    def class_counts(self) -> dict[int, int]:
        """Examples per class, of the classes that occur."""
        classes, counts = np.unique(self.labels.numpy(), return_counts=True)
        return dict(zip(classes.tolist(), counts.tolist()))


_last: tuple[weakref.ref[Any], tuple[int, int], TrainingData] | None = None


def training_data(
    dataset: tf.data.Dataset, *, max_bytes: int = DEFAULT_MAX_BYTES, seed: int = 0
) -> TrainingData:
    """Reads the dataset, or returns what was read of the same object before.

    Inputs that take more than `max_bytes` are replaced by a uniform sample without replacement from
    the whole dataset, drawn while it is read (reservoir sampling): the memory in use never exceeds
    the limit by more than one read and the copy into a tensor.
    """
    global _last
    if _last is not None and _last[0]() is dataset and _last[1] == (max_bytes, seed):
        return _last[2]
    _last = None  # what was read before makes room first
    data = _read(dataset, max_bytes, seed)
    _last = (weakref.ref(dataset), (max_bytes, seed), data)
    return data


def _read(dataset: tf.data.Dataset, max_bytes: int, seed: int) -> TrainingData:
    rng = np.random.default_rng(seed)
    inputs = labels = np.empty(0)
    capacity = total = 0
    try:
        for batch_inputs, batch_labels in dataset.batch(_READ).as_numpy_iterator():
            if not total:
                _check_element(batch_inputs, batch_labels)
                capacity = max(1, max_bytes // max(1, batch_inputs[0].nbytes))
                # Memory is taken by the system page by page, as the rows are filled.
                inputs = np.empty((capacity, *batch_inputs.shape[1:]), np.float32)
                labels = np.empty(capacity, np.int32)
            if not np.isfinite(batch_inputs).all():
                raise MeasureError(_not_finite(batch_inputs, total))
            batch_labels = batch_labels.reshape(len(batch_labels))
            slots = np.arange(total, total + len(batch_labels))
            late = slots >= capacity
            slots[late] = rng.integers(0, slots[late] + 1)
            kept = slots < capacity
            inputs[slots[kept]], labels[slots[kept]] = batch_inputs[kept], batch_labels[kept]
            total += len(batch_labels)
    except tf.errors.OpError as error:
        raise MeasureError(
            f"the dataset cannot be read after {total} examples (expected an unbatched one, whose "
            f"inputs have one shape): {error.message.splitlines()[0]}"
        ) from error
    if not total:
        raise MeasureError("the dataset is empty; a measure needs the training examples")
    count = min(total, capacity)
    if count < total:
        logging.warning(
            "the inputs take more than %d bytes: using %d of %d examples, drawn uniformly",
            max_bytes,
            count,
            total,
        )
    return TrainingData(tf.constant(inputs[:count]), tf.constant(labels[:count]), total)


def check_labels(labels: Iterable[int], outputs: int) -> None:
    """Raises where a label that occurs is not among the outputs of a network."""
    low, high = min(labels), max(labels)
    if low < 0 or high >= outputs or outputs < 2:
        raise MeasureError(f"the labels go from {low} to {high}; the model has {outputs} outputs")


def check_images(shape: Sequence[int], channels: Collection[int] | None = None) -> None:
    """Raises where inputs of this shape are not images, or not of these numbers of channels."""
    if len(shape) != 3 or (channels is not None and shape[-1] not in channels):
        some = "" if channels is None else f" with {channels} channels"
        raise MeasureError(
            f"the inputs have shape {list(shape)}; this measure is of images, "
            f"[height, width, channels]{some}"
        )


def _not_finite(inputs: np.ndarray, before: int) -> str:
    """NaN must not get into a network: a relu or a maximum may make numbers of it."""
    finite = np.isfinite(inputs.reshape(len(inputs), -1)).all(axis=1)
    return f"the inputs of example {before + int(np.argmin(finite))} are NaN or infinite"


def _check_element(inputs: np.ndarray, labels: np.ndarray) -> None:
    if not np.issubdtype(labels.dtype, np.integer) or labels.size != len(labels):
        raise MeasureError(
            f"the labels have type {labels.dtype} and shape {list(labels.shape[1:])} per example; "
            "expected one integer per example (an unbatched dataset, no one-hot labels)"
        )
    if not np.issubdtype(inputs.dtype, np.floating):
        raise MeasureError(f"the inputs have type {inputs.dtype}; expected floats")
