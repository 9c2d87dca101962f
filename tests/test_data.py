"""Training data is read once, whole or as a uniform sample of the whole."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow as tf
from corpora import dataset, examples

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
    assert training_data(data) is first
    assert len(reads) == 40
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


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        (lambda: dataset(*examples(4, (3,), 2)).take(0), "the dataset is empty"),
        (lambda: dataset(*examples(40, (3,), 2)).batch(8), r"shape \[8\] per example"),
        (
            lambda: tf.data.Dataset.from_tensor_slices((np.zeros((4, 2), np.float32), np.eye(4))),
            r"type float64 and shape \[4\] per example",
        ),
        (
            lambda: tf.data.Dataset.from_tensor_slices((np.zeros((4, 2), int), np.arange(4))),
            "the inputs have type int",
        ),
        (
            lambda: dataset(np.zeros((3, 2)), np.zeros(3)).concatenate(
                dataset(np.zeros((3, 4)), np.zeros(3))
            ),
            "cannot be read after 0 examples .*different shapes",
        ),
    ],
)
def test_what_is_wrong_with_a_dataset_is_named(bad, message):
    with pytest.raises(MeasureError, match=message):
        training_data(bad())
