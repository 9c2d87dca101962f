"""The numbers of Section 5.3.3, against sets of Python and the paper's own arithmetic."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow as tf
from translated_networks import all_windows, predicted, random_images, random_model

from pgdl_measures.adversarial.similarity import predict, similarity
from pgdl_measures.network.compiled import network


def test_the_five_numbers_are_those_of_sets():
    rng = np.random.default_rng(0)
    labels = rng.integers(5, size=200)
    original, other = rng.integers(5, size=(3, 200)), rng.integers(5, size=(4, 200))
    jaccard, both, share, same = [], [], [], []
    for a in original:
        for b in other:
            wrong_a = {i for i in range(200) if a[i] != labels[i]}
            wrong_b = {i for i in range(200) if b[i] != labels[i]}
            agree = sum(a[i] == b[i] for i in wrong_a & wrong_b)
            jaccard.append(len(wrong_a & wrong_b) / len(wrong_a | wrong_b))
            both.append(len(wrong_a & wrong_b))
            share.append(agree / len(wrong_a & wrong_b))
            same.append(agree)
    found = similarity(labels, original, other)
    assert found.jaccard == pytest.approx(np.mean(jaccard))
    assert found.both_wrong == np.median(both)
    assert found.same_label == pytest.approx(np.mean(share))
    assert found.same_labels == np.median(same)
    assert found.jaccard_if_independent == pytest.approx(found.jaccard, abs=0.03)  # as they are


def test_independent_errors_have_the_papers_jaccard_index():
    """5.52 % and 7.85 % errors would give "J_bi = 3.33 %"."""
    labels = np.zeros(10_000, int)
    original = (np.arange(10_000) < 552).astype(int)[None]
    rescaled = (np.arange(10_000) < 785).astype(int)[None]
    found = similarity(labels, original, rescaled)
    assert found.jaccard_if_independent == pytest.approx(0.0333, abs=3e-4)


def test_models_without_errors_have_no_common_ones():
    labels = np.zeros(10, int)
    found = similarity(labels, labels[None], labels[None])
    assert np.isnan([found.jaccard, found.same_label]).all() and found.both_wrong == 0


@pytest.mark.parametrize("padding", ["upsample", "circular"])
def test_predictions_are_of_central_windows(padding):
    shape, eps = (7, 8, 1), 2
    model = random_model(shape, seed=2)
    images = random_images(40, shape)
    middle = (6 * eps + 1) ** 2 // 2
    centres = np.stack([all_windows(image, shape, eps, padding)[middle] for image in images])
    found = predict(network(model, shape), tf.constant(images), eps=eps, padding=padding)
    np.testing.assert_array_equal(found, predicted(model, centres))
