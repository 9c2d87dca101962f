"""What a response curve cannot be computed of, said before it is computed."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from absl import logging

from pgdl_measures.data import TrainingData
from pgdl_measures.errors import MeasureError
from pgdl_measures.perturbations.mixup import PAIRINGS


def check_magnitudes(magnitudes: Sequence[float]) -> None:
    """Raises where a curve has no magnitudes, or not in order."""
    if len(magnitudes) == 0 or list(magnitudes) != sorted(magnitudes):
        raise MeasureError(f"the magnitudes are {list(magnitudes)}; expected increasing numbers")


def check_classes(data: TrainingData) -> None:
    """Raises where the labels are all one."""
    if len(data.class_counts) < 2:
        label = next(iter(data.class_counts))
        raise MeasureError(f"all labels are {label}; expected at least two classes")


def check_mixup(
    data: TrainingData,
    magnitudes: Sequence[float],
    pairing: str,
    batches: int,
    batch_size: int,
) -> None:
    """Raises where no pair can be drawn by these settings of a mixup curve."""
    if pairing not in PAIRINGS:
        raise MeasureError(f"the pairing is {pairing!r}; expected one of {', '.join(PAIRINGS)}")
    check_magnitudes(magnitudes)
    if batches < 1 or batch_size < 2:
        raise MeasureError(f"{batches} batches of {batch_size} have no pair in them")
    check_classes(data)
    if pairing == "intra":
        alone = [label for label, count in data.class_counts.items() if count < 2]
        if len(alone) == len(data.class_counts):
            raise MeasureError(
                "every class has a single example, so that none can be paired within its class"
            )
        if alone:
            logging.warning("classes with a single example are never paired: %s", alone)


def check_pairs(pairs: np.ndarray, data: TrainingData, pairing: str) -> None:
    """Raises where no batch has a pair, of numbers of pairs [batches, magnitudes]."""
    empty = int((pairs[:, 0] == 0).sum())
    if not pairs.sum(axis=0).all():
        raise MeasureError(
            f"no batch has a pair for {pairing}-class mixup ({len(pairs)} batches of "
            f"{len(data)} examples in {len(data.class_counts)} classes): use a larger batch_size"
        )
    if empty:
        logging.warning("%d of %d batches have no %s-class pair", empty, len(pairs), pairing)
