"""A report as text: the estimates, the p-values, and what they mean in a sentence."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from pgdl_measures.adversarial.generators import GENERATORS
from pgdl_measures.adversarial.independence import CONFIDENCE, Independence
from starting_kit_adapter.diagnose.overfit.report import Report
from starting_kit_adapter.terminal.text import table

LEVEL = 0.05  # p below this rejects independence
_STRONGEST = "strongest"  # the only generator that found overfitting in the paper
_RANDOM = ("random", "random2")
_WORSE = 0.05  # by how much the error may grow by upsampling

_ESTIMATES = {
    "test_error": "error",
    "adversarial_error": "adversarial error",
    "adversarial_risk": "adversarial risk estimate",
}


def describe(report: Report, split: str) -> str:
    """All of it for one set of images."""
    title = f"{split} set, {report.examples} images"
    tables = [_estimates(report), _shifts(report), _tests(report)]
    return "\n\n".join([title, *tables, verdict(report, split)])


def verdict(report: Report, split: str) -> str:
    """What the test of the strongest generator means."""
    n = len(report.examinations)
    who = "this model" if n == 1 else f"this architecture ({n} training runs)"
    foreign = _foreign_images(report, who)
    if foreign:
        return foreign
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
            "adversarial risk estimate: this is not overfitting."
        )
    return f"{_dependent(who, split, p)} {_which(report, split)}"


def _dependent(who: str, split: str, p: str) -> str:
    return (
        f"Independence of {who} and the {split} set is rejected ({p}). Either {who} depends on the "
        "set, and its error there understates the error on new data; or images that are shifted by "
        "a few pixels are not as likely as the images themselves, as where these were centred: "
        "then the estimate is too high for every model."
    )


def _which(report: Report, split: str) -> str:
    """What speaks for one of the two explanations."""
    if split == "unseen":
        return (
            "No model depends on images that it has not seen: here it is the second, and the test "
            "is void on other images of this kind, too."
        )
    rejecting = [name for name in _RANDOM if report.together(name).p < LEVEL]
    if rejecting:
        return (
            f"The test rejects with {' and '.join(rejecting)} too, where shifts are not chosen to "
            "do harm: this points to the assumption about shifted images, and not to overfitting."
        )
    return (
        "An error that grows with the shift on images that were not used for training speaks for "
        "the second."
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


def _shifts(report: Report) -> str:
    """The mean over models."""
    found = list(report.errors_by_shift.values())
    rows = [[pixels, float(np.mean([errors[pixels] for errors in found]))] for pixels in found[0]]
    return (
        f"{table(['shift', 'error'], rows)}\n"
        "The test assumes that shifted images are as likely as the images: the error of a model "
        "that is independent of them is then the same at every shift."
    )


def _foreign_images(report: Report, who: str) -> str:
    """Said where the model does much worse on the images that the test needs than on the given."""
    if not report.errors_as_given:
        return ""
    given = _mean(report.errors_as_given)
    found = {n: e.outcomes[_STRONGEST].loss.mean() for n, e in report.examinations.items()}
    tested = _mean(found)
    if tested - given < _WORSE:
        return ""
    return (
        f"The test does not apply to {who}: its error is {given:.4f} on the images as given and "
        f"{tested:.4f} on their upsampled centres, which it does not know. Train on upsampled "
        "images with `pgdl zoo build --protocol rescaled`."
    )


def _mean(values: Mapping[str, float]) -> float:
    return float(np.mean(list(values.values())))


def _p(test: Independence) -> str:
    return f"p = {test.p:.4f}" if test.p >= 1e-4 else "p < 0.0001"
