"""Combinations of measures of one model (Schiff et al. 2021, A.8): larger keeps its meaning."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from scoring.combine import MODEL_BY_MODEL, combine, combine_one
from scoring.errors import ScoringError


def test_the_formulas():
    assert combine_one("prod", [0.2, 0.5]) == 0.1
    assert combine_one("avg", [0.2, 0.6]) == 0.4
    assert combine_one("prod_avg", [0.2, 0.6]) == pytest.approx(0.12 + 0.4)


def test_gi_beside_negated_pal_is_the_papers_product():
    assert combine_one("prod", [0.25, -4.0]) == -1.0


@pytest.mark.parametrize("rule", MODEL_BY_MODEL)
@pytest.mark.parametrize("sign", [1, -1], ids=["positive", "negated"])
def test_a_submission_combines_as_pgdl_combine_does(rule, sign):
    values = sign * np.random.default_rng(0).uniform(0.1, 3.0, (3, 20))  # [measures, models]
    found = [combine_one(rule, list(model)) for model in values.T]
    np.testing.assert_allclose(found, combine(rule, values), rtol=1e-12)


@pytest.mark.parametrize("rule", MODEL_BY_MODEL)
@pytest.mark.parametrize("sign", [1, -1], ids=["positive", "negated"])
@pytest.mark.parametrize("count", [1, 2, 3])
def test_of_measures_of_one_sign_a_combination_grows_with_each(rule, sign, count):
    levels = sorted(sign * value for value in (0.25, 0.5, 2.0))
    for values in itertools.product(levels[:-1], repeat=count):
        for i in range(count):
            more = [*values[:i], levels[levels.index(values[i]) + 1], *values[i + 1 :]]
            assert combine_one(rule, more) > combine_one(rule, values)


def test_python_agrees_with_numpy():
    values = [0.3, 1.7, 2.9]
    assert combine_one("prod", values) == pytest.approx(math.prod(values), rel=1e-15)
    assert combine_one("avg", values) == pytest.approx(math.fsum(values) / 3, rel=1e-15)


def test_a_rule_that_needs_a_whole_task_is_refused():
    with pytest.raises(ScoringError, match="no rule 'pca' for one model; there are avg, prod"):
        combine_one("pca", [1.0, 2.0])
