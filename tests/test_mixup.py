"""Batches and pairs of Algorithm 3, against a plain NumPy version of it."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow as tf

from pgdl_measures.perturbations.mixup import draw_batches, draw_pairs

pytestmark = pytest.mark.keras2


def batches(examples: int, count: int, size: int, seed: int = 0) -> np.ndarray:
    return draw_batches(
        tf.constant(examples), tf.constant(count), tf.constant(size), tf.constant([seed, 0])
    ).numpy()


def algorithm_3(labels: np.ndarray, batch: np.ndarray, pairing: str) -> list[tuple[int, int]]:
    """One batch, one pair at a time."""
    batch = list(batch[: len(batch) // 2 * 2])
    if pairing == "intra":
        batch.sort(key=lambda i: labels[i])  # stable
    neighbours = zip(batch[::2], batch[1::2])
    return [(i, j) for i, j in neighbours if (labels[i] == labels[j]) == (pairing == "intra")]


@pytest.mark.parametrize("pairing", ["intra", "inter"])
@pytest.mark.parametrize("size", [2, 7, 32, 129])
@pytest.mark.parametrize("classes", [2, 10, 37])
def test_pairs_are_those_of_algorithm_3(pairing, size, classes):
    labels = np.random.default_rng(size).integers(0, classes, 300).astype(np.int32)
    order = batches(300, 5, size)
    pairs = draw_pairs(tf.constant(labels), tf.constant(order), pairing)
    for k, batch in enumerate(order):
        mine = pairs.batch.numpy() == k
        got = list(zip(pairs.first.numpy()[mine], pairs.second.numpy()[mine]))
        assert got == algorithm_3(labels, batch, pairing)


def test_batches_cut_a_shuffle_without_repeating_an_example():
    order = batches(1000, 7, 128)
    assert order.shape == (7, 128)
    assert len(np.unique(order)) == 7 * 128


def test_a_small_dataset_is_shuffled_again_and_no_batch_has_an_example_twice():
    order = batches(100, 12, 30)
    assert order.shape == (12, 30)
    assert all(len(np.unique(batch)) == 30 for batch in order)
    assert all(len(np.unique(order[k : k + 3])) == 90 for k in range(0, 12, 3))


def test_a_dataset_of_less_than_a_batch_is_the_batch():
    order = batches(17, 3, 128)
    assert order.shape == (3, 17)
    assert (np.sort(order, axis=1) == np.arange(17)).all()


def test_every_example_is_as_likely_at_every_place():
    order = batches(20, 4000, 20)
    counts = np.stack([np.bincount(order[:, place], minlength=20) for place in range(20)])
    # Chi-square with 19 degrees of freedom at each place: mean 19, 99.99 % below 50.
    assert (((counts - 200) ** 2 / 200).sum(axis=1) < 55).all()


def test_the_seed_decides():
    np.testing.assert_array_equal(batches(50, 4, 10, seed=3), batches(50, 4, 10, seed=3))
    assert (batches(50, 4, 10, seed=3) != batches(50, 4, 10, seed=4)).any()
