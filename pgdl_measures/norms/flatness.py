"""Flatness measures from PAC-Bayes bounds (Dziugaite et al. 2020, C.6.6, eq. 28-33).

w is the vector of all fused kernels, sigma the size of the perturbation that the network tolerates
(see `sigma`). Where the printed formulas disagree, we took one reading:

- Eq. 28 has log(m / sigma); eq. 29, 31 and 32 have log(m / delta), and delta is not defined. All
  four use the sigma of their own search, as in the authors' code.
- Eq. 32 measures the distance from the origin, yet its denominators contain |w_i - w_i^0|, as in
  [9] (eq. 57 there) and in the authors' code. So it needs the initial weights too. Its sum has no
  lower bound: if weights moved far, the number under the square root can be negative.

`noise` says how the size of the perturbation is defined; `sigma` has the authors' reading. The
paper finds sigma on all training data, we on 250 examples; `sigma` says what that costs.
"""

from __future__ import annotations

import math

import numpy as np

from pgdl_measures.base import Subject
from pgdl_measures.errors import MeasureError
from pgdl_measures.norms.fused import fused_network
from pgdl_measures.norms.layer_norms import distances
from pgdl_measures.norms.sigma import EPSILON, perturbation_size


def pacbayes_init(
    subject: Subject,
    *,
    noise: str = "deviation",
    examples: int = 250,
    draws: int = 10,
    depth: int = 15,
    seed: int = 0,
) -> float:
    """sqrt((||w - w^0||^2 / (4 sigma^2) + log(m / sigma) + 10) / m) (28)."""
    reference = _vector(distances(subject))
    sigma = perturbation_size(subject, False, examples, draws, depth, seed, noise)
    return _bound(subject, np.sum(reference**2) / (4 * sigma**2), sigma)


def pacbayes_orig(
    subject: Subject,
    *,
    noise: str = "deviation",
    examples: int = 250,
    draws: int = 10,
    depth: int = 15,
    seed: int = 0,
) -> float:
    """sqrt((||w||^2 / (4 sigma^2) + log(m / sigma) + 10) / m) (29)."""
    reference = _vector(fused_network(subject).kernels)
    sigma = perturbation_size(subject, False, examples, draws, depth, seed, noise)
    return _bound(subject, np.sum(reference**2) / (4 * sigma**2), sigma)


def pacbayes_flatness(
    subject: Subject,
    *,
    noise: str = "deviation",
    examples: int = 250,
    draws: int = 10,
    depth: int = 15,
    seed: int = 0,
) -> float:
    """sqrt(1 / (sigma^2 m)) (30)."""
    sigma = perturbation_size(subject, False, examples, draws, depth, seed, noise)
    return math.sqrt(1 / (sigma**2 * subject.data.total))


def pacbayes_mag_init(
    subject: Subject,
    *,
    noise: str = "deviation",
    examples: int = 250,
    draws: int = 10,
    depth: int = 15,
    seed: int = 0,
) -> float:
    """sqrt((sum_i log((e^2 + (s^2 + 1) ||w - w^0||^2 / omega) / (e^2 + s^2 |w_i - w_i^0|^2)) / 4
    + log(m / s) + 10) / m) with s = sigma', e = epsilon (31)."""
    away = _vector(distances(subject))
    sigma = perturbation_size(subject, True, examples, draws, depth, seed, noise)
    return _bound(subject, _magnitude_term(away, away, sigma), sigma)


def pacbayes_mag_orig(
    subject: Subject,
    *,
    noise: str = "deviation",
    examples: int = 250,
    draws: int = 10,
    depth: int = 15,
    seed: int = 0,
) -> float:
    """sqrt((sum_i log((e^2 + (s^2 + 1) ||w||^2 / omega) / (e^2 + s^2 |w_i - w_i^0|^2)) / 4
    + log(m / s) + 10) / m) with s = sigma', e = epsilon (32)."""
    away = _vector(distances(subject))
    sigma = perturbation_size(subject, True, examples, draws, depth, seed, noise)
    weights = _vector(fused_network(subject).kernels)
    return _bound(subject, _magnitude_term(weights, away, sigma), sigma)


def pacbayes_mag_flatness(
    subject: Subject,
    *,
    noise: str = "deviation",
    examples: int = 250,
    draws: int = 10,
    depth: int = 15,
    seed: int = 0,
) -> float:
    """sqrt(1 / (sigma'^2 m)) (33)."""
    sigma = perturbation_size(subject, True, examples, draws, depth, seed, noise)
    return math.sqrt(1 / (sigma**2 * subject.data.total))


def _vector(kernels: list[np.ndarray]) -> np.ndarray:
    return np.concatenate([kernel.ravel() for kernel in kernels])


def _magnitude_term(reference: np.ndarray, away: np.ndarray, sigma: float) -> float:
    numerator = EPSILON**2 + (sigma**2 + 1) * np.sum(reference**2) / reference.size
    denominators = EPSILON**2 + sigma**2 * away**2
    return float(np.sum(np.log(numerator / denominators))) / 4


def _bound(subject: Subject, term: float, sigma: float) -> float:
    examples = subject.data.total
    squared = (term + math.log(examples / sigma) + 10) / examples
    if squared < 0:
        raise MeasureError(
            f"the bound is the square root of {squared:.6g}: its sum over the weights is "
            f"{term:.6g}, because they are much farther from their initial values than from zero"
        )
    return math.sqrt(squared)
