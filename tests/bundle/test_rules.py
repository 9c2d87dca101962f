"""The combinations of paper 000, A.8: what they are, and that larger keeps meaning a larger gap."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from scoring.combine import combine
from starting_kit_adapter.bundle.rules import RULES, average, product, product_plus_average


def test_the_formulas():
    assert product([0.2, 0.5]) == 0.1
    assert average([0.2, 0.6]) == 0.4
    assert product_plus_average([0.2, 0.6]) == pytest.approx(0.12 + 0.4)


def test_gi_beside_negated_pal_is_the_papers_product():
    assert product([0.25, -4.0]) == -1.0


@pytest.mark.parametrize("name", RULES)
@pytest.mark.parametrize("sign", [1, -1], ids=["positive", "negated"])
def test_a_submission_combines_as_pgdl_combine_does(name, sign):
    values = sign * np.random.default_rng(0).uniform(0.1, 3.0, (3, 20))  # [measures, models]
    np.testing.assert_allclose(
        [RULES[name](list(model)) for model in values.T], combine(name, values), rtol=1e-12
    )


@pytest.mark.parametrize("rule", RULES.values(), ids=RULES)
@pytest.mark.parametrize("sign", [1, -1], ids=["positive", "negated"])
@pytest.mark.parametrize("count", [1, 2, 3])
def test_of_measures_of_one_sign_a_combination_grows_with_each(rule, sign, count):
    levels = sorted(sign * value for value in (0.25, 0.5, 2.0))
    for values in itertools.product(levels[:-1], repeat=count):
        for i in range(count):
            more = [*values[:i], levels[levels.index(values[i]) + 1], *values[i + 1 :]]
            assert rule(more) > rule(values)
