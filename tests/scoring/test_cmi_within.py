"""The CMI given all hyperparameters, against a few lines that follow A.2 word by word."""

from __future__ import annotations

import itertools
import math
from collections import Counter, defaultdict

import numpy as np
import pytest

from scoring.cmi_within import cmi_within
from scoring.errors import ScoringError


def literal(codes, gap, measure) -> float:
    groups = defaultdict(list)
    for i, cell in enumerate(map(tuple, codes)):
        groups[cell].append(i)
    mutual = entropy = 0.0
    for models in groups.values():
        pairs = list(itertools.product(models, repeat=2))
        joint = Counter((gap[i] > gap[j], measure[i] > measure[j]) for i, j in pairs)
        p = {key: count / len(pairs) for key, count in joint.items()}
        p_gap = {v: sum(p.get((v, w), 0.0) for w in (True, False)) for v in (True, False)}
        p_mu = {w: sum(p.get((v, w), 0.0) for v in (True, False)) for w in (True, False)}
        mutual += sum(q * math.log2(q / (p_gap[v] * p_mu[w])) for (v, w), q in p.items()) / len(
            groups
        )
        entropy += -sum(q * math.log2(q) for q in p_gap.values() if q) / len(groups)
    return mutual / entropy


def test_it_is_the_literal_formula():
    rng = np.random.default_rng(0)
    codes = np.repeat(np.array(list(itertools.product(range(3), range(2)))), 5, axis=0)
    gap = rng.normal(size=len(codes))
    for measure in (gap, -gap, np.round(gap + rng.normal(size=len(gap)), 1)):
        found = cmi_within(codes, gap, measure)
        assert found.score == pytest.approx(literal(codes, gap, measure), rel=1e-9)
        assert (found.minimum.groups, found.empty_groups) == (6, 0)


def test_one_model_per_setting_has_no_score():
    with pytest.raises(ScoringError, match="several seeds per setting"):
        cmi_within([[0], [1]], [0.1, 0.2], [1.0, 2.0])
