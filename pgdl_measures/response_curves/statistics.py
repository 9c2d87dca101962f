"""Statistics of perturbation response curves: curve in, number out. NumPy only.

Schiff et al. 2021: Gi (Algorithm 2), Pal (Section 3.3 and Algorithm 4). Schiff et al. 2021b: Gi
without normalization. `accuracy` is [..., magnitudes]: the statistics of many curves are computed
at once.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np

Array = np.ndarray

_TOP, _BOTTOM = 0.6, 0.1  # of the magnitudes, whose areas Pal compares


class Statistic(Protocol):
    """A function of the magnitudes [n] and accuracies [..., n] of response curves."""

    def __call__(self, magnitudes: Array, accuracy: Array) -> Array: ...


def cumulative_density(magnitudes: Array, accuracy: Array) -> Array:
    """The PCD curve: trapezoid areas under the response curve up to each magnitude."""
    magnitudes, accuracy = np.asarray(magnitudes, float), np.asarray(accuracy, float)
    areas = 0.5 * np.diff(magnitudes) * (accuracy[..., 1:] + accuracy[..., :-1])
    return np.concatenate([np.zeros_like(accuracy[..., :1]), np.cumsum(areas, axis=-1)], axis=-1)


def gi_area(magnitudes: Array, accuracy: Array) -> Array:
    """Gi of the earlier paper: the area between the ideal network's PCD curve and this one's."""
    distance = np.asarray(magnitudes, float) - magnitudes[0]  # the ideal curve is 1 everywhere
    return _trapezoid(magnitudes, distance - cumulative_density(magnitudes, accuracy))


def gi(magnitudes: Array, accuracy: Array) -> Array:
    """Gi of Schiff et al. 2021 (Algorithm 2): the same area over the ideal network's, in [0, 1].

    0 for the ideal network, 1 where the accuracy is 0 everywhere. The ratio does not change when
    magnitudes are shifted or scaled, which is how signed ranges are mapped to [0, 1].
    """
    return gi_area(magnitudes, accuracy) / (0.5 * (magnitudes[-1] - magnitudes[0]) ** 2)


def pal(magnitudes: Array, accuracy: Array) -> Array:
    """Pal: the area under the PCD curve of the top 60 % of magnitudes over that of the bottom 10 %.

    This is what the text of both papers defines (Section 3.3; Section 3.2 of the earlier one), and
    the default here: it depends on the whole upper and lower ends of the curve, as the Palma ratio
    of incomes does. The pseudo-code reads differently: see `pal_algorithm4`. Where a border falls
    between two magnitudes, the PCD curve is interpolated linearly, as in the trapezoids of Gi. NaN
    where the accuracy is 0 on the bottom magnitudes.
    """
    u = _normalized(magnitudes)
    density = cumulative_density(u, accuracy)
    return _ratio(_area(u, density, 1 - _TOP, 1.0), _area(u, density, 0.0, _BOTTOM))


def pal_algorithm4(magnitudes: Array, accuracy: Array) -> Array:
    """Pal as Algorithm 4 prints it: the trapezoid of the response curve that ends at 60 % of the
    magnitudes over the one that ends at 10 %, without a cumulative sum."""
    u = _normalized(magnitudes)
    areas = np.diff(cumulative_density(u, accuracy), prepend=0.0, axis=-1)
    return _ratio(areas[..., _index(u, _TOP)], areas[..., _index(u, _BOTTOM)])


def mean_accuracy(magnitudes: Array, accuracy: Array) -> Array:
    """The mean of the curve over its magnitudes (Section 4.2.2)."""
    return np.mean(accuracy, axis=-1)


def end_point(magnitudes: Array, accuracy: Array) -> Array:
    """The accuracy at the largest magnitude: of intra-class mixup at 0.5, the mixup accuracy."""
    return np.asarray(accuracy)[..., -1]


def standard_error(
    statistic: Statistic,
    magnitudes: Array,
    correct: Array,
    pairs: Array,
    *,
    replicates: int = 1000,
    seed: int = 0,
) -> float:
    """The standard error of a statistic under resampling of the curve's batches (bootstrap).

    `correct` and `pairs` [batches, magnitudes] are counts: accuracy is the sum of the one over the
    sum of the other, as in Appendix A.5.
    """
    batches = len(pairs)
    draws = np.random.default_rng(seed).multinomial(
        batches, np.full(batches, 1 / batches), size=replicates
    )
    total = draws @ pairs
    drawn = (total > 0).all(axis=1)
    accuracy = (draws @ correct)[drawn] / total[drawn]
    return float(np.std(statistic(magnitudes, accuracy), ddof=1))


def _trapezoid(x: Array, y: Array) -> Array:
    return np.sum(0.5 * np.diff(x) * (y[..., 1:] + y[..., :-1]), axis=-1)


def _normalized(magnitudes: Array) -> Array:
    magnitudes = np.asarray(magnitudes, float)
    return (magnitudes - magnitudes[0]) / (magnitudes[-1] - magnitudes[0])


def _area(u: Array, y: Array, low: float, high: float) -> Array:
    """The area under the piecewise linear y(u) between two borders."""
    inside = u[(u > low) & (u < high)]
    at = np.concatenate([[low], inside, [high]])
    right = np.clip(np.searchsorted(u, at), 1, len(u) - 1)
    weight = (at - u[right - 1]) / (u[right] - u[right - 1])
    return _trapezoid(at, (1 - weight) * y[..., right - 1] + weight * y[..., right])


def _index(u: Array, share: float) -> int:
    """The first magnitude that reaches this share of the range, after the start."""
    return max(1, int(np.argmax(u >= share - 1e-9)))


def _ratio(top: Array, bottom: Array) -> Array:
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(bottom > 0, np.divide(top, bottom), np.nan)
