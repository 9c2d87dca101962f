"""Spectral norms of layers: the largest singular value of a kernel's linear map.

A convolution can be read as either of two maps. `circular`, the default and the paper's choice,
wraps around the borders: the 2-D Fourier transform then splits the map into one small matrix per
frequency, so its singular values are exact (Sedghi, Gupta & Long 2019, as cited by Dziugaite et al.
2020). Together, the matrices of a wide layer would take gigabytes, so only a few exist at a time.
`zero` is the layer with its own padding, zeros or none. It has no such closed form; its norm is
found by Lanczos iteration on the layer itself, to convergence.

The wrapped map is the default because it is what the paper reports, does not depend on a starting
vector, and treats a kernel alike at all positions. The two differ only at the borders: without
padding (`valid`) the layer computes some of the outputs of the wrapped map, so its norm is at most
that of the wrapped map; with zeros it may be slightly larger.

A kernel larger than its input is wrapped onto it, not cut. A stride s keeps every s-th output. The
frequencies that this makes coincide then form one matrix, side by side, divided by the square root
of their number; the input's size is first rounded up to a multiple of s. That is the norm of the
layer, and the default. The authors' code, and so the published numbers, ignore the stride, which
makes the norm larger: `stride="ignored"`. On strided NiNs the spectral measures differ by 0.4 to
19 %.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

import numpy as np
import scipy.sparse.linalg
import tensorflow as tf

from pgdl_measures.errors import UnknownNameError
from pgdl_measures.norms.kernels import Geometry
from pgdl_measures.options import WORDS

GRAM_ELEMENTS = 1 << 22  # of 16 bytes, of the matrices at a time
_ROUNDING = 1e-11  # of a squared norm


def spectral_norm(
    kernel: np.ndarray, geometry: Geometry, boundary: str = "circular", stride: str = "kept"
) -> float:
    """The norm of a fused layer's linear map."""
    for option, word in (("boundary", boundary), ("stride", stride)):
        if word not in WORDS[option]:
            raise UnknownNameError(option, word, WORDS[option])
    if stride == "ignored":
        geometry = dataclasses.replace(geometry, strides=(1,) * len(geometry.strides))
    if kernel.ndim == 1:
        return float(np.abs(kernel).max())
    if geometry.matrix is not None:
        kernel = kernel.reshape(geometry.inputs(kernel), -1)
    if kernel.ndim == 2:
        return float(
            np.sqrt(_largest_eigenvalue(gram_matrices(tf.constant(kernel[np.newaxis])), 0.0))
        )
    if boundary == "zero":
        return max(_layer_norm(*group) for group in _groups(kernel, geometry))
    return _circular_norm(kernel, geometry)


def _groups(kernel: np.ndarray, geometry: Geometry) -> Iterator[tuple[np.ndarray, Geometry]]:
    """The plain convolutions that a grouped or depthwise one consists of, or the one that a
    transposed one is the transpose of."""
    for own in geometry.by_group(kernel):
        shape = (*geometry.input_shape[:-1], own.shape[-2])
        yield own, Geometry(shape, geometry.strides, geometry.padding, geometry.dilations)


