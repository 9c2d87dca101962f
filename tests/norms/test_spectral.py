"""Spectral norms against the SVD of the explicit matrix of a convolution."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow as tf

from pgdl_measures.errors import UnknownNameError
from pgdl_measures.norms import spectral
from pgdl_measures.norms.kernels import Geometry
from pgdl_measures.norms.spectral import spectral_norm

CASES = [  # kernel's size, input's size, strides, dilations
    ((3, 3), (6, 6), (1, 1), (1, 1)),
    ((3, 2), (5, 7), (1, 1), (1, 1)),
    ((1, 1), (4, 4), (1, 1), (1, 1)),
    ((5, 5), (3, 4), (1, 1), (1, 1)),  # larger than the input: wrapped
    ((3, 3), (8, 8), (1, 1), (2, 2)),
    ((3, 3), (6, 8), (2, 2), (1, 1)),
    ((2, 2), (6, 6), (3, 2), (1, 1)),
    ((3,), (8,), (1,), (1,)),
    ((3,), (8,), (2,), (1,)),
]


def circular_matrix(kernel: np.ndarray, geometry: Geometry) -> np.ndarray:
    """y[p, o] = sum over taps t and inputs i of K[t, i, o] x[p s + t d mod n, i], by its sums."""
    *taps, channels, filters = kernel.shape
    sizes = geometry.input_shape[:-1]
    places = [range(0, n, s) for n, s in zip(sizes, geometry.strides)]
    rows = []
    for place in np.stack(np.meshgrid(*places, indexing="ij"), -1).reshape(-1, len(sizes)):
        row = np.zeros((filters, *sizes, channels))
        for tap in np.ndindex(*taps):
            at = tuple((place + np.multiply(tap, geometry.dilations)) % sizes)
            row[(slice(None), *at)] += kernel[tap].T
        rows.append(row.reshape(filters, -1))
    return np.concatenate(rows)


def layer_matrix(kernel: np.ndarray, geometry: Geometry) -> np.ndarray:
    """The layer's own matrix, from its answers to unit inputs."""
    size = int(np.prod(geometry.input_shape))
    units = tf.reshape(tf.eye(size, dtype=tf.float64), [size, *geometry.input_shape])
    answers = geometry.apply(units, tf.constant(kernel), tf.constant(0.0, tf.float64))
    return answers.numpy().reshape(size, -1).T


@pytest.mark.keras2
@pytest.mark.parametrize(("taps", "sizes", "strides", "dilations"), CASES)
def test_the_circular_norm_is_that_of_the_explicit_matrix(taps, sizes, strides, dilations):
    rng = np.random.default_rng(0)
    for channels, filters in ((2, 3), (4, 2)):
        kernel = rng.normal(size=(*taps, channels, filters))
        geometry = Geometry((*sizes, channels), strides, "SAME", dilations)
        expected = np.linalg.svd(circular_matrix(kernel, geometry), compute_uv=False)[0]
        assert spectral_norm(kernel, geometry) == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize("padding", ["SAME", "VALID"])
@pytest.mark.parametrize(("taps", "sizes", "strides", "dilations"), CASES)
def test_the_norm_with_zero_padding_is_that_of_the_layers_matrix(
    taps, sizes, strides, dilations, padding
):
    if padding == "VALID" and any(t > n for t, n in zip(taps, sizes)):
        pytest.skip("no output")
    kernel = np.random.default_rng(1).normal(size=(*taps, 2, 3))
    geometry = Geometry((*sizes, 2), strides, padding, dilations)
    expected = np.linalg.svd(layer_matrix(kernel, geometry), compute_uv=False)[0]
    assert spectral_norm(kernel, geometry, "zero") == pytest.approx(expected, rel=1e-8)
    if padding == "VALID" and strides == (1,) * len(strides):  # some rows of the circular matrix
        assert expected <= spectral_norm(kernel, geometry) * (1 + 1e-10)


def test_the_circular_norm_without_stride_is_that_of_sedghi_et_al():
    kernel = np.random.default_rng(2).normal(size=(3, 3, 4, 6))
    transforms = np.fft.fft2(kernel, (10, 9), axes=(0, 1))
    expected = np.linalg.svd(transforms, compute_uv=False).max()
    geometry = Geometry((10, 9, 4), (1, 1), "SAME", (1, 1))
    assert spectral_norm(kernel, geometry) == pytest.approx(expected, rel=1e-10)


@pytest.mark.keras2
@pytest.mark.parametrize(("area", "matrices"), [(3, 12 * 7), (1, 1)])
def test_the_matrices_of_all_frequencies_are_never_held_at_once(monkeypatch, area, matrices):
    """Half of the frequencies are looked at; a kernel of one tap is the same at all of them."""
    kernel = np.random.default_rng(4).normal(size=(area, area, 8, 10))
    seen = []
    grams = spectral.gram_matrices
    monkeypatch.setattr(spectral, "GRAM_ELEMENTS", 400)
    monkeypatch.setattr(
        spectral, "gram_matrices", lambda some: seen.append(some.shape) or grams(some)
    )
    found = spectral_norm(kernel, Geometry((12, 12, 8), (1, 1), "SAME", (1, 1)))
    transforms = np.fft.fft2(kernel, (12, 12), axes=(0, 1))
    assert found == pytest.approx(np.linalg.svd(transforms, compute_uv=False).max(), rel=1e-10)
    assert sum(shape[0] for shape in seen) == matrices
    assert max(np.prod(shape) for shape in seen) <= 400


def test_norms_of_dense_layers_and_scales():
    matrix = np.random.default_rng(3).normal(size=(7, 4))
    assert spectral_norm(matrix, Geometry((7,))) == pytest.approx(np.linalg.norm(matrix, 2))
    assert spectral_norm(np.array([1.0, -3.0, 2.0]), Geometry((5, 3))) == 3.0


def test_an_unknown_boundary_is_named():
    kernel = np.ones((3, 3, 1, 1))
    with pytest.raises(UnknownNameError, match="unknown boundary 'zeros'; did you mean zero"):
        spectral_norm(kernel, Geometry((4, 4, 1), (1, 1), "SAME", (1, 1)), "zeros")
