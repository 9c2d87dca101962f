"""Six rules that make one measure of several (Schiff et al. 2021, App. A.8).

| rule     | combined value of a model                                                    | Table |
| -------- | ---------------------------------------------------------------------------- | ----- |
| pca      | projection of the measures on their first principal component, over a task   | 4     |
| npca     | the same after subtracting each measure's mean and dividing by its deviation | 5     |
| avg      | the mean of the values                                                       | 6     |
| prod     | the product of the values                                                    | 7     |
| prod_avg | the product plus the mean                                                    | 8     |
| avg_rank | the mean of the ranks within the task, from 1 to the number of models        | 9     |

Values are the measures' own: A.8 standardizes for npca and ranks for avg_rank, and normalizes
nothing else. The paper combines two measures, and more by PCA; all rules here take any number.

Orientation. Every measure here is oriented so that larger predicts a larger gap; Pal and accuracies
are the negatives of the paper's. That is A.8's "we use the negative of Pal-score when combining
with Gi-score", kept for all measures alike. What follows from it:

- avg and avg_rank are oriented because their terms are.
- The sign of a principal component is arbitrary: it is chosen so that the component grows with the
  sum of the measures that it is made of.
- A product of negative values has lost its orientation: (-Pal)(-Pal') = Pal Pal' falls as the gap
  grows. Where no value of any measure is positive, the product is minus that of the sizes, which
  grows with every factor and ranks as the paper's product of raw scores does, reversed. For values
  of both signs (Gi times -Pal) the product is taken as A.8 says, but it rises in one factor and
  falls in the other: `is_monotone` is False, and the user is warned.

Some published rows do not seem to be what the text says. For two scores that rise together the
mean, the mean rank and the product rank models much alike, as they do for Gi with Gi. Of two Pal
scores the averages over tasks are 11.94, 2.31 and 22.08, and those of Gi with Mixup, whose signs
the paper does not give, 17.03, 1.48 and 19.16: there, one of the two was probably negated. And "Pal
l=0 * l=1" of Table 1 has the numbers of Pal intra l0 and Pal *inter* l0 of Table 7.

Equal values share their mean rank; A.8 does not say.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from scoring.errors import ScoringError

Floats = npt.NDArray[np.float64]


def pca(measures: Floats) -> Floats:
    """The first principal component of [measures, models], centred."""
    centred = measures - measures.mean(axis=1, keepdims=True)
    direction = np.linalg.svd(centred, full_matrices=False)[0][:, 0]
    total = direction.sum()
    reversed_ = total < 0 or (np.isclose(total, 0) and direction[0] < 0)
    return (-direction if reversed_ else direction) @ centred


def npca(measures: Floats) -> Floats:
    """The first principal component of the standardized measures."""
    deviation = measures.std(axis=1, keepdims=True)
    return pca((measures - measures.mean(axis=1, keepdims=True)) / deviation)


def avg(measures: Floats) -> Floats:
    """The mean of the values."""
    return measures.mean(axis=0)


def prod(measures: Floats) -> Floats:
    """The product; of measures that are never positive, minus the product of their sizes."""
    if np.all(measures <= 0):
        return -np.abs(measures).prod(axis=0)
    return measures.prod(axis=0)


def prod_avg(measures: Floats) -> Floats:
    """The product plus the mean."""
    return prod(measures) + avg(measures)


def avg_rank(measures: Floats) -> Floats:
    """The mean of the ranks, the smallest value having rank 1."""
    from scipy.stats import rankdata  # half a second, which a submission need not wait for

    return rankdata(measures, axis=1).mean(axis=0)


RULES: dict[str, Callable[[Floats], Floats]] = {
    rule.__name__: rule for rule in (pca, npca, avg, prod, prod_avg, avg_rank)
}
MODEL_BY_MODEL = ("avg", "prod", "prod_avg")  # rules that need no other model of the task


def combine(rule: str, measures: npt.ArrayLike) -> Floats:
    """The combination [models] of oriented `measures` [measures, models] of one task."""
    _check_rule(rule)
    measures = np.asarray(measures, np.float64)
    if measures.ndim != 2 or len(measures) < 2 or not measures.shape[1]:
        raise ScoringError(
            f"a combination takes two measures or more of one model or more, not {measures.shape}"
        )
    constant = np.flatnonzero(np.ptp(measures, axis=1) == 0)
    if rule == "npca" and constant.size:
        raise ScoringError(f"measure number {constant[0]} is constant: npca divides by 0")
    with np.errstate(over="ignore", invalid="ignore"):
        combined = RULES[rule](measures)
    if not np.isfinite(combined).all():
        raise ScoringError(f"{rule} of these measures is not finite: their values are too large")
    return combined


def combine_one(rule: str, values: Sequence[float]) -> float:
    """The combination of several measures of one model, by a rule of `MODEL_BY_MODEL`.

    A submission to the competition sees one model at a time, so the signs that `prod` looks at are
    those of this model. `combine` looks at all models of a task; the two differ for measures whose
    sign changes from model to model.
    """
    if rule not in MODEL_BY_MODEL:
        raise ScoringError(f"no rule {rule!r} for one model; there are {', '.join(MODEL_BY_MODEL)}")
    return float(RULES[rule](np.array(values, np.float64)[:, None])[0])


def is_monotone(rule: str, measures: npt.ArrayLike) -> bool:
    """False where the combination does not grow with all measures: products of both signs."""
    measures = np.asarray(measures, np.float64)
    one_sign = np.all(measures <= 0) or np.all(measures >= 0)
    return rule not in ("prod", "prod_avg") or bool(one_sign)


def combination_name(rule: str, measures: Sequence[str]) -> str:
    """The combination as a measure: `pca-gi_intra_l0-mixup`, in whatever order they are given.

    No rule depends on the order. The name is a folder's on every system, needs no quotes in a
    shell, and has no comma, which separates measures elsewhere. Of a negated measure it has two
    hyphens: `avg--pal_intra_l0-gi_intra_l0`.
    """
    _check_rule(rule)
    return "-".join([rule, *sorted(measures)])


def combination_parts(name: str) -> tuple[str, tuple[str, ...]] | None:
    """Rule and measures of the name of a combination; None if it is not of that form."""
    rule, *words = name.split("-")
    measures, sign = [], ""
    for word in words:
        if word:
            measures.append(sign + word)
        sign = "" if word else "-"
    return (rule, tuple(measures)) if rule in RULES and len(measures) > 1 else None


def _check_rule(rule: str) -> None:
    if rule not in RULES:
        raise ScoringError(f"no rule {rule!r}; there are {', '.join(RULES)}")
