"""The measures of contrastive examples: what they say of networks whose answers are known."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow as tf
from corpora import dataset

from pgdl_measures import MeasureError, complexities, complexity
from pgdl_measures.base import Subject
from pgdl_measures.contre.examples import Sampling, contrastive_batches
from pgdl_measures.contre.fisher import fisher_ratio
from pgdl_measures.data import training_data
from pgdl_measures.perturbations.randaugment import draw, randaugment
from pgdl_measures.perturbations.value_range import from_levels, to_levels, value_range

pytestmark = pytest.mark.keras2

NAMES = [
    "contre_gap",
    "contre_accuracy",
    "contre_fisher",
    "contre_center_crop",
    "contre_random_crop",
    "contre_random_flip",
    "contre_random_rotation",
]


def disks(count: int = 300, size: int = 16, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Four classes of disks, by their radius, anywhere near the middle, on noise."""
    rng = np.random.default_rng(seed)
    labels = (np.arange(count) % 4).astype(np.int32)
    centre = size / 2 + rng.uniform(-2, 2, (count, 2))
    y, x = np.mgrid[:size, :size] + 0.5
    distance = np.hypot(x - centre[:, :1, None], y - centre[:, 1:, None])
    images = (distance < 1.5 + labels[:, None, None]) + 0.1 * rng.random((count, size, size))
    return images[..., None].astype(np.float32), labels


def dense(weights: np.ndarray, bias: np.ndarray, size: int = 16) -> tf.keras.Model:
    model = tf.keras.Sequential([tf.keras.layers.Flatten(), tf.keras.layers.Dense(len(bias))])
    model.build((None, size, size, 1))
    model.set_weights([weights, bias])
    return model


@pytest.fixture(scope="module")
def data():
    return dataset(*disks())


def memorizing(inputs: np.ndarray, labels: np.ndarray) -> tf.keras.Model:
    """Least squares on the pixels: right on its data by their noise, and wrong beside them."""
    flat = inputs.reshape(len(inputs), -1)
    weights, *_ = np.linalg.lstsq(
        np.pad(flat, [(0, 0), (0, 1)], constant_values=1.0), np.eye(4)[labels], rcond=None
    )
    return dense(weights[:-1], weights[-1])


def knowing(inputs: np.ndarray, labels: np.ndarray) -> tf.keras.Model:
    """Tells the classes by the mean of the image, which moving the disk does not change."""
    mean = inputs.mean(axis=(1, 2, 3))
    levels = np.array([mean[labels == k].mean() for k in range(4)])
    # The largest of 2 l m - l^2 is at the level l that is nearest to the mean m.
    return dense(np.tile(2 * levels / 256, (256, 1)), -(levels**2))


def test_larger_predicts_a_larger_gap_for_every_measure(data):
    inputs, labels = disks()
    good = complexities(NAMES)(knowing(inputs, labels), data)
    bad = complexities(NAMES)(memorizing(inputs, labels), data)
    for name in set(NAMES) - {"contre_center_crop", "contre_fisher"}:  # a mean grows with the disk
        assert good[name] < bad[name], name


def test_gap_and_accuracy_are_those_of_the_model_on_the_augmented_images(data):
    inputs, labels = disks()
    model = memorizing(inputs, labels)
    values = value_range(tf.constant(inputs))
    draws = draw(len(inputs), count=2, magnitude=20, seed=4)
    contrast = from_levels(randaugment(to_levels(inputs, values), draws), values)
    right = np.mean(np.argmax(model(contrast), axis=1) == labels)
    originally = np.mean(np.argmax(model(inputs), axis=1) == labels)
    found = complexities(["contre_gap", "contre_accuracy"], seed=4)(model, data)
    assert found == {
        "contre_gap": pytest.approx(originally - right),
        "contre_accuracy": pytest.approx(-right),
    }


