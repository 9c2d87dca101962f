"""Spectral measures (Dziugaite et al. 2020, C.6.3, eq. 12-18).

Products are computed as sums of logarithms. `boundary` and `stride` choose the linear map of a
convolution: see `spectral`.
"""

from __future__ import annotations

import math

import numpy as np

from pgdl_measures.base import Subject
from pgdl_measures.norms.fused import fused_network
from pgdl_measures.norms.layer_norms import distances, squared_frobenius, squared_spectral
from pgdl_measures.norms.margin import margin


def log_spec_init_main(
    subject: Subject,
    *,
    boundary: str = "circular",
    stride: str = "kept",
    examples: int = 5_000,
    seed: int = 0,
) -> float:
    """log sqrt(prod_i ||W_i||_2^2 sum_j ||W_j - W_j^0||_F^2 / ||W_j||_2^2 / (gamma^2 m)) (12)."""
    return _main(subject, distances(subject), boundary, stride, examples, seed)


def log_spec_orig_main(
    subject: Subject,
    *,
    boundary: str = "circular",
    stride: str = "kept",
    examples: int = 5_000,
    seed: int = 0,
) -> float:
    """log sqrt(prod_i ||W_i||_2^2 sum_j ||W_j||_F^2 / ||W_j||_2^2 / (gamma^2 m)) (13)."""
    return _main(subject, fused_network(subject).kernels, boundary, stride, examples, seed)


def log_prod_of_spec_over_margin(
    subject: Subject,
    *,
    boundary: str = "circular",
    stride: str = "kept",
    examples: int = 5_000,
    seed: int = 0,
) -> float:
    """log sqrt(prod_i ||W_i||_2^2 / (gamma^2 m)) (14)."""
    gamma = abs(margin(subject, examples, seed))
    return log_prod_of_spec(subject, boundary=boundary, stride=stride) - math.log(gamma)


def log_prod_of_spec(
    subject: Subject, *, boundary: str = "circular", stride: str = "kept"
) -> float:
    """log sqrt(prod_i ||W_i||_2^2 / m) (15)."""
    logs = np.log(squared_spectral(subject, boundary, stride))
    return 0.5 * float(logs.sum() - math.log(subject.data.total))


def fro_over_spec(subject: Subject, *, boundary: str = "circular", stride: str = "kept") -> float:
    """sqrt(sum_i ||W_i||_F^2 / ||W_i||_2^2 / m) (16)."""
    frobenius = squared_frobenius(fused_network(subject).kernels)
    ratios = frobenius / squared_spectral(subject, boundary, stride)
    return math.sqrt(ratios.sum() / subject.data.total)


def log_sum_of_spec_over_margin(
    subject: Subject,
    *,
    boundary: str = "circular",
    stride: str = "kept",
    examples: int = 5_000,
    seed: int = 0,
) -> float:
    """log sqrt(d (prod_i ||W_i||_2^2 / gamma^2)^(1/d) / m) (17)."""
    gamma = abs(margin(subject, examples, seed))
    depth = len(fused_network(subject).kernels)
    return log_sum_of_spec(subject, boundary=boundary, stride=stride) - math.log(gamma) / depth


def log_sum_of_spec(subject: Subject, *, boundary: str = "circular", stride: str = "kept") -> float:
    """log sqrt(d (prod_i ||W_i||_2^2)^(1/d) / m) (18)."""
    logs = np.log(squared_spectral(subject, boundary, stride))
    return 0.5 * float(math.log(len(logs)) + logs.mean() - math.log(subject.data.total))


def _main(
    subject: Subject,
    numerators: list[np.ndarray],
    boundary: str,
    stride: str,
    examples: int,
    seed: int,
) -> float:
    """log sqrt(prod_i ||W_i||_2^2 sum_j ||V_j||_F^2 / ||W_j||_2^2 / (gamma^2 m)), V numerators."""
    ratios = squared_frobenius(numerators) / squared_spectral(subject, boundary, stride)
    over_margin = log_prod_of_spec_over_margin(
        subject, boundary=boundary, stride=stride, examples=examples, seed=seed
    )
    return over_margin + 0.5 * float(np.log(ratios.sum()))
