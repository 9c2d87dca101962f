"""Registry entries of ContRE: accuracy and features on contrastive examples."""

from __future__ import annotations

from pgdl_measures.base import IMAGES, UNITS, Measure

FAMILY = "contrastive examples"

_MODULE = "pgdl_measures.contre.measures"
_PAPER = "Wu et al. 2021"


def entries() -> list[Measure]:
    """The three statistics with RandAugment, and the accuracy with single transformations."""
    statistics = (
        (
            "gap",
            "accuracy on the training data minus that on contrastive examples",
            "L(Z) - L(R(Z)), L the accuracy, R RandAugment with N = 2 and M = 20",
            "Section 4.4.4",
            (IMAGES,),
            "If the models differ in their training accuracy.",
        ),
        (
            "accuracy",
            "accuracy (negated) on contrastive examples",
            "-L(R(Z)), L the accuracy, R RandAugment with N = 2 and M = 20",
            "Alg. 1",
            (IMAGES,),
            "If all models fit their training data: the measure of this family to try first.",
        ),
        (
            "fisher",
            "Fisher ratio (negated) of the features of contrastive examples",
            "-Tr(S_w^-1 S_b) of the inputs of the last layer, S_w and S_b the scatter within and "
            "between classes",
            "Section 3.3.3, eq. 3 and 4",
            (IMAGES,),
            "If accuracies are tied: it also depends on the distances between the classes.",
        ),
    )
    single = (
        ("center_crop", "CenterCrop", "the enlarged centres of the training images"),
        ("random_crop", "RandomCrop", "randomly shifted training images"),
        ("random_flip", "RandomFlip", "randomly mirrored training images"),
        ("random_rotation", "RandomRotation", "randomly rotated training images"),
    )
    return [
        *(
            Measure(
                f"contre_{name}",
                summary,
                f"{_MODULE}:{name}",
                needs=needs,
                family=FAMILY,
                definition=definition,
                source=f"{_PAPER}, {where}",
                cost="medium",
                use=use,
                unit=name if name in UNITS else "",
            )
            for name, summary, definition, where, needs, use in statistics
        ),
        *(
            Measure(
                f"contre_{name}",
                f"accuracy (negated) on {what}",
                f"{_MODULE}:accuracy",
                {"operations": (operation,), "count": 1, "magnitude": 30.0},
                needs=(IMAGES,),
                family=FAMILY,
                definition=f"-L(R(Z)), L the accuracy, R = {operation}",
                source=f"{_PAPER}, Figure 3",
                cost="medium",
                use="To see which transformation alone predicts as well as contre_accuracy.",
                unit="accuracy",
            )
            for name, operation, what in single
        ),
    ]
