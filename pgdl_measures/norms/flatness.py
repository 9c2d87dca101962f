"""Flatness measures from PAC-Bayes bounds (Dziugaite et al. 2020, C.6.6, eq. 28-33).

w is the vector of all fused kernels, sigma the size of the perturbation that the network tolerates
(see `sigma`). Where the printed formulas disagree, we took one reading:

- Eq. 28 has log(m / sigma); eq. 29, 31 and 32 have log(m / delta), and delta is not defined. All
  four use the sigma of their own search, as in the authors' code.
- Eq. 32 measures the distance from the origin, yet its denominators contain |w_i - w_i^0|, as in
  Jiang et al. 2020a (eq. 57) and in the authors' code. So it needs the initial weights too. Its
  sum has no lower bound: if weights moved far, the number under the square root can be negative.

`noise` says how the size of the perturbation is defined; `sigma` has the authors' reading. The
paper finds sigma on all training data, we on 250 examples; `sigma` says what that costs.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from pgdl_measures.base import Subject
from pgdl_measures.errors import MeasureError
from pgdl_measures.norms.fused import fused_network
from pgdl_measures.norms.layer_norms import distances
from pgdl_measures.norms.sigma import EPSILON, perturbation_size

Vector = np.ndarray  # of all fused kernels
Formula = Callable[..., float]


def _weights(subject: Subject) -> Vector:
    """w"""
    return np.concatenate([kernel.ravel() for kernel in fused_network(subject).kernels])


def _distance(subject: Subject) -> Vector:
    """w - w^0"""
    return np.concatenate([kernel.ravel() for kernel in distances(subject)])


def _measure(
    *vectors: Callable[[Subject], Vector], magnitude_aware: bool = False
) -> Callable[[Formula], Callable[..., float]]:
    """Makes a measure, with the options of the search, of a formula in m, sigma and vectors."""

    def measure_of(formula: Formula) -> Callable[..., float]:
        def measure(
            subject: Subject,
            *,
            noise: str = "deviation",
            examples: int = 250,
            draws: int = 10,
            depth: int = 15,
            seed: int = 0,
        ) -> float:
            found = [vector(subject) for vector in vectors]  # raises before the long search
            sizes = (examples, draws, depth, seed)
            sigma = perturbation_size(subject, magnitude_aware, *sizes, noise)
            return formula(subject.data.total, sigma, *found)

        measure.__name__, measure.__doc__ = formula.__name__, formula.__doc__
        return measure

    return measure_of


@_measure(_distance)
def pacbayes_init(m: int, sigma: float, away: Vector) -> float:
    """sqrt((||w - w^0||^2 / (4 sigma^2) + log(m / sigma) + 10) / m) (28)."""
    return bayes_bound(m, np.sum(away**2) / (4 * sigma**2), sigma)


@_measure(_weights)
def pacbayes_orig(m: int, sigma: float, weights: Vector) -> float:
    """sqrt((||w||^2 / (4 sigma^2) + log(m / sigma) + 10) / m) (29)."""
    return bayes_bound(m, np.sum(weights**2) / (4 * sigma**2), sigma)


@_measure()
def pacbayes_flatness(m: int, sigma: float) -> float:
    """sqrt(1 / (sigma^2 m)) (30)."""
    return math.sqrt(1 / (sigma**2 * m))


@_measure(_distance, magnitude_aware=True)
def pacbayes_mag_init(m: int, sigma: float, away: Vector) -> float:
    """sqrt((sum_i log((e^2 + (s^2 + 1) ||w - w^0||^2 / omega) / (e^2 + s^2 |w_i - w_i^0|^2)) / 4
    + log(m / s) + 10) / m) with s = sigma', e = epsilon (31)."""
    return bayes_bound(m, _magnitude_term(away, away, sigma), sigma)


@_measure(_weights, _distance, magnitude_aware=True)
def pacbayes_mag_orig(m: int, sigma: float, weights: Vector, away: Vector) -> float:
    """sqrt((sum_i log((e^2 + (s^2 + 1) ||w||^2 / omega) / (e^2 + s^2 |w_i - w_i^0|^2)) / 4
    + log(m / s) + 10) / m) with s = sigma', e = epsilon (32)."""
    return bayes_bound(m, _magnitude_term(weights, away, sigma), sigma)


@_measure(magnitude_aware=True)
def pacbayes_mag_flatness(m: int, sigma: float) -> float:
    """sqrt(1 / (sigma'^2 m)) (33)."""
    return math.sqrt(1 / (sigma**2 * m))


def _magnitude_term(reference: Vector, away: Vector, sigma: float) -> float:
    numerator = EPSILON**2 + (sigma**2 + 1) * np.sum(reference**2) / reference.size
    denominators = EPSILON**2 + sigma**2 * away**2
    return float(np.sum(np.log(numerator / denominators))) / 4


def bayes_bound(m: int, term: float, sigma: float) -> float:
    squared = (term + math.log(m / sigma) + 10) / m
    if squared < 0:
        raise MeasureError(
            f"the bound is the square root of {squared:.6g}: its sum over the weights is "
            f"{term:.6g}, because they are much farther from their initial values than from zero"
        )
    return math.sqrt(squared)
