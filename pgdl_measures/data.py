"""TrainingData: the training examples, read once into tensors from any usual form of data.

In the competition a dataset yields single examples of unknown static shape, in shard order; what
else can be read is said in `data_forms`. Inputs are taken as the network takes them: integers
become floats of the same value. Labels are classes 0, 1, … or one-hot. A task hands the same
dataset object to the measure of every model, so the last one read is kept.
"""

from __future__ import annotations

import contextlib
import functools
import weakref
import zlib
from collections.abc import Collection, Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import tensorflow as tf
from absl import logging

from pgdl_measures.data_forms import read_batches
from pgdl_measures.errors import MeasureError
from pgdl_measures.tensor_cache import TensorCache

DEFAULT_MAX_BYTES = 2 * 1024**3


@dataclass(frozen=True)
class TrainingData:
    """The examples that measures see."""

    inputs: tf.Tensor  # [examples, ...] float32
    labels: tf.Tensor  # [examples] int32
    total: int  # examples of the dataset: more than are kept where memory is limited
    max_bytes: int = DEFAULT_MAX_BYTES  # for the inputs and what is computed from each of them

    def __len__(self) -> int:
        return int(self.labels.shape[0])

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of one input."""
        return tuple(self.inputs.shape[1:])

    @property
    def spare_bytes(self) -> int:
        """What a network may compute from each example and keep for a while."""
        return min(self.max_bytes // 4, self._left // 2)

    @functools.cached_property
    def cache(self) -> TensorCache:
        """What is computed from the examples alone, for all networks."""
        return TensorCache(self._left // 2)

    @functools.cached_property
    def seen(self) -> dict[Hashable, list[float]]:
        """Statistics of the networks that were measured before on these examples."""
        return {}

    @property
    def _left(self) -> int:
        return max(0, self.max_bytes - 4 * int(tf.size(self.inputs, tf.int64)))

    @functools.cached_property
    def class_counts(self) -> dict[int, int]:
        """Examples per class, of the classes that occur."""
        classes, counts = np.unique(self.labels.numpy(), return_counts=True)
        return dict(zip(classes.tolist(), counts.tolist()))


_last: tuple[list[weakref.ref[Any]], tuple[int, ...], TrainingData] | None = None


def training_data(
    dataset: Any,
    *,
    max_bytes: int = DEFAULT_MAX_BYTES,
    seed: int = 0,
    example_rank: int | None = None,
) -> TrainingData:
    """Reads the dataset, or returns what was read of the same object before.

    Inputs that take more than `max_bytes` are replaced by a uniform sample without replacement from
    the whole dataset, drawn while it is read (reservoir sampling): the memory in use never exceeds
    the limit by more than one read and the copy into a tensor. `example_rank`, the number of
    dimensions of one input if the model knows it, distinguishes a batch from an example.
    """
    global _last
    if isinstance(dataset, TrainingData):
        return dataset
    parts = list(dataset) if isinstance(dataset, tuple) else [dataset]
    key = (max_bytes, seed, *(_checksum(part) for part in parts if isinstance(part, np.ndarray)))
    if _last is not None and _last[1] == key and _are(_last[0], parts):
        return _last[2]
    _last = None  # frees the memory of the last data first
    data = decode(dataset, max_bytes, seed, example_rank)
    with contextlib.suppress(TypeError):  # a list, for example, may change unnoticed
        _last = [weakref.ref(part) for part in parts], key, data
    return data


def _are(known: Sequence[weakref.ref[Any]], parts: Sequence[Any]) -> bool:
    return len(known) == len(parts) and all(ref() is part for ref, part in zip(known, parts))


def _checksum(array: np.ndarray) -> int:
    """Arrays can be changed in place, and then they are other data."""
    if array.dtype.kind not in "fiub":  # dates and objects have no buffer; they are refused later
        return zlib.crc32(array.tobytes())
    return zlib.crc32(np.ascontiguousarray(array).data)


def decode(dataset: Any, max_bytes: int, seed: int, example_rank: int | None) -> TrainingData:
    rng = np.random.default_rng(seed)
    inputs = labels = np.empty(0)
    capacity = total = 0
    try:
        for batch in read_batches(dataset, example_rank):
            batch_inputs, batch_labels = _inputs(batch[0]), _labels(batch[1])
            if not total:
                capacity = max(1, max_bytes // max(1, batch_inputs[0].nbytes))
                # Memory is taken by the system page by page, as the rows are filled.
                inputs = np.empty((capacity, *batch_inputs.shape[1:]), np.float32)
                labels = np.empty(capacity, np.int32)
            elif batch_inputs.shape[1:] != inputs.shape[1:]:
                raise MeasureError(
                    f"the inputs have different shapes: {list(inputs.shape[1:])}, and from example "
                    f"{total} on {list(batch_inputs.shape[1:])}"
                )
            if not np.isfinite(batch_inputs).all():
                raise MeasureError(_not_finite(batch_inputs, total))
            slots = np.arange(total, total + len(batch_labels))
            late = slots >= capacity
            slots[late] = rng.integers(0, slots[late] + 1)
            in_sample = slots < capacity
            inputs[slots[in_sample]] = batch_inputs[in_sample]
            labels[slots[in_sample]] = batch_labels[in_sample]
            total += len(batch_labels)
    except tf.errors.OpError as error:
        raise MeasureError(
            f"the dataset cannot be read after {total} examples (inputs must have one shape): "
            f"{error.message.splitlines()[0]}"
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
    return TrainingData(tf.constant(inputs[:count]), tf.constant(labels[:count]), total, max_bytes)


def check_labels(labels: Iterable[int], outputs: int) -> None:
    """Raises where a label that occurs is not among the outputs of a network."""
    low, high = min(labels), max(labels)
    if low < 0 or high >= outputs or outputs < 2:
        hint = ": subtract 1 from them" if (low, high) == (1, outputs) else ""
        raise MeasureError(
            f"the labels go from {low} to {high}; the model is of {outputs} classes, "
            f"0 to {outputs - 1}{hint}"
        )


def check_images(shape: Sequence[int], channels: Collection[int] | None = None) -> None:
    """Raises where inputs of this shape are not images, or not of these numbers of channels."""
    if len(shape) == 3 and shape[0] in (1, 3, 4) and shape[0] < min(shape[1:]) and shape[2] > 4:
        raise MeasureError(
            f"the inputs have shape {list(shape)}, channels first; this measure needs images "
            "[height, width, channels]: put a Permute((3, 1, 2)) layer in front of the model"
        )
    if len(shape) != 3 or (channels is not None and shape[-1] not in channels):
        some = "" if channels is None else f" with {channels} channels"
        raise MeasureError(
            f"the inputs have shape {list(shape)}; this measure needs images, "
            f"[height, width, channels]{some}"
        )


def _not_finite(inputs: np.ndarray, before: int) -> str:
    """NaN must not get into a network: a relu or a maximum may make numbers of it."""
    finite = np.isfinite(inputs.reshape(len(inputs), -1)).all(axis=1)
    number = before + int(np.argmin(finite))
    return f"the inputs of example {number} are NaN or infinite, or too large for a float32"


def _inputs(inputs: np.ndarray) -> np.ndarray:
    """As a network takes them, float32: Keras makes floats of bytes and does not scale them."""
    if inputs.dtype.kind not in "fiub":
        raise MeasureError(f"the inputs have type {inputs.dtype}; expected numbers")
    with np.errstate(over="ignore"):  # too large becomes infinite, which is refused
        return inputs.astype(np.float32, copy=False)


def _labels(labels: np.ndarray) -> np.ndarray:
    """Classes `[n]` of classes, of classes `[n, 1]`, or of one-hot labels `[n, classes]`."""
    found = f"the labels have type {labels.dtype} and shape {list(labels.shape[1:])} per example"
    if labels.dtype.kind not in "fiub":
        raise MeasureError(f"{found}; expected classes as numbers 0, 1, …")
    if labels.ndim == 2 and labels.shape[1] > 1:
        if not (np.isin(labels, (0, 1)).all() and (labels.sum(axis=1) == 1).all()):
            raise MeasureError(
                f"{found} and are not one-hot; expected one class for each example: measures do "
                "not support soft labels, several labels or regression"
            )
        return labels.argmax(axis=1)
    if labels.size != len(labels):
        raise MeasureError(f"{found}; expected one class for each example")
    labels = labels.reshape(len(labels))
    if labels.dtype.kind == "f" and not (labels == np.floor(labels)).all():
        broken = labels[labels != np.floor(labels)][0]
        raise MeasureError(
            f"the labels are numbers such as {broken:g}, as in regression; measures need "
            "a classifier, with labels 0, 1, …"
        )
    limits = np.iinfo(np.int32)  # a label beyond them would become another one
    beyond = labels[(labels < limits.min) | (labels > limits.max)]
    if len(beyond):
        raise MeasureError(f"the labels have values such as {beyond[0]}; expected classes 0, 1, …")
    return labels
