"""Is a model independent of the sample it is tested on?

Werpachowski et al. 2019, Sections 2.2 and 3, Appendix A.

If it is, the adversarial risk estimate R_g (eq. 4) and the test error R_S (eq. 1) have the same
mean. The pairwise test compares them example by example (eq. 5-8); the test of N models averages
the differences over the models first (Section 3.1); the basic test compares two intervals (App. A).
All three solve an empirical Bernstein bound for its confidence.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

CONFIDENCE = 0.975  # of each interval, in all of the paper's figures


@dataclass(frozen=True)
class Outcome:
    """What an adversarial example generator g did to each example of one sample [m], or of several
    [samples, m]."""

    loss: np.ndarray  # bool: L(f, x)
    adversarial_loss: np.ndarray  # bool: L(f, g(x))
    density: np.ndarray  # h_g(g(x)) where L(f, g(x)) = 1; not used elsewhere

    @property
    def weighted_loss(self) -> np.ndarray:
        """L(f, g(x)) h_g(g(x)), the terms of eq. 4."""
        return np.where(self.adversarial_loss, self.density, 0.0)

    @property
    def differences(self) -> np.ndarray:
        """T_i (eq. 5)."""
        return self.weighted_loss - self.loss

    def of(self, sample: int) -> Outcome:
        """The outcome of one sample."""
        return Outcome(self.loss[sample], self.adversarial_loss[sample], self.density[sample])

    @property
    def estimates(self) -> dict[str, Estimate]:
        """The paper's three estimates of the error of one sample, with their intervals."""
        return {
            "test_error": estimate(self.loss),
            "adversarial_error": estimate(self.adversarial_loss),
            "adversarial_risk": estimate(self.weighted_loss),
        }


class Estimate(NamedTuple):
    """A mean in [0, 1] with its interval."""

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class Independence:
    """The result of a test: how strong the evidence against independence is."""

    statistic: float  # T_S, or the difference of the estimates in the basic test
    evidence: float  # the exponent of eq. 8: p = 3 exp(-evidence), at least 0
    factor: float = 3.0

    @property
    def uncapped(self) -> float:
        """The solution of eq. 6 for delta, which can exceed 1 if the bound is loose."""
        return self.factor * math.exp(-self.evidence)

    @property
    def p(self) -> float:
        """The smallest p-value at which independence is rejected (eq. 8)."""
        return min(1.0, self.uncapped)


def bernstein(m: int, variance: float, delta: float, value_range: float) -> float:
    """B(m, sigma^2, delta, U) (eq. 7): how far a mean of m can be from its expectation."""
    log = math.log(3 / delta)
    return math.sqrt(2 * variance * log / m) + 3 * value_range * log / m


def estimate(losses: np.ndarray, confidence: float = CONFIDENCE) -> Estimate:
    """The mean of losses in [0, 1] with its interval (eq. 11, 12)."""
    losses = np.asarray(losses, float)
    mean = float(losses.mean())
    half = bernstein(len(losses), float(losses.var()), 1 - confidence, 1.0)
    return Estimate(mean, max(0.0, mean - half), min(1.0, mean + half))


def pairwise_test(differences: np.ndarray, value_range: float) -> Independence:
    """The pairwise test of T_i [m] (eq. 5-8), whose range has length `value_range` (U)."""
    statistic = float(np.mean(differences))
    deviation = float(np.std(differences))
    return Independence(statistic, _exponent(len(differences), statistic, deviation, value_range))


def n_model_test(differences: np.ndarray, value_range: float) -> Independence:
    """The pairwise test of T_i averaged over models: differences [N, m] (Section 3.1)."""
    return pairwise_test(np.mean(differences, axis=0), value_range)


def basic_test(outcome: Outcome) -> Independence:
    """The p-value at which the intervals of R_S and R_g become disjoint (App. A).

    |R_g - R_S| = B(m, s_S^2, delta, 1) + B(m, s_g^2, delta, 1) is eq. 6 with the sum of the two
    standard deviations and U = 2; each interval fails with probability delta, so p = 2 delta.
    """
    statistic = float(outcome.differences.mean())
    deviation = float(outcome.loss.std() + outcome.weighted_loss.std())
    return Independence(statistic, _exponent(len(outcome.loss), statistic, deviation, 2.0), 6.0)


def _exponent(m: int, statistic: float, deviation: float, value_range: float) -> float:
    """ln(3 / delta) where |T| = B(m, sigma^2, delta, U).

    Eq. 8's exponent, m / (9 U^2) (s^2 + 3 U |T| - s sqrt(s^2 + 6 U |T|)), multiplied out so that
    nothing cancels: computed as printed, it loses all digits if |T| is small against sigma.
    """
    distance = abs(statistic)
    if not distance:
        return 0.0
    root = math.sqrt(deviation**2 + 6 * value_range * distance)
    return 2 * m * (distance / (deviation + root)) ** 2
