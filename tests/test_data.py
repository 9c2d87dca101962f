"""Training data is read once, in any form, whole or as a uniform sample of the whole."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from corpora import dataset, examples

from pgdl_measures.base import Subject
from pgdl_measures.data import training_data
from pgdl_measures.errors import MeasureError

pytestmark = pytest.mark.keras2


def counted(inputs: np.ndarray, labels: np.ndarray) -> tuple[tf.data.Dataset, list[int]]:
    """A dataset that notes how many examples were read from it."""
    reads: list[int] = []

    def generate():
        for x, y in zip(inputs, labels):
            reads.append(1)
            yield x, y

    types = (tf.TensorSpec(None, tf.float32), tf.TensorSpec(None, tf.int32))
    return tf.data.Dataset.from_generator(generate, output_signature=types), reads


def test_a_dataset_of_unknown_shapes_becomes_tensors_in_its_order():
    inputs, labels = examples(1100, (3, 2, 4), 37)
    data = training_data(dataset(inputs, labels))
    np.testing.assert_array_equal(data.inputs, inputs)
    np.testing.assert_array_equal(data.labels, labels)
    assert data.shape == (3, 2, 4)
    assert data.class_counts == dict(zip(*np.unique(labels, return_counts=True)))


def test_the_same_dataset_object_is_read_once():
    data, reads = counted(*examples(40, (3,), 2))
    first = training_data(data)
    assert len(reads) == 40 + 1  # the first tells whether it is an example or a batch
    assert training_data(data) is first
    assert len(reads) == 40 + 1
    other, _ = counted(*examples(40, (3,), 2, seed=1))
    assert training_data(other) is not first


def test_labels_of_shape_one_are_labels():
    inputs, labels = examples(30, (3,), 2)
    np.testing.assert_array_equal(training_data(dataset(inputs, labels[:, None])).labels, labels)


def test_memory_is_bounded_by_a_sample_without_replacement():
    inputs = np.arange(2000, dtype=np.float32)[:, None]
    labels = np.zeros(2000, np.int32)
    data = training_data(dataset(inputs, labels), max_bytes=4 * 300)
    assert len(data) == 300
    assert data.total == 2000
    assert len(np.unique(data.inputs)) == 300


def test_the_sample_is_uniform_over_the_whole_dataset():
    source = dataset(np.arange(60, dtype=np.float32)[:, None], np.zeros(60, np.int32))
    counts = np.zeros(60)
    for seed in range(400):
        counts[training_data(source, max_bytes=80, seed=seed).inputs.numpy()[:, 0].astype(int)] += 1
    # 20 of 60 each time: 133.3 expected, standard deviation 9.4.
    assert abs(counts - 400 / 3).max() < 45
    assert counts[:20].mean() == pytest.approx(counts[40:].mean(), rel=0.06)


def test_labels_and_inputs_stay_together_in_a_sample():
    inputs = np.arange(900, dtype=np.float32)[:, None]
    data = training_data(dataset(inputs, np.arange(900, dtype=np.int32)), max_bytes=400)
    np.testing.assert_array_equal(data.inputs.numpy()[:, 0], data.labels.numpy())


class Batches(tf.keras.utils.Sequence):
    """A PyDataset (Keras 3) or Sequence (Keras 2) that yields its parts 32 at a time."""

    def __init__(self, *parts: np.ndarray) -> None:
        super().__init__()
        self.parts = parts

    def __len__(self) -> int:
        return -(-len(self.parts[0]) // 32)

    def __getitem__(self, i: int) -> tuple[np.ndarray, ...]:
        return tuple(part[32 * i : 32 * (i + 1)] for part in self.parts)


class Counted(tf.keras.utils.Sequence):
    """A PyDataset that tells its length as Keras 3 prefers, or not at all."""

    def __init__(self, count: int | None) -> None:
        super().__init__()
        self.count = count

    @property
    def num_batches(self) -> int | None:
        return self.count

    def __getitem__(self, i: int) -> tuple[np.ndarray, ...]:
        return X[32 * i : 32 * (i + 1)], Y[32 * i : 32 * (i + 1)]


class Unending(tf.keras.utils.Sequence):
    """A PyDataset that does not tell its length."""

    def __getitem__(self, i: int) -> tuple[np.ndarray, ...]:
        return X, Y


class Table:
    """What of a table of Hugging Face's `datasets` is used: named columns, slices of rows."""

    def __init__(self, **columns: Any) -> None:
        self.columns, self.column_names = columns, list(columns)
        self.features = dict.fromkeys(columns)

    def __len__(self) -> int:
        return len(self.columns[self.column_names[0]])

    def __getitem__(self, rows: slice) -> dict[str, Any]:
        return {name: list(column[rows]) for name, column in self.columns.items()}


