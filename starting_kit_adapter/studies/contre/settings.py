"""What the study computes: grids of ContRE settings, each setting a measure.

A grid is a table or figure of Wu et al. 2021: `transformations` is Tables 1, 3, 5 and 6, `ablation`
Table 2, `singles` Figure 3, `pairs` Figure 4, `spoiling` the check of Section 5. A setting that
occurs in several grids is one measure and is computed once. Needs no TensorFlow.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from pgdl_measures.base import IMAGES, Measure
from pgdl_measures.options import RANDAUGMENT

COUNTS = (2, 3, 4)  # N of Table 2
MAGNITUDES = (4, 9, 15, 20)  # M of Table 2
CONTRE = "ContRE"
ACCURACY, FISHER = "accuracy", "Fisher ratio"

ORIGINALS = "Originals"  # what Center Crop is on CIFAR, whose images have no margin (footnote 5)
TRANSFORMATIONS = {
    "Center Crop": "CenterCrop",
    "Random Crop": "RandomCrop",
    "Random Flip": "RandomFlip",
    "Random Rotation": "RandomRotation",
}


@dataclass(frozen=True)
class Grid:
    """A table of settings."""

    name: str
    title: str
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    cells: Mapping[tuple[str, str], Measure]  # by row and column; cells may be missing


def grids(parts: Sequence[str], **options: Any) -> list[Grid]:
    """The grids of these names; `options` are given to every measure."""
    return [_GRIDS[part](options) for part in parts]


def measures(chosen: Sequence[Grid]) -> list[Measure]:
    """The measures of grids, each once."""
    return list({m.name: m for grid in chosen for m in grid.cells.values()}.values())


def _transformations(options: Mapping[str, Any]) -> Grid:
    cells = {}
    for statistic, column in (("accuracy", ACCURACY), ("fisher", FISHER)):
        cells[CONTRE, column] = _contre(2, 20, options, statistic)
        cells[ORIGINALS, column] = _fixed([], options, statistic)
        for row, operation in TRANSFORMATIONS.items():
            cells[row, column] = _fixed([operation], options, statistic)
    rows = (ORIGINALS, *TRANSFORMATIONS, CONTRE)
    title = "Transformations (Tables 1, 3, 5 and 6)"
    return Grid("transformations", title, rows, (ACCURACY, FISHER), cells)


def _ablation(options: Mapping[str, Any]) -> Grid:
    cells = {
        (f"M={magnitude}", f"N={count}"): _contre(count, magnitude, options)
        for magnitude in MAGNITUDES
        for count in COUNTS
    }
    rows = tuple(f"M={magnitude}" for magnitude in MAGNITUDES)
    columns = tuple(f"N={count}" for count in COUNTS)
    return Grid("ablation", "Operations N and magnitude M (Table 2)", rows, columns, cells)


def _singles(options: Mapping[str, Any]) -> Grid:
    cells = {(name, "accuracy"): _fixed([name], options) for name in RANDAUGMENT}
    cells[CONTRE, "accuracy"] = _contre(2, 20, options)
    title = "Single operations (Figure 3)"
    return Grid("singles", title, (*RANDAUGMENT, CONTRE), ("accuracy",), cells)


def _pairs(options: Mapping[str, Any]) -> Grid:
    """Two operations in the order of the list; on the diagonal, one."""
    cells = {pair: _fixed(pair, options) for pair in combinations(RANDAUGMENT, 2)}
    cells.update({(name, name): _fixed([name], options) for name in RANDAUGMENT})
    return Grid("pairs", "Pairs of operations (Figure 4)", RANDAUGMENT, RANDAUGMENT, cells)


def _spoiling(options: Mapping[str, Any]) -> Grid:
    cells = {(CONTRE, "accuracy"): _contre(2, 20, options)}
    title = "Transformed training and test images (Section 5)"
    return Grid("spoiling", title, (CONTRE,), ("accuracy",), cells)


_GRIDS = {
    "transformations": _transformations,
    "ablation": _ablation,
    "singles": _singles,
    "pairs": _pairs,
    "spoiling": _spoiling,
}
PARTS = tuple(_GRIDS)


def _contre(
    count: int, magnitude: int, options: Mapping[str, Any], statistic: str = "accuracy"
) -> Measure:
    fixed = {"count": count, "magnitude": float(magnitude)}
    return _measure(f"{statistic}_n{count}_m{magnitude}", statistic, fixed, options)


def _fixed(
    operations: Sequence[str], options: Mapping[str, Any], statistic: str = "accuracy"
) -> Measure:
    fixed = {"operations": tuple(operations), "magnitude": 20.0}
    name = "_".join(operations) or "originals"
    return _measure(f"{statistic}_{name}", statistic, fixed, options)


def _measure(
    name: str, statistic: str, fixed: Mapping[str, Any], options: Mapping[str, Any]
) -> Measure:
    target = f"pgdl_measures.contre.measures:{statistic}"
    return Measure(name, "", target, fixed, options, needs=(IMAGES,))
