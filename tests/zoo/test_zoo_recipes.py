"""Optimizers and schedules do what Keras' do; augmentation and dropout are drawn by seed."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow as tf

from ingestion.datasets.arrays import Data, Split
from ingestion.errors import ZooError
from ingestion.zoo.architectures import wide_resnet
from ingestion.zoo.optimizers import OPTIMIZERS
from ingestion.zoo.schedules import LearningRate, Schedule
from ingestion.zoo.standard import crop_flip, training_augmentation
from ingestion.zoo.training import Recipe, Target, Trainer

RNG = np.random.default_rng(0)


@pytest.mark.parametrize(
    ("name", "theirs"),
    [
        ("adam", lambda: tf.keras.optimizers.Adam(0.05)),
        ("sgd", lambda: tf.keras.optimizers.SGD(0.05, momentum=0.9)),
    ],
)
def test_optimizers_take_the_steps_of_keras(name: str, theirs: object) -> None:
    start, target = (RNG.normal(size=5).astype(np.float32) for _ in range(2))
    ours, keras = tf.Variable(start), tf.Variable(start)
    optimizer, settings = OPTIMIZERS[name]([ours]), {"learning_rate": 0.05, "momentum": 0.9}
    reference = theirs()  # type: ignore[operator]
    for step in range(10):
        optimizer.apply([ours - target], tf.constant(step), settings)
        reference.apply_gradients([(keras - target, keras)])
    np.testing.assert_allclose(ours, keras, rtol=1e-5)


def test_steps_are_at_their_shares_of_the_epochs() -> None:
    rate = LearningRate(0.1, Schedule("steps", 0.2, (0.3, 0.6, 0.8)), 200)
    rates = [rate.of(epoch) for epoch in (0, 59, 60, 119, 120, 160, 199)]
    assert rates == pytest.approx([0.1, 0.1, 0.02, 0.02, 0.004, 0.0008, 0.0008])
    assert LearningRate(0.1, Schedule("constant"), 10).of(9) == 0.1


def test_a_plateau_of_the_training_loss_reduces_the_learning_rate() -> None:
    """As PyTorch: after `patience` epochs without progress are over, and then counted anew."""
    rate = LearningRate(1.0, Schedule("plateau", 0.1, patience=2), 100)
    found = []
    for loss in (5.0, 4.0, 4.0, 3.9999, 4.1, 4.0, 4.0, 4.0, 1.0):
        rate.after(loss)
        found.append(rate.of(0))
    assert found == pytest.approx([1, 1, 1, 1, 0.1, 0.1, 0.1, 0.01, 0.01])


def test_every_crop_is_a_window_of_the_padded_image_or_of_its_mirror() -> None:
    images = RNG.random((6, 16, 16, 3)).astype(np.float32)
    changed = crop_flip(tf.constant(images), tf.constant([1, 2])).numpy()
    flips = 0
    for image, found in zip(images, changed):
        padded = np.pad(image, [(2, 2), (2, 2), (0, 0)])
        windows = [padded[i : i + 16, j : j + 16] for i in range(5) for j in range(5)]
        plain = any(np.allclose(window, found, atol=1e-6) for window in windows)
        mirrored = any(np.allclose(window[:, ::-1], found, atol=1e-6) for window in windows)
        assert plain or mirrored
        flips += mirrored
    assert 0 < flips < 6


@pytest.mark.parametrize("name", ["randaugment", "autoaugment", "rotation:partial"])
def test_augmentation_is_drawn_by_seed_within_the_range_of_the_data(name: str) -> None:
    images = RNG.random((32, 16, 16, 3)).astype(np.float32)
    change = training_augmentation(name, images)
    assert change is not None
    first, same, other = (
        change(tf.constant(images), tf.constant([1, s])).numpy() for s in (1, 1, 2)
    )
    assert np.array_equal(first, same) and not np.array_equal(first, other)
    assert first.min() >= images.min() - 1e-5 and first.max() <= images.max() + 1e-5
    kept = np.mean([np.abs(a - b).max() < 1 / 255 for a, b in zip(first, images)])
    assert (0.4 < kept < 0.9) if name == "autoaugment" else kept < 0.4  # half, or operations' luck


def test_dropout_in_a_network_with_branches_is_drawn_by_seed() -> None:
    layers = wide_resnet((8, 8, 1), 3, depth=8, factor=1, dropout=0.5, width_scale=0.25)
    labels = np.arange(32, dtype=np.int32) % 3
    images = RNG.random((32, 8, 8, 1)).astype(np.float32)
    config = {"model_config": layers, "input_shape": [8, 8, 1]}

    def final(trainer: Trainer, seed: int) -> np.ndarray:
        recipe = Recipe(seed, 0.01, 0.0, 2, Target(loss=1e-9))
        return np.concatenate([w.ravel() for w in trainer.train(recipe).final])

    used, fresh = (Trainer(config, images, labels, 16) for _ in range(2))
    other = final(used, 1)
    assert np.array_equal(final(used, 2), final(fresh, 2))
    assert not np.array_equal(other, final(fresh, 2))
    without = wide_resnet((8, 8, 1), 3, depth=8, factor=1, width_scale=0.25)
    plain = Trainer({**config, "model_config": without}, images, labels, 16)
    assert not np.array_equal(final(plain, 2), final(fresh, 2))


def test_layers_that_cannot_be_seeded_are_refused() -> None:
    layers = [
        {"layer_name": "Flatten"},
        {"layer_name": "GaussianNoise", "stddev": 0.1},
        {"layer_name": "Dense", "units": 3},
    ]
    images = np.zeros((4, 2, 2, 1), np.float32)
    with pytest.raises(ZooError, match=r"GaussianNoise\) draws at random"):
        Trainer(
            {"model_config": layers, "input_shape": [2, 2, 1]}, images, np.zeros(4, np.int32), 2
        )


def test_a_validation_share_is_held_out_in_proportion() -> None:
    labels = np.repeat(np.arange(4), 25).astype(np.int32)
    split = Split(np.arange(100, dtype=np.float32).reshape(100, 1, 1, 1), labels)
    data = Data(split, split).held_out(0.2)
    assert data.validation is not None
    assert (len(data.train), len(data.validation)) == (80, 20)
    both = np.concatenate([data.train.images, data.validation.images]).ravel()
    assert sorted(both) == list(range(100))
    assert np.bincount(data.validation.labels).tolist() == [5, 5, 5, 5]
    with pytest.raises(ZooError, match="leaves 1 to train on and 0 to validate"):
        Data(Split(split.images[:1], labels[:1]), split).held_out(0.05)