def test_the_fisher_ratio_is_of_what_the_last_layer_takes(data):
    inputs, labels = disks()
    layers = tf.keras.layers
    model = tf.keras.Sequential(
        [
            layers.Conv2D(5, 3, activation="relu"),
            layers.Conv2D(4, 1),
            layers.GlobalAveragePooling2D(),
        ]
    )
    model.build((None, 16, 16, 1))
    features = np.asarray(model.layers[0](inputs)).mean(axis=(1, 2))
    found = complexity("contre_fisher", count=0)(model, data)
    assert found == pytest.approx(-fisher_ratio(features, labels), rel=1e-3)
    assert complexity("contre_fisher")(model, data) > found  # operations blur the classes


def test_operations_can_be_named_and_no_operation_is_no_change(data):
    model = memorizing(*disks())
    alone = complexity("contre_accuracy", operations=("RandomFlip",))(model, data)
    assert alone == complexity("contre_random_flip")(model, data)
    text = complexity("contre_accuracy", operations="Rotate, Color", magnitude=9)(model, data)
    names = complexity("contre_accuracy", operations=["Rotate", "Color"], magnitude=9)(model, data)
    assert text == names
    assert complexity("contre_gap", operations=())(model, data) == 0
    assert complexity("contre_gap", count=0)(model, data) == 0
    assert complexity("contre_gap", operations="TranslateXabs")(model, data) > 0.5  # all is black


def test_a_sample_of_the_examples_can_be_used(data):
    read = training_data(data)
    values = value_range(read.inputs)
    ((some, labels),) = contrastive_batches(read, values, Sampling(0, 0.0, None, 40, 0))
    assert len(labels) == 40
    places = (read.inputs.numpy()[:, None] == some.numpy()).all(axis=(2, 3, 4))
    assert places.any(axis=0).all() and (places.sum(axis=1) <= 1).all()
    with pytest.raises(MeasureError, match="examples is 0; expected an integer of at least 1"):
        complexity("contre_gap", examples=0)(memorizing(*disks()), data)


def test_batches_change_nothing(data, monkeypatch):
    model = memorizing(*disks())
    whole = complexities(NAMES)(model, data)
    monkeypatch.setattr("pgdl_measures.contre.examples.BATCH_ELEMENTS", 16 * 16 * 37)
    parts = complexities(NAMES)(model, data)
    assert parts == {name: pytest.approx(value, rel=1e-5) for name, value in whole.items()}


def test_work_that_measures_share_is_done_once_and_counted_for_each(data):
    subject = Subject(memorizing(*disks()), data)
    complexity("contre_accuracy").on(subject)
    assert subject.reused_seconds == 0
    complexity("contre_gap").on(subject)
    assert subject.reused_seconds > 0
    keys = [key for key, _ in subject.shared()]
    assert sum(key[0] == "contre_accuracy" for key in keys) == keys.count("unperturbed") == 1


def test_what_cannot_be_measured_is_said(data):
    with pytest.raises(MeasureError, match=r"shape \[16, 16, 2\]; .* \(1, 3, 4\) channels"):
        two = np.zeros((8, 16, 16, 2), np.float32)
        flat = tf.keras.Sequential([tf.keras.layers.Flatten(), tf.keras.layers.Dense(4)])
        flat.build((None, 16, 16, 2))
        complexity("contre_gap")(flat, dataset(two, np.arange(8, dtype=np.int32) % 4))
    with pytest.raises(MeasureError, match=r"weights .* are NaN"):
        complexity("contre_gap")(dense(np.full((256, 4), np.nan), np.zeros(4)), data)
    with pytest.raises(MeasureError, match="labels go from 0 to 3; the model is of 2 classes"):
        complexity("contre_gap")(dense(np.zeros((256, 2)), np.zeros(2)), data)
    inputs = tf.keras.Input((16, 16, 1))
    flat = tf.keras.layers.Flatten()(inputs)
    branches = tf.keras.layers.add([tf.keras.layers.Dense(4)(flat) for _ in range(2)])
    functional = tf.keras.Model(inputs, branches)
    for name in ("contre_gap", "contre_fisher"):
        assert np.isfinite(complexity(name)(functional, data))
