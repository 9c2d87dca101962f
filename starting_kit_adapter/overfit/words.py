"""A report as text: the estimates, the p-values, and what they mean in a sentence."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from pgdl_measures.adversarial.generators import GENERATORS
from pgdl_measures.adversarial.independence import CONFIDENCE, Independence
from starting_kit_adapter.cli.text import table
from starting_kit_adapter.overfit.report import Report

LEVEL = 0.05  # p below this rejects independence
_STRONGEST = "strongest"  # the only generator that found overfitting in the paper
_SHIFT = 0.05  # of the error by rescaling, above which it is said

_ESTIMATES = {
    "test_error": "error",
    "adversarial_error": "adversarial error",
    "adversarial_risk": "adversarial risk estimate",
}


def describe(report: Report, split: str) -> str:
    """All of it for one set of images."""
    parts = [f"{split} set, {report.examples} images", _estimates(report), _tests(report)]
    note = _rescaling_note(report)
    if note:
        parts.append(note)
    return "\n\n".join([*parts, verdict(report, split)])


def verdict(report: Report, split: str) -> str:
    """What the test of the strongest generator means."""
    n = len(report.examinations)
    who = "this model" if n == 1 else f"this architecture ({n} training runs)"
    test = report.together(_STRONGEST)
    p = _p(test)
    if test.p >= LEVEL:
        return (
            f"No overfitting of {who} to the {split} set is detected ({p}). This is no proof that "
            "there is none: translations are a weak attack, and fewer images make it weaker."
        )
    if test.statistic < 0:
        return (
            f"The {split} set is not independent of {who} ({p}), but its error is above the "
            "adversarial risk estimate: this is not overfitting. Look at the images: where they "
            "were centred, a shifted one is less likely than the original, and the test is void."
        )
    return (
        f"{who.capitalize()} depends on the {split} set ({p}): its error there understates the "
        "error on new data. This holds where images that are shifted by a few pixels are as likely "
        "as the images themselves."
    )


def _estimates(report: Report) -> str:
    """The mean over models; intervals are those of one model, or the range over models."""
    found = [e.outcomes[_STRONGEST].estimates for e in report.examinations.values()]
    rows: list[list[object]] = []
    for key, name in _ESTIMATES.items():
        values = [estimates[key] for estimates in found]
        if len(values) == 1:
            rows.append([name, *values[0]])
        else:
            points = [value.value for value in values]
            rows.append([name, float(np.mean(points)), min(points), max(points)])
    interval = f"{CONFIDENCE:.1%} interval from" if len(found) == 1 else "of all models, from"
    headers = ["estimate" if len(found) == 1 else "mean estimate", "value", interval, "to"]
    return table(headers, rows)


def _tests(report: Report) -> str:
    rows: list[list[object]] = []
    n = len(report.examinations)
    for name in GENERATORS:
        found = list(report.examinations.values())
        together = report.together(name)
        if n == 1:
            rows.append([name, together.p, together.uncapped, found[0].basic_test(name).p])
        else:
            p = report.p_values(name)
            rows.append([name, together.p, together.uncapped, float(p.mean()), float(np.median(p))])
    if n == 1:
        return table(["generator", "p", "uncapped", "p of the basic test"], rows)
    return table(["generator", f"p of {n} models", "uncapped", "mean p of one", "median"], rows)


def _rescaling_note(report: Report) -> str:
    """Where the model does much worse on the images that the test needs than on the given ones."""
    if not report.errors_as_given:
        return ""
    given = _mean(report.errors_as_given)
    found = {n: e.outcomes[_STRONGEST].loss.mean() for n, e in report.examinations.items()}
    tested = _mean(found)
    if tested - given < _SHIFT:
        return ""
    return (
        f"The error is {given:.4f} on the images as given and {tested:.4f} on their upsampled "
        "centres: the test is about a model for upsampled images, as `pgdl zoo build --protocol "
        "rescaled` trains. --room circular tests on the images as given."
    )


def _mean(values: Mapping[str, float]) -> float:
    return float(np.mean(list(values.values())))


def _p(test: Independence) -> str:
    return f"p = {test.p:.4f}" if test.p >= 1e-4 else "p < 0.0001"
