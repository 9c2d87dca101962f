"""Training data in its usual forms, as batches of (inputs, labels).

`tf.data` (batched or not), `(inputs, labels)` arrays, a Keras `PyDataset` (`Sequence` in Keras 2)
and a Hugging Face table with named columns are read in the order they have. Sample weights are left
out: a measure looks at every example alike. Anything else is refused with one sentence.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from pgdl_measures.errors import MeasureError

FORMS = (
    "a tf.data.Dataset or a Keras PyDataset of (inputs, label), a tuple (inputs, labels) of "
    "arrays, or a Hugging Face table with a column of images and one of labels"
)
Batch = tuple[np.ndarray, np.ndarray]

_READ = 512  # examples read at a time
_LABELS = ("label", "labels", "target", "y")  # as columns are named
_INPUTS = ("image", "img", "pixel_values", "inputs", "x")


def read_batches(dataset: Any, example_rank: int | None = None) -> Iterator[Batch]:
    """The examples, a batch at a time: inputs `[n, ...]` and labels `[n]` or `[n, ...]`.

    `example_rank`, the number of dimensions of one input if the model knows it, decides whether an
    element of a `tf.data.Dataset` is an example or a batch of them.
    """
    if isinstance(dataset, tf.data.Dataset):
        return _of_tf_data(dataset, example_rank)
    if isinstance(dataset, tf.keras.utils.Sequence):  # PyDataset, in Keras 3
        return _of_py_dataset(dataset)
    if isinstance(dataset, tuple):
        return _of_arrays(dataset)
    if hasattr(dataset, "column_names") and hasattr(dataset, "features"):
        return _of_table(dataset)
    if isinstance(dataset, Mapping):
        raise MeasureError(
            f"the dataset is a dict with the keys {_list(dataset)}; expected {FORMS}. "
            "Give one of its splits, or its arrays as (inputs, labels)"
        )
    raise MeasureError(f"the dataset is of {type(dataset)}; expected {FORMS}")


def _of_tf_data(dataset: tf.data.Dataset, example_rank: int | None) -> Iterator[Batch]:
    if dataset.cardinality() == tf.data.INFINITE_CARDINALITY:
        raise MeasureError("the dataset never ends; leave out its repeat(), or take() a part of it")
    specs = _pair(dataset.element_spec)
    pairs = dataset.map(lambda *element: element[:2]) if len(dataset.element_spec) > 2 else dataset
    if any(spec.shape.rank is None for spec in specs):  # as those of the competition are
        first = next(iter(pairs.take(1).as_numpy_iterator()), None)
        if first is None:
            return
        inputs, labels = (part.shape for part in first)
    else:
        inputs, labels = (tuple(spec.shape) for spec in specs)
    if not _is_batch(inputs, labels, example_rank):
        pairs = pairs.batch(_READ)
    yield from pairs.as_numpy_iterator()


def _is_batch(
    inputs: Sequence[int | None], labels: Sequence[int | None], example_rank: int | None
) -> bool:
    """Whether an element of these shapes is a batch: then inputs and labels have one length."""
    if not inputs or not labels or (inputs[0] != labels[0] and None not in (inputs[0], labels[0])):
        return False
    return len(inputs) > 1 if example_rank is None else len(inputs) == example_rank + 1


def _of_py_dataset(dataset: Any) -> Iterator[Batch]:
    count = _batch_count(dataset)
    for i in range(count):
        yield _arrays(*_pair(dataset[i]))


def _batch_count(dataset: Any) -> int:
    """The batches of a PyDataset: their number is its `num_batches` or its length."""
    try:
        count = dataset.num_batches if hasattr(type(dataset), "num_batches") else len(dataset)
    except (NotImplementedError, TypeError):
        count = None
    if count is None:
        raise MeasureError(
            f"the {type(dataset).__name__} does not say how many batches it has; give it a __len__"
        )
    return int(count)


def _of_arrays(dataset: tuple[Any, ...]) -> Iterator[Batch]:
    inputs, labels = _arrays(*_pair(dataset))
    for start in range(0, len(labels), _READ):
        yield inputs[start : start + _READ], labels[start : start + _READ]


def _of_table(table: Any) -> Iterator[Batch]:
    if not hasattr(table, "__len__"):
        raise MeasureError(
            "the Hugging Face dataset is streamed; give a table (load it without streaming=True)"
        )
    inputs, labels = _columns(table)
    for start in range(0, len(table), _READ):
        rows = table[start : start + _READ]
        images = [_with_channels(image) for image in rows[inputs]]
        yield _arrays(images, rows[labels])


def _columns(table: Any) -> tuple[str, str]:
    """The names of the columns of inputs and of labels."""
    names, kinds = list(table.column_names), table.features or {}
    labels = [n for n in names if type(kinds.get(n)).__name__ == "ClassLabel"]
    labels = labels or [n for n in names if n in _LABELS]
    if len(labels) == 1:
        others = [n for n in names if n not in labels]
        images = [n for n in others if type(kinds.get(n)).__name__ == "Image" or n in _INPUTS]
        for inputs in (others, images):
            if len(inputs) == 1:
                return inputs[0], labels[0]
    raise MeasureError(
        f"the Hugging Face table has the columns {_list(names)}; which are the inputs and the "
        "labels? Keep these two: table.select_columns(['image', 'label'])"
    )


def _with_channels(image: Any) -> np.ndarray:
    """A Pillow image as an array; a grey one has no axis of channels."""
    array = np.asarray(image)
    is_pillow = hasattr(image, "getbands")
    return array[..., None] if is_pillow and array.ndim == 2 else array


def _pair(element: Any) -> tuple[Any, Any]:
    """Inputs and labels of an element, or of its description; its weights are left out."""
    if isinstance(element, Mapping):
        raise MeasureError(
            f"the dataset's elements are dicts with the keys {_list(element)}; expected (inputs, "
            "label), as dataset.map(lambda e: (e['image'], e['label'])) makes them"
        )
    if not isinstance(element, (tuple, list)):
        raise MeasureError("the dataset has inputs but no labels; expected (inputs, label)")
    if len(element) not in (2, 3):
        raise MeasureError(
            f"the dataset's elements have {len(element)} parts; expected (inputs, label) or "
            "(inputs, label, weight)"
        )
    inputs, labels = element[:2]
    for what, part, other, side in (
        ("inputs", inputs, labels, "input"),
        ("labels", labels, inputs, "output"),
    ):
        if count := _parts(part, other):
            raise MeasureError(
                f"the dataset's {what} have {count} parts; measures are of networks with one {side}"
            )
        if isinstance(part, (tf.RaggedTensorSpec, tf.SparseTensorSpec)):
            raise MeasureError(f"the dataset's {what} are ragged or sparse; expected plain tensors")
    return inputs, labels


def _parts(part: Any, other: Any) -> int:
    """How many tensors a part of an element has if it is not one; a list of examples is one."""
    if isinstance(part, Mapping):
        return len(part)
    if not isinstance(part, (tuple, list)):
        return 0
    examples = hasattr(other, "__len__") and len(part) == len(other)
    return 0 if examples and not isinstance(part[0], tf.TypeSpec) else len(part)


def _arrays(inputs: Any, labels: Any) -> Batch:
    try:
        arrays = np.asarray(inputs), np.asarray(labels)
    except ValueError as error:  # a list of arrays of several shapes
        raise MeasureError(f"the inputs or labels have different shapes ({error})") from error
    if not all(array.ndim for array in arrays) or len(arrays[0]) != len(arrays[1]):
        raise MeasureError(
            f"the inputs have shape {list(arrays[0].shape)} and the labels "
            f"{list(arrays[1].shape)}; expected as many labels as inputs"
        )
    return arrays


def _list(names: Any) -> str:
    return ", ".join(map(str, names)) or "none"
