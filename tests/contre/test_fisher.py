"""The Fisher ratio against SciPy's generalized eigenvalues and scikit-learn."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import linalg

from pgdl_measures.contre.fisher import fisher_ratio


def clouds(count=400, width=10, classes=5, spread=1.0, seed=0):
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, classes, count)
    mixing = rng.normal(size=(width, width))
    features = 2 * rng.normal(size=(classes, width))[labels]
    return (features + spread * rng.normal(size=(count, width)) @ mixing, labels)


def direct(features, labels):
    """The sum of the eigenvalues of discriminant analysis, by the definition of its scatters."""
    mean = features.mean(axis=0)
    within = between = 0
    for label in np.unique(labels):
        members = features[labels == label]
        difference = members.mean(axis=0) - mean
        between = between + len(members) * np.outer(difference, difference)
        for member in members - members.mean(axis=0):
            within = within + np.outer(member, member)
    return linalg.eigh(between, within, eigvals_only=True).sum()


def test_it_is_the_sum_of_the_eigenvalues_of_discriminant_analysis():
    for seed in range(5):
        features, labels = clouds(seed=seed)
        assert fisher_ratio(features, labels) == pytest.approx(direct(features, labels), rel=1e-6)


def test_scikit_learn_finds_the_same_after_its_own_decomposition():
    decomposition = pytest.importorskip("sklearn.decomposition")
    discriminant = pytest.importorskip("sklearn.discriminant_analysis")
    features, labels = clouds(count=600, width=90)
    reduced = decomposition.PCA(64, svd_solver="full").fit_transform(features)
    lda = discriminant.LinearDiscriminantAnalysis(solver="eigen").fit(reduced, labels)
    # In scikit-learn's coordinates the scatter within classes is the identity.
    projected = lda.transform(reduced)
    expected = direct(projected, labels)
    assert fisher_ratio(features, labels) == pytest.approx(expected, rel=1e-4)
    assert fisher_ratio(features, labels, dimensions=None) == pytest.approx(
        direct(features, labels), rel=1e-6
    )


def test_it_does_not_change_under_affine_maps_of_the_features():
    features, labels = clouds()
    mixing = np.random.default_rng(1).normal(size=(10, 10))
    assert fisher_ratio(features @ mixing + 7, labels) == pytest.approx(
        fisher_ratio(features, labels), rel=1e-6
    )


def test_fewer_examples_than_dimensions_are_no_problem():
    features, labels = clouds(count=200, width=500)
    decomposed = features - features.mean(axis=0)
    left, values, _ = np.linalg.svd(decomposed, full_matrices=False)
    expected = direct(left[:, :64] * values[:64], labels)
    assert fisher_ratio(features, labels) == pytest.approx(expected, rel=1e-5)


def test_units_that_never_fire_add_nothing():
    features, labels = clouds()
    with_dead = np.concatenate([features, np.zeros((400, 6)), np.full((400, 2), 3.0)], axis=1)
    assert fisher_ratio(with_dead, labels) == pytest.approx(
        fisher_ratio(features, labels), rel=1e-6
    )
    doubled = np.concatenate([features, features], axis=1)
    assert fisher_ratio(doubled, labels) == pytest.approx(fisher_ratio(features, labels), rel=1e-3)


def test_collapsed_classes_are_finite_and_above_all_others():
    centres = np.random.default_rng(0).normal(size=(5, 10))
    labels = np.arange(400) % 5
    collapsed = fisher_ratio(centres[labels], labels)
    tight = fisher_ratio(centres[labels] + 1e-3 * clouds()[0], labels)
    assert np.isfinite(collapsed) and collapsed > 10 * tight > 0


def test_features_that_are_all_the_same_separate_nothing():
    assert fisher_ratio(np.ones((20, 4)), np.arange(20) % 2) == 0
