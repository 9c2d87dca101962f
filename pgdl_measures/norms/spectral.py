"""Spectral norms of layers: the largest singular value of the linear map that a kernel makes.

Of a convolution there are two such maps. `circular`, the default and the paper's choice, wraps
around the borders: the 2-D Fourier transform then takes the map apart into one small matrix per
frequency, so that its singular values are exact (Sedghi, Gupta & Long 2019, which is [26] of paper
003). `zero` is the layer with its own padding, of zeros or none; it has no such closed form, and
its norm is found by Lanczos iteration on the layer itself, to convergence.

The wrapped map is the default because it is what the paper reports, does not depend on a starting
vector, and treats a kernel alike at all positions. The two differ at the borders only: without
padding (`valid`) the layer computes some of the outputs of the wrapped map, so its norm is at most
that; with zeros it may be a little more.

Two cases that they leave out. A kernel larger than its input is wrapped onto it, not cut. A
stride s keeps every s-th output: the frequencies that fall together then make one matrix, side by
side, over the square root of their number; the input's size is first rounded up to a multiple of s.
"""

from __future__ import annotations

import dataclasses
import itertools

import numpy as np
import scipy.sparse.linalg
import tensorflow as tf

from pgdl_measures.errors import UnknownNameError
from pgdl_measures.norms.fused import Geometry

BOUNDARIES = ("circular", "zero")

_GRAM_ELEMENTS = 1 << 22  # of 16 bytes, at a time


def spectral_norm(kernel: np.ndarray, geometry: Geometry, boundary: str = "circular") -> float:
    """The norm of a fused layer's linear map."""
    if boundary not in BOUNDARIES:
        raise UnknownNameError("boundary", boundary, BOUNDARIES)
    if kernel.ndim == 1:
        return float(np.abs(kernel).max())
    if kernel.ndim == 2:
        return _largest_singular_value(kernel[np.newaxis])
    if boundary == "zero":
        return _layer_norm(kernel, geometry)
    return _circular_norm(kernel, geometry)


def _circular_norm(kernel: np.ndarray, geometry: Geometry) -> float:
    kernel = _dilated(kernel, geometry.dilations)
    sizes = [-(-n // s) * s for n, s in zip(geometry.input_shape, geometry.strides)]
    axes = tuple(range(len(sizes)))
    transforms = np.fft.fftn(_wrapped(kernel, sizes), axes=axes)  # [frequencies, in, out]
    matrices = _aliased(transforms, sizes, geometry.strides)
    # The kernel is real: the last axis' upper half repeats the lower half, conjugated.
    half = matrices.shape[len(sizes) - 1] // 2 + 1
    matrices = matrices[(slice(None),) * (len(sizes) - 1) + (slice(half),)]
    return _largest_singular_value(matrices.reshape(-1, *matrices.shape[-2:]))


def _largest_singular_value(matrices: np.ndarray) -> float:
    """The largest of all matrices [n, rows, columns], from the smaller of A A* and A* A.

    That is as exact as an SVD, for the largest, and much faster. TensorFlow does it because its
    threads wait quietly: NumPy's are a hundred times slower when other processes want the cores.
    """
    if matrices.shape[1] > matrices.shape[2]:
        matrices = matrices.swapaxes(1, 2)
    at_once = max(1, _GRAM_ELEMENTS // matrices.shape[1] ** 2)
    largest = 0.0
    for start in range(0, len(matrices), at_once):
        some = tf.constant(matrices[start : start + at_once])
        eigenvalues = tf.linalg.eigvalsh(tf.matmul(some, some, adjoint_b=True))
        largest = max(largest, float(tf.reduce_max(tf.math.real(eigenvalues))))
    return float(np.sqrt(largest))


def _dilated(kernel: np.ndarray, dilations: tuple[int, ...]) -> np.ndarray:
    """The kernel with the zeros between its taps that dilation means."""
    spread = [(k - 1) * d + 1 for k, d in zip(kernel.shape, dilations)]
    result = np.zeros((*spread, *kernel.shape[-2:]))
    result[tuple(slice(None, None, d) for d in dilations)] = kernel
    return result


def _wrapped(kernel: np.ndarray, sizes: list[int]) -> np.ndarray:
    """The kernel on the torus of these sizes: taps that meet on it are added."""
    for axis, size in enumerate(sizes):
        folds = -(-kernel.shape[axis] // size)
        padding = [(0, 0)] * kernel.ndim
        padding[axis] = (0, folds * size - kernel.shape[axis])
        shape = (*kernel.shape[:axis], folds, size, *kernel.shape[axis + 1 :])
        kernel = np.pad(kernel, padding).reshape(shape).sum(axis=axis)
    return kernel


def _aliased(transforms: np.ndarray, sizes: list[int], strides: tuple[int, ...]) -> np.ndarray:
    """Matrices [frequencies of the output, in * aliases, out]."""
    steps = [n // s for n, s in zip(sizes, strides)]
    blocks = [
        transforms[tuple(slice(i * step, (i + 1) * step) for i, step in zip(alias, steps))]
        for alias in itertools.product(*(range(s) for s in strides))
    ]
    return np.concatenate(blocks, axis=-2) / np.sqrt(len(blocks))


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
