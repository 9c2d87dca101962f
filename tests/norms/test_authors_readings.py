"""Options that give the published numbers, against a few independent lines each."""

from __future__ import annotations

import math

import numpy as np
import pytest
import tensorflow as tf
from nets import dataset

import pgdl_measures
from pgdl_measures.base import Subject
from pgdl_measures.errors import MeasureError
from pgdl_measures.norms.sigma import EPSILON, perturbation_size

L = tf.keras.layers
SIDE, EXAMPLES = 9, 40


@pytest.fixture(scope="module")
def strided() -> tf.keras.Model:
    tf.keras.utils.set_random_seed(0)
    model = tf.keras.Sequential(
        [
            *(L.Conv2D(4, 3, strides=2, activation="relu"), L.Conv2D(3, 1, strides=2)),
            *(L.GlobalAveragePooling2D(), L.Dense(3)),
        ]
    )
    model.build((None, SIDE, SIDE, 2))
    return model


@pytest.fixture(scope="module")
def data() -> tf.data.Dataset:
    rng = np.random.default_rng(0)
    images = rng.normal(size=(EXAMPLES, SIDE, SIDE, 2)).astype(np.float32)
    return dataset(images, rng.integers(3, size=EXAMPLES).astype(np.int32))


def _fft_norm(kernel: np.ndarray, side: int) -> float:
    """As in the authors' code: the transform of the kernel on the layer's input, without stride."""
    transforms = np.fft.fft2(kernel, (side, side), axes=(0, 1))
    return np.linalg.svd(transforms, compute_uv=False).max()


def test_the_authors_ignore_strides(strided, data):
    first, second, dense = (w for w in strided.get_weights() if w.ndim > 1)
    norms = [_fft_norm(first, SIDE), _fft_norm(second, 4), np.linalg.norm(dense, 2)]
    expected = 0.5 * math.log(np.prod(np.square(norms)) / EXAMPLES)
    ignored = pgdl_measures.complexity("log_prod_of_spec", stride="ignored")(strided, data)
    assert ignored == pytest.approx(expected, rel=1e-6)
    assert pgdl_measures.complexity("log_prod_of_spec")(strided, data) < ignored - 0.01


@pytest.mark.parametrize(
    "name",
    ["log_sum_of_spec", "fro_over_spec", "log_spec_orig_main", "log_prod_of_spec_over_margin"],
)
def test_every_spectral_measure_takes_the_stride(name, strided, data):
    kept, ignored = (
        pgdl_measures.complexity(name, stride=stride)(strided, data)
        for stride in ("kept", "ignored")
    )
    assert kept != ignored and kept == pgdl_measures.complexity(name)(strided, data)
    with pytest.raises(MeasureError, match="stride is 'ignore'; expected kept or ignored"):
        pgdl_measures.complexity(name, stride="ignore")(strided, data)


def test_the_authors_count_kernels(strided, data):
    kernels = 3 * 3 * 2 * 4 + 4 * 3 + 3 * 3
    found = pgdl_measures.complexity("params", counting="kernels")(strided, data)
    assert found == pytest.approx(math.sqrt(kernels / EXAMPLES))
    printed = 9 * 2 * 5 + 4 * 4 + 3 * 4  # k^2 c (c' + 1)
    assert pgdl_measures.complexity("params")(strided, data) == pytest.approx(
        math.sqrt(printed / EXAMPLES)
    )


def test_a_variance_in_place_of_a_deviation_is_the_square_root_of_sigma(data):
    """The same draws u are borne at sigma^2 = s as at sigma = s."""
    tf.keras.utils.set_random_seed(1)
    model = tf.keras.Sequential([L.Flatten(), L.Dense(16, "relu"), L.Dense(3)])
    model.compile("adam", tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    images, labels = map(np.stack, zip(*((x.numpy(), y.numpy()) for x, y in data)))
    model.fit(images, labels, epochs=60, verbose=0)
    subject = Subject(model, data)
    deviation, variance = (
        perturbation_size(subject, False, EXAMPLES, 10, 15, 0, noise)
        for noise in ("deviation", "variance")
    )
    assert variance == pytest.approx(math.sqrt(deviation), rel=1e-3) and deviation < 0.9
    flatness = pgdl_measures.complexity("pacbayes_flatness", noise="variance", examples=EXAMPLES)
    assert flatness(model, data) == pytest.approx(1 / (variance * math.sqrt(EXAMPLES)))
    with pytest.raises(MeasureError, match="noise is 'sigma'"):
        pgdl_measures.complexity("pacbayes_flatness", noise="sigma")(model, data)


def test_a_magnitude_aware_variance_is_borne_where_its_deviation_is(data):
    """With one weight of each size a: sigma^2 a^2 + e^2 against sqrt(sigma^2 a^2 + e^2)."""
    model = tf.keras.Sequential([L.Flatten(), L.Dense(3, use_bias=False)])
    model.build((None, SIDE, SIDE, 2))
    signs = np.sign(np.random.default_rng(0).normal(size=(SIDE * SIDE * 2, 3)))
    size = 0.5
    model.set_weights([(size * signs).astype(np.float32)])
    images, _ = map(np.stack, zip(*((x.numpy(), y.numpy()) for x, y in data)))
    labels = np.asarray(model(images)).argmax(axis=1).astype(np.int32)
    subject = Subject(model, dataset(images, labels))
    deviation, variance = (
        perturbation_size(subject, True, EXAMPLES, 10, 20, 0, noise)
        for noise in ("deviation", "variance")
    )
    borne = math.sqrt(deviation**2 * size**2 + EPSILON**2)
    assert variance**2 * size**2 + EPSILON**2 == pytest.approx(borne, rel=1e-3)
