"""The L2-gradient generator of linear classifiers and its analytic density.

Werpachowski et al. 2019, Section 4. For f(x) = sgn(w.x + b) the generator moves a correctly
classified x of label y to x' = x - eps y w / |w|, if that keeps the true label, and leaves all
others where they are. At most one x is moved to any x', so h(x') = rho(x') / (rho(x') + rho(x)), or
1 if none is.

The data is a mixture of two Gaussians around y e_1, y = +-1. Each is cut off where
y x_1 <= margin; the true label is the sign of x_1.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr, ndtri

from pgdl_measures.adversarial.independence import Outcome


@dataclass(frozen=True)
class Mixture:
    """The truncated Gaussian mixture of Section 4."""

    dimension: int = 500
    deviation: float = math.sqrt(500)  # of every coordinate
    margin: float = 0.025

    def sample(self, count: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """Points [count, dimension] and their labels [count], -1 or 1."""
        y = rng.choice(np.array([-1, 1], np.float32), count)
        x = rng.standard_normal((count, self.dimension), np.float32) * np.float32(self.deviation)
        cut = ndtr((self.margin - 1) / self.deviation)  # the share of x_1 that truncation removes
        x[:, 0] = y * (1 + self.deviation * ndtri(rng.uniform(cut, 1, count)))
        return x, y


@dataclass(frozen=True)
class Projection:
    """What the generator and its density depend on, for examples [..., m] and classifiers [...].

    All distances are along y w / |w|, the direction away from the decision boundary.
    """

    mixture: Mixture
    distance: np.ndarray  # [..., m]: from the decision boundary; negative where misclassified
    along: np.ndarray  # [..., m]: from the mean of the example's class
    first: np.ndarray  # [..., m]: y x_1, from the true boundary
    slope: np.ndarray  # [..., 1]: how much y x_1 grows per step

    def outcome(self, eps: float) -> Outcome:
        """What the generator does with steps of length eps."""
        loss = self.distance <= 0
        moved = ~loss & (self.first - eps * self.slope > 0)
        adversarial_loss = np.where(moved, self.distance - eps <= 0, loss)
        # A moved example comes from x itself; a misclassified x, from a point one step away.
        came = (self.distance + eps > 0) & (self.first + eps * self.slope > 0)
        with np.errstate(over="ignore"):
            density = np.where(
                loss,
                np.where(came, 1 / (1 + self._ratio(eps)), 1.0),
                1 - 1 / (1 + self._ratio(-eps)),
            )
        return Outcome(loss, adversarial_loss, density)

    def _ratio(self, step: float) -> np.ndarray:
        """rho(x + step y w / |w|) / rho(x)."""
        inside = self.first + step * self.slope > self.mixture.margin
        exponent = -(2 * step * self.along + step**2) / (2 * self.mixture.deviation**2)
        return np.where(inside, np.exp(exponent), 0.0)


def project(
    mixture: Mixture, weights: np.ndarray, bias: float, x: np.ndarray, y: np.ndarray
) -> Projection:
    """The projection of examples x [m, d] with labels y [m] for one classifier."""
    norm = float(np.linalg.norm(weights))
    direction = np.asarray(weights, np.float64) / norm
    safe = y * (x @ direction)
    return Projection(
        mixture,
        distance=safe + y * (bias / norm),
        along=safe - direction[0],
        first=(y * x[:, 0]).astype(np.float64),
        slope=direction[:1],
    )
