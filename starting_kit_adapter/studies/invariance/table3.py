"""Table 3 of Schiff et al. 2021: a column for each data set and architecture, and the paper's."""

from __future__ import annotations

from collections.abc import Sequence

from starting_kit_adapter.studies.invariance.scores import MEASURES, Scores
from starting_kit_adapter.terminal.text import table

# The paper's values: models, then CMI x 100 of the rows of MEASURES, by column.
_COLUMNS = ("CIFAR-10 ResNet", "CIFAR-10 VGG", "SVHN ResNet", "SVHN VGG")
_PUBLISHED = {
    "rotation": (
        (34, 93, 49, 142),
        (27.99, 16.99, 47.24, 42.97),
        (27.61, 15.61, 48.14, 44.05),
        (41.54, 15.29, 54.11, 46.11),
    ),
    "translation_x": (
        (36, 112, 50, 143),
        (41.79, 33.48, 29.49, 24.20),
        (45.03, 33.00, 29.88, 24.28),
        (50.07, 34.31, 34.56, 25.94),
    ),
    "translation_y": (
        (36, 107, 49, 141),
        (26.79, 35.68, 51.88, 50.98),
        (26.55, 37.33, 52.39, 52.22),
        (34.85, 39.07, 59.02, 52.83),
    ),
    "colour_jitter": (
        (44, 130, 49, 143),
        (35.77, 28.44, 43.08, 30.07),
        (39.12, 29.37, 43.26, 28.67),
        (44.63, 30.79, 50.08, 29.45),
    ),
}
_PUBLISHED["rotation90"] = _PUBLISHED["rotation"]
# Table 2: rotations of CIFAR-10 are by up to 180 degrees, those of SVHN, `rotation90`, by up to 90.
_DATA = {"rotation": "CIFAR-10", "rotation90": "SVHN"}


def to_table(scores: Sequence[Scores]) -> str:
    """CMI x 100 of all tasks: perturbations below each other, data and architectures beside."""
    columns = list(dict.fromkeys(one.column for one in scores))
    found = {(one.perturbation, one.column): one for one in scores}
    if len(found) < len(scores):  # two tasks that are alike in both
        columns = [one.task for one in scores]
        found = {(one.perturbation, one.task): one for one in scores}
    rows: list[list[object]] = []
    for perturbation in dict.fromkeys(one.perturbation for one in scores):
        here = [found.get((perturbation, column)) for column in columns]
        rows.append([perturbation, *(f"n = {len(one.gap)}" if one else None for one in here)])
        for i, text in enumerate(MEASURES.values()):
            values = [one.of[i].cmi if one else None for one in here]
            rows.append([f"  {text}", *(None if v is None else f"{100 * v:.2f}" for v in values)])
    return table(["CMI x 100", *columns], rows)


def published_table(scores: Sequence[Scores]) -> str:
    """The same rows of the paper; empty where it has none of the perturbations."""
    rows: list[list[object]] = []
    for perturbation in dict.fromkeys(one.perturbation for one in scores):
        if perturbation in _PUBLISHED:
            counts, *values = _PUBLISHED[perturbation]
            known = [column.startswith(_DATA.get(perturbation, "")) for column in _COLUMNS]
            rows.append([perturbation, *(f"n = {n}" if k else None for n, k in zip(counts, known))])
            for text, row in zip(MEASURES.values(), values):
                cells = (f"{value:.2f}" if k else None for value, k in zip(row, known))
                rows.append([f"  {text}", *cells])
    return table(["Schiff et al. 2021, Table 3", *_COLUMNS], rows) if rows else ""
