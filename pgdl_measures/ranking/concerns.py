"""Reasons to doubt a ranking, in words."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np
from scipy.stats import kendalltau

from pgdl_measures.ranking.predictions import Prediction

FEW_MODELS = 5
FEW_MEASURES = 3
_SPREAD = 0.05  # of training accuracies
_AGREE = 0.5  # mean Kendall's tau between measures


def chance_accuracy(labels: np.ndarray, classes: int) -> float:
    """The accuracy of always naming the commonest class, or of guessing if that is more."""
    return max(1 / classes, float(np.unique(labels, return_counts=True)[1].max()) / len(labels))


def near_chance(accuracy: float, chance: float, examples: int) -> bool:
    """Whether an accuracy is within three standard errors of chance, or below."""
    return accuracy <= chance + 3 * np.sqrt(chance * (1 - chance) / examples)


def chance_warning(names: Sequence[str], accuracies: Sequence[float], chance: float) -> str:
    """One sentence about models whose training accuracy is near chance."""
    many = ", ".join(f"{name} ({value:.1%})" for name, value in zip(names, accuracies))
    return (
        f"training accuracy near chance ({chance:.1%}): {many}. Is this the data that they "
        "were trained on, and scaled as it was then?"
    )


def concerns(
    names: Sequence[str], training: np.ndarray, found: Sequence[Prediction], by: str
) -> list[str]:
    """One sentence each, the gravest first."""
    said = []
    low, high = training.min(), training.max()
    if high - low > _SPREAD and by == "accuracy":
        said.append(
            f"training accuracies differ, from {low:.1%} to {high:.1%}: the order then depends on "
            "the sizes of the gaps, which measures predict less well than which gap is larger"
        )
    elif high - low > _SPREAD:
        said.append(
            f"training accuracies differ, from {low:.1%} to {high:.1%}: the model with the "
            "smallest gap need not have the best test accuracy"
        )
    if len(found) > 1 and len(names) > 1:
        means = [one.scores() for one in found]
        constant = [one.measure.name for one, mean in zip(found, means) if not np.ptp(mean)]
        if constant:
            said.append(f"equal for all models, so without effect: {', '.join(constant)}")
        telling = [mean for mean in means if np.ptp(mean)]
        taus = [kendalltau(a, b).statistic for a, b in itertools.combinations(telling, 2)]
        tau = float(np.mean(taus)) if taus else 1.0
        if tau < _AGREE:
            firsts: dict[str, list[str]] = {}
            for one, mean in zip(found, means):
                if one.measure.name in constant:
                    continue
                firsts.setdefault(names[int(mean.argmax())], []).append(one.measure.name)
            picks = "; ".join(f"{model} by {', '.join(by)}" for model, by in firsts.items())
            said.append(
                f"the measures disagree (mean Kendall's tau of two of them: {tau:.2f}); first is "
                f"{picks}"
            )
    if len(found) < FEW_MEASURES:
        said.append(f"only {counted(len(found), 'measure')}: too few to show how much they differ")
    if len(names) < FEW_MODELS:
        said.append(
            f"only {counted(len(names), 'model')}: a guess picks the best of them with probability "
            f"1/{len(names)}"
        )
    return said


def counted(count: int, what: str) -> str:
    """A number of things, in the plural unless it is one."""
    return f"{count} {what}" + ("" if count == 1 else "s")
