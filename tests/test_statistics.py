"""Statistics of response curves: closed forms, SciPy's integrals, the pseudo-code as printed."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import integrate

from pgdl_measures.response_curves import statistics

INTRA = np.arange(11) / 20
INTER = np.arange(10) / 20
RNG = np.random.default_rng(0)


def curves(magnitudes: np.ndarray, count: int = 20) -> np.ndarray:
    return np.sort(RNG.uniform(0.05, 1, (count, len(magnitudes))), axis=1)[:, ::-1]


@pytest.mark.parametrize("magnitudes", [INTRA, INTER, np.linspace(-90, 90, 13)])
def test_gi_of_the_ideal_network_is_zero_and_of_the_one_that_is_always_wrong_one(magnitudes):
    assert statistics.gi(magnitudes, np.ones_like(magnitudes)) == pytest.approx(0, abs=1e-12)
    assert statistics.gi(magnitudes, np.zeros_like(magnitudes)) == pytest.approx(1)


@pytest.mark.parametrize("start", [1.0, 0.9])
@pytest.mark.parametrize("slope", [0.0, 0.5, 1.7])
def test_gi_of_a_linear_curve_in_closed_form(start, slope):
    # A(a) = s - k a on [0, m]: the area is (1-s) m^2/2 + k m^3/6, over m^2/2. The trapezoids of the
    # cumulative curve are not exact, so the grid is fine.
    magnitudes = np.linspace(0, 0.5, 20001)
    expected = (1 - start) + slope * 0.5 / 3
    got = statistics.gi(magnitudes, start - slope * magnitudes)
    assert got == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("magnitudes", [INTRA, INTER])
def test_gi_and_pcd_equal_scipys_trapezoids(magnitudes):
    for accuracy in curves(magnitudes):
        density = integrate.cumulative_trapezoid(accuracy, magnitudes, initial=0)
        np.testing.assert_allclose(statistics.cumulative_density(magnitudes, accuracy), density)
        area = integrate.trapezoid(magnitudes - density, magnitudes)
        assert statistics.gi_area(magnitudes, accuracy) == pytest.approx(area)
        expected = area / (0.5 * magnitudes[-1] ** 2)
        assert statistics.gi(magnitudes, accuracy) == pytest.approx(expected)


def test_gi_is_the_same_on_a_signed_range_mapped_to_the_unit_interval():
    accuracy = curves(np.zeros(13))
    signed = np.linspace(-90, 90, 13)
    expected = statistics.gi(np.linspace(0, 1, 13), accuracy)
    np.testing.assert_allclose(statistics.gi(signed, accuracy), expected)


@pytest.mark.parametrize("magnitudes", [INTRA, INTER, np.linspace(0, 1, 7)])
def test_pal_is_the_ratio_of_areas_under_the_cumulative_curve(magnitudes):
    span = magnitudes[-1]
    for accuracy in curves(magnitudes, 5):
        density = integrate.cumulative_trapezoid(accuracy, magnitudes, initial=0)

        def pcd(a, density=density):
            return np.interp(a, magnitudes, density)

        knots = magnitudes[1:-1]
        top, _ = integrate.quad(pcd, 0.4 * span, span, points=knots[knots > 0.4 * span])
        bottom, _ = integrate.quad(pcd, 0, 0.1 * span, points=knots[knots < 0.1 * span])
        assert statistics.pal(magnitudes, accuracy) == pytest.approx(top / bottom, rel=1e-7)


def test_pal_of_the_ideal_network_in_closed_form():
    # The PCD curve is the diagonal: (1 - 0.4^2) / 0.1^2.
    assert statistics.pal(INTRA, np.ones(11)) == pytest.approx(84)
    assert statistics.pal(INTER, np.ones(10)) == pytest.approx(84)


def test_algorithm_4_as_it_is_printed():
    for accuracy in curves(INTRA):
        a_t = [0.0]
        for i in range(len(INTRA) - 1):
            a_t.append(0.5 * (INTRA[i + 1] - INTRA[i]) * (accuracy[i] + accuracy[i + 1]))
        # 60 % and 10 % of the largest magnitude, 0.5, stand at 0.3 and 0.05.
        expected = a_t[list(INTRA).index(0.3)] / a_t[list(INTRA).index(0.05)]
        assert statistics.pal_algorithm4(INTRA, accuracy) == pytest.approx(expected)


def test_pal_is_undefined_where_the_lowest_magnitudes_are_all_wrong():
    assert np.isnan(statistics.pal(INTRA, np.zeros(11)))


def test_a_statistic_of_many_curves_is_that_of_each():
    accuracy = curves(INTRA)
    for function in (
        statistics.gi,
        statistics.gi_area,
        statistics.pal,
        statistics.pal_algorithm4,
        statistics.mean_accuracy,
        statistics.end_point,
    ):
        each = [function(INTRA, row) for row in accuracy]
        np.testing.assert_allclose(function(INTRA, accuracy), each)


@pytest.mark.parametrize(
    "function", [statistics.gi, statistics.pal, statistics.mean_accuracy, statistics.end_point]
)
def test_the_standard_error_is_the_spread_over_repeated_experiments(function):
    rng = np.random.default_rng(1)
    accuracy, pairs = 1 - 0.8 * INTRA, np.full((60, 11), 50)

    def experiment():
        # One uniform number per pair decides at which magnitude it fails, as with shared pairs.
        fails = rng.uniform(size=(60, 50, 1))
        return (fails < accuracy).sum(axis=1)

    values = [function(INTRA, experiment().sum(axis=0) / pairs.sum(axis=0)) for _ in range(400)]
    errors = [statistics.standard_error(function, INTRA, experiment(), pairs) for _ in range(20)]
    assert np.mean(errors) == pytest.approx(np.std(values), rel=0.15)
