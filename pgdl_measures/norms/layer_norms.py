"""Squared norms of all fused layers and of their distances from initialization."""

from __future__ import annotations

import numpy as np

from pgdl_measures.base import Subject
from pgdl_measures.norms.fused import fused_network
from pgdl_measures.norms.spectral import spectral_norm


def distances(subject: Subject) -> list[np.ndarray]:
    """W_i - W_i^0 of each layer."""
    fused = fused_network(subject)
    return [w - start for w, start in zip(fused.kernels, fused.initial_kernels())]


def squared_frobenius(kernels: list[np.ndarray]) -> np.ndarray:
    """||W_i||_F^2 of each kernel."""
    return np.array([np.sum(np.square(kernel)) for kernel in kernels])


def squared_spectral(subject: Subject, boundary: str, stride: str) -> np.ndarray:
    """||W_i||_2^2 of each layer."""
    return subject.share(
        ("squared_spectral", boundary, stride),
        lambda: _squared_spectral(subject, fused_network(subject).kernels, boundary, stride),
    )


def squared_spectral_of_distances(subject: Subject, boundary: str, stride: str) -> np.ndarray:
    """||W_i - W_i^0||_2^2 of each layer."""
    return _squared_spectral(subject, distances(subject), boundary, stride)


def _squared_spectral(
    subject: Subject, kernels: list[np.ndarray], boundary: str, stride: str
) -> np.ndarray:
    geometries = fused_network(subject).geometries
    norms = [spectral_norm(kernel, g, boundary, stride) for kernel, g in zip(kernels, geometries)]
    return np.square(norms)