X, Y = examples(100, (6, 5, 3), 4)
BYTES = np.random.default_rng(0).integers(0, 256, X.shape).astype(np.uint8)
ONE_HOT = np.eye(4, dtype=np.float32)[Y]
slices = tf.data.Dataset.from_tensor_slices


@pytest.mark.parametrize(
    "form",
    [
        pytest.param(lambda x: dataset(x, Y), id="the competition's"),
        pytest.param(lambda x: dataset(x, Y).batch(16), id="the same, batched"),
        pytest.param(lambda x: slices((x, Y)), id="tf.data"),
        pytest.param(lambda x: slices((x, Y)).batch(16), id="tf.data, batched"),
        pytest.param(lambda x: slices((x, ONE_HOT)), id="tf.data, one-hot"),
        pytest.param(lambda x: slices((x, ONE_HOT)).batch(16), id="tf.data, one-hot, batched"),
        pytest.param(lambda x: slices((x, Y[:, None])), id="tf.data, labels of shape 1"),
        pytest.param(lambda x: slices((x, Y, np.ones(100))), id="tf.data with weights"),
        pytest.param(lambda x: slices((x, Y, np.ones(100))).batch(16), id="the same, batched"),
        pytest.param(lambda x: (x, Y), id="arrays"),
        pytest.param(lambda x: (x, ONE_HOT.astype(int)), id="arrays, one-hot"),
        pytest.param(lambda x: (x, Y.astype(np.float32)), id="arrays, whole floats as labels"),
        pytest.param(lambda x: (x, Y, np.ones(100)), id="arrays with weights"),
        pytest.param(lambda x: (list(x), Y.tolist()), id="lists"),
        pytest.param(lambda x: (tf.constant(x), tf.constant(Y)), id="tensors"),
        pytest.param(lambda x: Batches(x, Y), id="PyDataset"),
        pytest.param(lambda x: Batches(x, ONE_HOT, np.ones(100)), id="PyDataset with weights"),
        pytest.param(lambda x: Table(image=x, label=Y), id="table"),
        pytest.param(lambda x: Table(id=Y, label=Y, img=x), id="table with an id"),
    ],
)
@pytest.mark.parametrize("inputs", [X, BYTES], ids=["floats", "bytes"])
def test_every_usual_form_is_the_same_data(form, inputs):
    model = tf.keras.Sequential([tf.keras.layers.Flatten(), tf.keras.layers.Dense(4)])
    model.build((None, *X.shape[1:]))
    data = Subject(model, form(inputs)).data
    np.testing.assert_array_equal(data.inputs, inputs.astype(np.float32))
    np.testing.assert_array_equal(data.labels, Y)


def test_a_py_dataset_tells_its_length_in_either_way():
    np.testing.assert_array_equal(training_data(Counted(4)).labels, Y)
    for unending in (Counted(None), Unending()):
        with pytest.raises(MeasureError, match="does not say how many batches it has"):
            training_data(unending)


def test_the_model_tells_one_hot_labels_from_a_batch():
    """Inputs of 4 numbers and 4 classes: by their shapes alone, elements may be batches of 4."""
    inputs, labels = examples(100, (4, 2), 4)
    model = tf.keras.Sequential([tf.keras.layers.Flatten(), tf.keras.layers.Dense(4)])
    model.build((None, 4, 2))
    data = Subject(model, slices((inputs, np.eye(4)[labels]))).data
    np.testing.assert_array_equal(data.inputs, inputs)
    np.testing.assert_array_equal(data.labels, labels)


def test_arrays_that_changed_are_read_again():
    inputs = X.copy()
    first = training_data((inputs, Y))
    assert training_data((inputs, Y)) is first
    inputs *= 2
    np.testing.assert_array_equal(training_data((inputs, Y)).inputs, 2 * X)


