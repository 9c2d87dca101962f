"""Table 3 of Schiff et al. 2021: data set and architecture beside each other, the paper's below."""

from __future__ import annotations

import numpy as np

from starting_kit_adapter.studies.invariance.scores import MEASURES, MeasureScore, Scores
from starting_kit_adapter.studies.invariance.table3 import published_table, to_table


def _scores(task: str, perturbation: str, column: str, cmi: float | None) -> Scores:
    of = tuple(MeasureScore(name, np.zeros(4), cmi, None) for name in MEASURES)
    return Scores(task, perturbation, ("none",) * 4, np.zeros(4), of, 1, column)


def test_tasks_are_columns_by_data_and_architecture() -> None:
    scores = [
        _scores("a", "rotation", "cifar10 resnet", 0.25),
        _scores("b", "rotation", "cifar10 vggnet", None),
        _scores("c", "noise", "cifar10 vggnet", 0.5),
    ]
    header, _, *rows = to_table(scores).splitlines()
    assert header.split("  ")[-1].strip() == "cifar10 vggnet" and "cifar10 resnet" in header
    cells = [row.split() for row in rows]
    assert cells[0] == ["rotation", "n", "=", "4", "n", "=", "4"]
    assert cells[3] == ["Gi-score", "25.00", "-"]
    assert cells[7] == ["Gi-score", "-", "50.00"]


def test_tasks_that_are_alike_keep_their_names() -> None:
    alike = [_scores(task, "rotation", "cifar10 resnet", 0.25) for task in ("first", "second")]
    assert to_table(alike).splitlines()[0].split()[-2:] == ["first", "second"]


def test_the_papers_rows_are_those_of_the_perturbations_at_hand() -> None:
    shown = published_table([_scores("a", "translation_y", "x", 0.1)])
    assert "34.85" in shown and "41.54" not in shown  # Gi of ResNets on CIFAR-10
    assert published_table([_scores("a", "noise", "x", 0.1)]) == ""


def test_rotations_of_both_ranges_have_the_papers_numbers_of_their_data_alone() -> None:
    pair = ("rotation", "rotation90")  # Table 2: CIFAR-10 up to 180 degrees, SVHN up to 90
    rows = published_table([_scores(name, name, "x", 0.1) for name in pair]).splitlines()
    cells = [row.split() for row in rows if row.split()[0] == "Gi-score"]
    assert cells == [
        ["Gi-score", "41.54", "15.29", "-", "-"],
        ["Gi-score", "-", "-", "54.11", "46.11"],
    ]
