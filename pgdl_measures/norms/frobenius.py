"""Frobenius measures and distances from initialization (Dziugaite et al. 2020, eq. 19-25)."""

from __future__ import annotations

import math

import numpy as np

from pgdl_measures.base import Subject
from pgdl_measures.norms.fused import fused_network
from pgdl_measures.norms.layer_norms import (
    distances,
    squared_frobenius,
    squared_spectral_of_distances,
)
from pgdl_measures.norms.margin import margin


def log_prod_of_fro_over_margin(subject: Subject, *, examples: int = 5_000, seed: int = 0) -> float:
    """log sqrt(prod_i ||W_i||_F^2 / (gamma^2 m)) (19)."""
    return log_prod_of_fro(subject) - math.log(abs(margin(subject, examples, seed)))


def log_prod_of_fro(subject: Subject) -> float:
    """log sqrt(prod_i ||W_i||_F^2 / m) (20)."""
    logs = np.log(squared_frobenius(fused_network(subject).kernels))
    return 0.5 * float(logs.sum() - math.log(subject.data.total))


def log_sum_of_fro_over_margin(subject: Subject, *, examples: int = 5_000, seed: int = 0) -> float:
    """log sqrt(d (prod_i ||W_i||_F^2 / gamma^2)^(1/d) / m) (21)."""
    depth = len(fused_network(subject).kernels)
    return log_sum_of_fro(subject) - math.log(abs(margin(subject, examples, seed))) / depth


def log_sum_of_fro(subject: Subject) -> float:
    """log sqrt(d (prod_i ||W_i||_F^2)^(1/d) / m) (22)."""
    logs = np.log(squared_frobenius(fused_network(subject).kernels))
    return 0.5 * float(math.log(len(logs)) + logs.mean() - math.log(subject.data.total))


def fro_dist(subject: Subject) -> float:
    """sqrt(sum_i ||W_i - W_i^0||_F^2 / m) (23)."""
    return math.sqrt(squared_frobenius(distances(subject)).sum() / subject.data.total)


def dist_spec_init(subject: Subject, *, boundary: str = "circular", stride: str = "kept") -> float:
    """sqrt(sum_i ||W_i - W_i^0||_2^2 / m) (24); `boundary` and `stride` as in `spectral`."""
    norms = squared_spectral_of_distances(subject, boundary, stride)
    return math.sqrt(norms.sum() / subject.data.total)


def param_norm(subject: Subject) -> float:
    """sqrt(sum_i ||W_i||_F^2 / m) (25)."""
    return math.sqrt(squared_frobenius(fused_network(subject).kernels).sum() / subject.data.total)