def _circular_norm(kernel: np.ndarray, geometry: Geometry) -> float:
    by_group = geometry.by_group(kernel)
    groups, *taps, channels, filters = by_group.shape
    waves = _waves(taps, geometry)  # [frequencies, aliases, taps]
    count, aliases, _ = waves.shape
    # In a random order each frequency is seldom the largest so far (see `_largest_eigenvalue`).
    waves = tf.constant(np.random.default_rng(0).permutation(waves) / np.sqrt(aliases))
    by_tap = tf.constant(by_group.reshape(groups, -1, channels * filters), tf.complex128)
    at_once = max(1, GRAM_ELEMENTS // (aliases * groups * channels * filters))
    largest = 0.0
    for start in range(0, count, at_once):
        now = waves[start : start + at_once]
        if groups == 1:
            products = tf.tensordot(now, by_tap[0], 1)
        else:
            products = tf.einsum("fat,gtk->fgak", now, by_tap)
        matrices = tf.reshape(products, [-1, aliases * channels, filters])
        largest = _largest_eigenvalue(gram_matrices(matrices), largest)
    return float(np.sqrt(largest))


def _waves(taps: list[int], geometry: Geometry) -> np.ndarray:
    """The Fourier coefficients exp(-2 pi i frequency place / size) of each tap's place.

    [frequencies of the output, frequencies of the input that coincide there, taps]. The kernel is
    real, so the upper half of one axis would repeat its lower half, conjugated.
    """
    axes = []
    for count, size, stride, dilation in zip(
        taps, geometry.input_shape, geometry.strides, geometry.dilations
    ):
        if count == 1:  # acts alike at all frequencies, whatever the stride
            size = stride = 1
        outputs = -(-size // stride)
        frequency = np.arange(outputs)[:, None] + outputs * np.arange(stride)
        cycles = frequency[..., None] * dilation * np.arange(count) / (outputs * stride)
        axes.append(np.exp(-2j * np.pi * cycles))  # [outputs, stride, count]
    longest = max(range(len(axes)), key=lambda axis: len(axes[axis]))
    axes[longest] = axes[longest][: len(axes[longest]) // 2 + 1]
    waves = np.ones((1, 1, 1))
    for axis in axes:
        shape = [m * n for m, n in zip(waves.shape, axis.shape)]
        waves = np.einsum("fat,gbu->fgabtu", waves, axis).reshape(shape)
    return waves


def gram_matrices(matrices: tf.Tensor) -> tf.Tensor:
    """The smaller of A A* and A* A, of matrices [n, rows, columns]."""
    wide = matrices.shape[1] <= matrices.shape[2]
    return tf.matmul(matrices, matrices, adjoint_a=not wide, adjoint_b=wide)


def _largest_eigenvalue(grams: tf.Tensor, largest: float) -> float:
    """The largest of all eigenvalues [n, size, size] and `largest`.

    `largest` I - G has a Cholesky factor if no eigenvalue of G is larger. Trying that takes a third
    of the time that the eigenvalues take, so eigenvalues are computed only if one is larger.
    TensorFlow is used because NumPy's threads are a hundred times slower when other processes use
    the cores.
    """
    if _none_is_larger(grams, largest):
        return largest
    if len(grams) > 1:
        for part in tf.split(grams, [len(grams) // 2, -1]):
            largest = _largest_eigenvalue(part, largest)
        return largest
    return max(largest, float(tf.reduce_max(tf.math.real(tf.linalg.eigvalsh(grams)))))


def _none_is_larger(grams: tf.Tensor, bound: float) -> bool:
    unit = tf.eye(grams.shape[-1], dtype=grams.dtype)
    try:
        factors = tf.linalg.cholesky(bound * (1 + _ROUNDING) * unit - grams)
    except tf.errors.InvalidArgumentError:  # newer versions return zeros or NaN instead
        return False
    return bool(tf.reduce_all(tf.math.real(tf.linalg.diag_part(factors)) > 0))


def _dilated(kernel: np.ndarray, dilations: tuple[int, ...]) -> np.ndarray:
    """The kernel with the zeros that dilation puts between its taps."""
    spread = [(k - 1) * d + 1 for k, d in zip(kernel.shape, dilations)]
    result = np.zeros((*spread, *kernel.shape[-2:]))
    result[tuple(slice(None, None, d) for d in dilations)] = kernel
    return result


def _layer_norm(kernel: np.ndarray, geometry: Geometry) -> float:
    # The transpose of a dilated convolution does not run on CPUs; that of the spread kernel does.
    weights = tf.constant(_dilated(kernel, geometry.dilations), tf.float64)
    geometry = dataclasses.replace(geometry, dilations=(1,) * len(geometry.dilations))
    bias = tf.constant(0.0, tf.float64)
    shape = (1, *geometry.input_shape)
    output_shape = geometry.apply(tf.zeros(shape, tf.float64), weights, bias).shape

    def forward(x: np.ndarray) -> np.ndarray:
        return geometry.apply(tf.reshape(x, shape), weights, bias).numpy().ravel()

    def backward(y: np.ndarray) -> np.ndarray:
        transposed = tf.nn.conv_transpose(
            tf.reshape(y, output_shape),
            weights,
            shape,
            geometry.strides,
            geometry.padding,
        )
        return transposed.numpy().ravel()

    size = (int(np.prod(output_shape)), int(np.prod(shape)))
    if min(size) == 1:
        row = backward(np.ones(1)) if size[0] == 1 else forward(np.ones(1))
        return float(np.linalg.norm(row))
    operator = scipy.sparse.linalg.LinearOperator(
        size, matvec=forward, rmatvec=backward, dtype=np.float64
    )
    start = np.random.default_rng(0).normal(size=min(size))
    found = scipy.sparse.linalg.svds(operator, k=1, v0=start, return_singular_vectors=False)
    return float(found[0])
