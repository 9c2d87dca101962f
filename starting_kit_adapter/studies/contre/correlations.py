"""Correlation of each setting's value with the test accuracy, over the models of a task.

Spearman's correlation as in Wu et al. 2021, Tables 1, 2, 3 and 6, and the partial correlation given
the training accuracy, as in Table 5. Measures are negated accuracies and Fisher ratios; here they
are negated back.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from scoring.errors import if_defined
from scoring.kit.reference import Reference
from scoring.partial import partial_spearman
from scoring.rank import spearman
from scoring.report.sheets import csv_text
from starting_kit_adapter.studies.contre.settings import Grid
from starting_kit_adapter.terminal.text import table

_UNDEFINED = (
    "-: no such setting, or an undefined correlation: all models have the same value or, for a "
    "partial correlation, the order of their training accuracies (eq. 2 divides by zero)"
)


@dataclass(frozen=True)
class Correlations:
    """The correlations of a grid's settings; None where they are undefined."""

    grid: Grid
    models: int
    spearman: Mapping[tuple[str, str], float | None]  # by row and column
    partial: Mapping[tuple[str, str], float | None]
    test: np.ndarray  # [models]: test accuracies
    performance: Mapping[tuple[str, str], np.ndarray]  # [models]: accuracies or Fisher ratios
    architectures: tuple[str, ...] = ()  # [models], where they are a hyperparameter of the task
    left_out: tuple[str, ...] = ()  # columns that most models have no value of


def correlate(
    grid: Grid, reference: Reference, values: Mapping[str, Mapping[str, float]]
) -> Correlations:
    """Correlations over the models that have all values; `values` is by measure and model.

    A column that most of the models lack - its measure does not apply to them - is left out, so
    that the other columns keep their models.
    """
    counts = {
        column: min(len(values[m.name]) for (_, of), m in grid.cells.items() if of == column)
        for column in grid.columns
    }
    columns = tuple(column for column in grid.columns if 2 * counts[column] > max(counts.values()))
    left_out = tuple(column for column in grid.columns if column not in columns) if columns else ()
    cells = {cell: m for cell, m in grid.cells.items() if cell[1] not in left_out}
    grid = replace(grid, columns=columns or grid.columns, cells=cells)
    needed = [values[measure.name] for measure in grid.cells.values()]
    known = [i for i, model in enumerate(reference.ids) if all(model in found for found in needed)]
    test, train = reference.test_acc[known], reference.train_acc[known]
    found, partial, performances = {}, {}, {}
    for cell, measure in grid.cells.items():
        performance = -np.array([values[measure.name][reference.ids[i]] for i in known])
        found[cell] = if_defined(spearman, test, performance)
        partial[cell] = if_defined(partial_spearman, test, performance, train)
        performances[cell] = performance
    return Correlations(
        grid,
        len(known),
        found,
        partial,
        test,
        performances,
        _architectures(reference, known),
        left_out,
    )


def _architectures(reference: Reference, rows: Sequence[int]) -> tuple[str, ...]:
    if "architecture" not in reference.hparams:
        return ()
    at = reference.hparams.index("architecture")
    return tuple(str(reference.values[at][reference.codes[row, at]]) for row in rows)


def to_text(correlations: Correlations) -> str:
    """The tables of a grid, with both correlations."""
    grid = correlations.grid
    parts = [f"{grid.title}, {correlations.models} models"]
    for title, found in (
        ("Spearman correlation with test accuracy", correlations.spearman),
        ("partial, given training accuracy", correlations.partial),
    ):
        rows = [[row, *(found.get((row, column)) for column in grid.columns)] for row in grid.rows]
        parts.append(table([title, *grid.columns], rows))
    if correlations.left_out:
        columns = ", ".join(correlations.left_out)
        parts.append(f"left out, because most of the models have no value: {columns}")
    return _explained("\n\n".join(parts), [correlations])


def to_csv(correlations: Correlations) -> str:
    """A line per setting."""
    rows = [
        (
            *(*cell, measure.name, correlations.models),
            *(correlations.spearman[cell], correlations.partial[cell]),
        )
        for cell, measure in correlations.grid.cells.items()
    ]
    return csv_text(("row", "column", "measure", "models", "spearman", "partial_spearman"), rows)


def to_json(correlations: Correlations) -> dict[str, object]:
    """The correlations as plain values."""
    return {
        "title": correlations.grid.title,
        "models": correlations.models,
        "cells": [
            {
                "row": row,
                "column": column,
                "measure": measure.name,
                "spearman": correlations.spearman[row, column],
                "partial_spearman": correlations.partial[row, column],
            }
            for (row, column), measure in correlations.grid.cells.items()
        ],
    }


def side_by_side(found: Mapping[str, Correlations]) -> str:
    """Several tasks as the columns of one table for each statistic, as in Tables 1, 3, 5 and 6."""
    grid = next(iter(found.values())).grid
    tables = []
    for column in dict.fromkeys(c for part in found.values() for c in part.grid.columns):
        for title, kind in (("Spearman", "spearman"), ("partial", "partial")):
            rows = [
                [row, *(getattr(part, kind).get((row, column)) for part in found.values())]
                for row in grid.rows
            ]
            tables.append(table([f"{column}, {title}", *found], rows))
    counts = ", ".join(f"{task} {part.models}" for task, part in found.items())
    return _explained("\n\n".join([f"{grid.title}; models: {counts}", *tables]), found.values())


def _explained(text: str, found: Iterable[Correlations]) -> str:
    """With what a dash in a table means, where there is one."""
    cells = [
        kind.get((row, column))
        for part in found
        for kind in (part.spearman, part.partial)
        for row in part.grid.rows
        for column in part.grid.columns
    ]
    return f"{text}\n\n{_UNDEFINED}" if None in cells else text
