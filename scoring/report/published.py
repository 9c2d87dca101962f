"""The published scores of the competition's eight tasks: CMI x 100, as printed.

Y. Schiff, B. Quanz, P. Das, P.-Y. Chen: Predicting Deep Neural Network Generalization with
Perturbation Response Curves, NeurIPS 2021, Table 1. Our copy of the paper is a text extraction in
which a few cells cannot be read with certainty. Of these, the SVHN cells of "Mixup" and "Mani.
Mix." and the Fashion-MNIST cell of "Mixup" are taken from Table 1 of Schiff et al. 2021b,
which prints the same two rows, of Natekar and Sharma 2020; the average of "Manifold mixup"
then is the one that is printed, and that of "Mixup" follows. Of the row "Pal intra l=1" only the
average can be read, which stands beside that of the row above; the cells of Schiff et al. 2021b are
of another run (7.43 on average).

`measure` has the published sign. Measures here are oriented so that larger predicts a larger gap;
the single rows of Pal are of Pal itself, which is `-pal_…`. Combinations are those of
`scoring.paper_combinations`. The paper calls "Pal l=0 * l=1" the product of Pal intra at layers 0
and 1; its numbers are those of Pal intra and Pal inter at layer 0 in Table 7.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from scoring.kit.reference import Reference

CITATION = (
    "Y. Schiff, B. Quanz, P. Das, P.-Y. Chen: Predicting Deep Neural Network Generalization with "
    "Perturbation Response Curves. NeurIPS 2021, Table 1"
)


@dataclass(frozen=True)
class CompetitionTask:
    """A task of the competition, by its number."""

    number: int
    data: str
    network: str
    models: int


@dataclass(frozen=True)
class PublishedRow:
    """A row of the table: scores in the order of TASKS; None where our copy is not legible."""

    name: str  # as printed
    measure: str | None  # our name for it, if we have it
    scores: tuple[float | None, ...]
    average: float | None


TASKS = (  # in the table's order
    CompetitionTask(1, "CIFAR-10", "VGG", 96),
    CompetitionTask(9, "CIFAR-10", "NiN", 32),
    CompetitionTask(2, "SVHN", "NiN", 54),
    CompetitionTask(4, "CINIC-10", "Conv w/ bn", 96),
    CompetitionTask(5, "CINIC-10", "Conv", 64),
    CompetitionTask(6, "Oxford Flowers", "NiN", 96),
    CompetitionTask(7, "Oxford Pets", "NiN", 48),
    CompetitionTask(8, "Fashion MNIST", "VGG", 64),
)

# fmt: off
ROWS = (
    PublishedRow("Gi inter l=0", "gi_inter_l0",
                 (3.03, 34.34, 26.58, 21.01, 6.96, 33.05, 18.46, 4.48), 18.49),
    PublishedRow("Gi inter l=1", "gi_inter_l1",
                 (7.88, 22.59, 12.17, 12.58, 8.39, 7.52, 4.68, 16.16), 11.49),
    PublishedRow("Pal inter l=0", "-pal_inter_l0",
                 (3.14, 26.39, 24.25, 21.11, 6.37, 29.62, 15.96, 4.21), 16.38),
    PublishedRow("Pal inter l=1", "-pal_inter_l1",
                 (7.31, 12.75, 9.79, 12.09, 7.71, 6.37, 3.46, 14.13), 9.20),
    PublishedRow("Gi intra l=0", "gi_intra_l0",
                 (0.84, 30.54, 41.75, 22.97, 11.46, 42.44, 16.21, 5.10), 21.41),
    PublishedRow("Gi intra l=1", "gi_intra_l1",
                 (0.22, 17.18, 10.96, 9.50, 12.43, 6.92, 3.60, 5.55), 8.29),
    PublishedRow("Pal intra l=0", "-pal_intra_l0",
                 (0.61, 24.36, 31.82, 24.15, 11.01, 38.10, 14.04, 5.12), 18.65),
    PublishedRow("Pal intra l=1", "-pal_intra_l1",
                 (None, None, None, None, None, None, None, None), 7.40),
    PublishedRow("Mixup", "mixup",
                 (0.03, 14.18, 22.75, 30.30, 19.51, 35.30, 9.99, 7.75), 17.48),
    PublishedRow("Manifold mixup", "manifold_mixup",
                 (2.24, 2.88, 12.11, 4.23, 4.84, 0.03, 0.13, 0.19), 3.33),
    PublishedRow("PCA Gi & Mixup", "pca-gi_intra_l0-mixup",
                 (0.04, 33.16, 38.08, 33.76, 20.33, 40.06, 13.19, 10.30), 23.62),
    PublishedRow("Pal l=0 * l=1", "prod--pal_intra_l0-pal_inter_l0",
                 (1.71, 35.77, 41.58, 25.14, 9.50, 38.92, 18.41, 5.61), 22.08),
    PublishedRow("Pal inter + intra", "avg--pal_intra_l0-pal_inter_l0",
                 (24.84, 29.70, 14.04, 1.64, 3.45, 14.84, 2.13, 4.89), 11.94),
    PublishedRow("DBI * Mixup", "dbi_mixup",
                 (0.00, 25.86, 32.05, 31.79, 15.92, 43.99, 12.59, 9.24), 21.43),
)
# fmt: on


def competition_task(reference: Reference) -> CompetitionTask | None:
    """The competition's task that a reference is of, by its name and its number of models."""
    found = re.fullmatch(r"task(\d)(_v\d+)?", reference.task)
    for task in TASKS:
        if found and int(found.group(1)) == task.number and len(reference.ids) == task.models:
            return task
    return None


def published_scores(reference: Reference) -> dict[str, float]:
    """The published scores of our measures on this task, x 100; none if it is another task."""
    task = competition_task(reference)
    if task is None:
        return {}
    column = TASKS.index(task)
    scores = {row.measure: row.scores[column] for row in ROWS if row.measure is not None}
    return {measure: score for measure, score in scores.items() if score is not None}