def test_a_table_of_hugging_face_is_read():
    datasets = pytest.importorskip("datasets", reason="needs `pip install datasets`")
    image = pytest.importorskip("PIL.Image")
    features = datasets.Features(
        {
            "image": datasets.Image(),
            "digit": datasets.ClassLabel(4),
            "name": datasets.Value("int32"),
        }
    )
    grey = [features["image"].encode_example(image.fromarray(x[..., 0])) for x in BYTES]
    columns = {"image": grey, "digit": Y, "name": Y}
    arrow = datasets.table.InMemoryTable.from_pydict(columns, schema=features.arrow_schema)
    table = datasets.Dataset(arrow, fingerprint="of this test")
    data = training_data(table)
    np.testing.assert_array_equal(data.inputs, BYTES[..., :1])
    np.testing.assert_array_equal(data.labels, Y)
    with pytest.raises(MeasureError, match=r"dict with the keys train, test; .* one of its splits"):
        training_data(datasets.DatasetDict(train=table, test=table))
    with pytest.raises(MeasureError, match="is streamed"):
        training_data(table.to_iterable_dataset())


SOFT = np.full((100, 4), 0.25)


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        (lambda: dataset(*examples(4, (3,), 2)).take(0), "the dataset is empty"),
        (lambda: (X[:0], Y[:0]), "the dataset is empty"),
        (lambda: slices({"image": X, "label": Y}), "are dicts with the keys image, label; exp"),
        (lambda: slices(({"a": X, "b": X}, Y)), "inputs have 2 parts; .* with one input"),
        (lambda: slices(((X, X), Y)).batch(8), "inputs have 2 parts; .* with one input"),
        (lambda: slices((X, (Y, Y, Y))), "labels have 3 parts; .* with one output"),
        (lambda: ([X, X], Y), "inputs have 2 parts; .* with one input"),
        (lambda: (X, [Y, Y]), "labels have 2 parts; .* with one output"),
        (lambda: Batches(X), "elements have 1 parts"),
        (lambda: slices(X), "has inputs but no labels"),
        (lambda: {"train": X, "test": X}, "is a dict with the keys train, test; .* splits"),
        (lambda: X, r"dataset is of <class 'numpy.ndarray'>; expected a tf.data.Dataset or"),
        (lambda: iter([(X, Y)]), "dataset is of <class 'list_iterator'>; expected a tf.data"),
        (lambda: (X, X[:, 0, 0, 0]), r"such as -?\d.*, as in regression"),
        (lambda: slices((X, X[:, 0, 0, 0])).batch(8), r"such as -?\d.*, as in regression"),
        (lambda: slices((X, SOFT)), r"shape \[4\] per example and are not one-hot"),
        (lambda: slices((X, X)).batch(8), r"shape \[6, 5, 3\] per example; expected one class"),
        (lambda: (X, Y.astype(str)), "expected classes as numbers"),
        (lambda: (X.astype(str), Y), "the inputs have type <U.*; expected numbers"),
        (lambda: (X, Y[:50]), r"shape \[100, 6, 5, 3\] and the labels \[50\]"),
        (lambda: ([X[0], X[0, :4]], [0, 1]), "have different shapes"),
        (lambda: slices((X, Y)).repeat(), r"never ends; leave out its repeat\(\)"),
        (lambda: slices((tf.ragged.constant([[1.0], [2.0, 3.0]]), [0, 1])), "are ragged"),
        (lambda: Table(a=X, b=Y), "columns a, b; which are the inputs and the labels"),
        (lambda: Table(a=X, b=X, label=Y), "columns a, b, label; which are"),
        (
            lambda: dataset(np.zeros((3, 2)), np.zeros(3)).concatenate(
                dataset(np.zeros((3, 4)), np.zeros(3))
            ),
            "cannot be read after 0 examples .*different shapes",
        ),
        (
            lambda: slices((X, Y)).batch(50).concatenate(slices((X[:, 1:], Y)).batch(50)),
            r"different shapes: \[6, 5, 3\], and from example 100 on \[5, 5, 3\]",
        ),
    ],
)
def test_what_is_wrong_with_a_dataset_is_named(bad, message):
    with pytest.raises(MeasureError, match=message):
        training_data(bad())
