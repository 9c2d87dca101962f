"""What the test of independence means, in a paragraph.

A rejection has one of two causes: the model depends on the images (overfitting), or shifted images
are not as likely as the images, although the test assumes it (Werpachowski et al. 2019, Section
5.1). In the second case the error also grows with the shift on images that the model has not seen.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from pgdl_measures.adversarial.independence import Independence
from pgdl_measures.adversarial.padding import Upsampling
from starting_kit_adapter.diagnose.overfit.report import Report

LEVEL = 0.05  # p below this rejects independence
STRONGEST = "strongest"  # the only generator that found overfitting in the paper


def verdict(reports: Mapping[str, Report], split: str) -> str:
    """What was found on one set, with the other sets as evidence for the assumption."""
    report = reports[split]
    n = len(report.examinations)
    who = "this model" if n == 1 else f"this architecture ({n} training runs)"
    foreign = _foreign_images(report, who)
    if foreign:
        return foreign
    test = report.together(STRONGEST)
    p = _p(test)
    if test.p >= LEVEL:
        return (
            f"No overfitting of {who} to the {split} set is detected ({p}). This does not prove "
            "that there is none: translations are a weak attack, and fewer images make it weaker."
        )
    if test.statistic < 0:
        return (
            f"The {split} set is not independent of {who} ({p}), but its error is above the "
            "adversarial risk estimate: this is not overfitting."
        )
    return f"Independence of {who} and the {split} set is rejected ({p}). {_why(reports, split)}"


def _why(reports: Mapping[str, Report], split: str) -> str:
    if _is_new(split):
        return (
            "No model depends on images that it has not seen, so shifted images are not as likely "
            "as the images, although the test assumes that they are. Its result means nothing for "
            "these images, or for others of this kind."
        )
    judges = [name for name in reports if _is_new(name)]
    judges += ["test"] if split == "train" and "test" in reports else []
    if not judges:
        return _undecided_for_want_of_images(split)
    judge = judges[0]
    here, there = reports[split].growth(), reports[judge].growth()
    facts = (
        f"Where images are shifted, the error changes by {there.value:+.4f} on the {judge} set, "
        f"{_in_what_way_new(judge)} (95 % interval {there.low:+.4f} to {there.high:+.4f}), and by "
        f"{here.value:+.4f} on the {split} set."
    )
    if there.high < here.value / 2:
        return (
            f"{facts} Shifted images are about as likely as the images, as the test assumes: this "
            f"is overfitting to the {split} set, whose error understates the error on new images."
        )
    if there.low > 0:
        return (
            f"{facts} Shifted images are not as likely as the images (for example, because these "
            "were centred). The test assumes that they are, so it says nothing about overfitting "
            "here."
        )
    return (
        f"{facts} Undecided: there are too few images in the {judge} set to tell whether shifted "
        "images are as likely as the images, which the test assumes."
    )


def _undecided_for_want_of_images(split: str) -> str:
    advice = (
        "compare with the test set by --split both"
        if split == "train"
        else "add a second --data with new images of the same kind, which had no part in making "
        "the model"
    )
    return (
        "Undecided: either the model depends on the set, and its error there understates the error "
        "on new images; or shifted images are not as likely as the images (for example, because "
        f"these were centred), and the estimate is too high for every model. To decide, {advice}."
    )


def _is_new(split: str) -> bool:
    """Whether images had no part in training or choosing a model."""
    return split not in ("train", "test")


def _in_what_way_new(judge: str) -> str:
    return "which it was not trained on" if judge == "test" else "which it has not seen"


def _foreign_images(report: Report, who: str) -> str:
    """Said where the model does much worse on the images that the test needs than on the given."""
    if not report.errors_as_given:
        return ""
    untouched = float(np.mean(list(report.errors_as_given.values())))
    tested = float(report.errors().mean())
    if Upsampling(untouched, tested).tolerated:
        return ""
    return (
        f"The test does not apply to {who}: its error is {untouched:.4f} on the images as given "
        f"and {tested:.4f} on their upsampled centres, on which it was not trained. Give "
        "--padding circular, or train on upsampled images with `pgdl zoo build --protocol "
        "rescaled`."
    )


def _p(test: Independence) -> str:
    return f"p = {test.p:.4f}" if test.p >= 1e-4 else "p < 0.0001"
