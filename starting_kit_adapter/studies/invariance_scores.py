"""How well each measure predicts the gap of a task's models under its perturbation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ingestion.corpus import Task
from ingestion.run import Report
from pgdl_measures.errors import PgdlError
from pgdl_measures.perturbation_curves import available_batches
from scoring.cmi import cmi
from scoring.errors import ScoringError
from scoring.files import model_name, read_json_object
from scoring.rank import pearson
from starting_kit_adapter.studies.invariance import MEASURES
from starting_kit_adapter.studies.running import examples_of, reference_of


@dataclass(frozen=True)
class Groups:
    """How the models of a task were augmented."""

    perturbation: str
    levels: Mapping[str, str]  # by model


@dataclass(frozen=True)
class MeasureScore:
    """One measure [models] as a predictor; None where its score is undefined."""

    measure: str
    values: np.ndarray
    cmi: float | None
    pearson: float | None


@dataclass(frozen=True)
class Scores:
    """A block of Table 3, with the points of its figure."""

    task: str
    perturbation: str
    levels: tuple[str, ...]  # [models]
    gap: np.ndarray  # [models]
    of: tuple[MeasureScore, ...]
    batches: int  # of training images that were drawn

    @property
    def counts(self) -> dict[str, int]:
        """Models per level of augmentation."""
        return {level: self.levels.count(level) for level in dict.fromkeys(self.levels)}


def groups(task: Task) -> Groups:
    """What `model_configs.json` says of augmentation."""
    reference_of(task)  # is there, and whole
    assert task.reference is not None
    entries = read_json_object(task.reference)
    found = {model_name(key): entry.get("augment") for key, entry in entries.items()}
    names = {augment["perturbation"] if augment else None for augment in found.values()}
    if len(names) != 1 or None in names:
        raise PgdlError(
            f"task {task.name} was not trained with one augmentation: found "
            f"{', '.join(sorted(map(str, names)))}; `pgdl zoo build --augment` makes such tasks"
        )
    return Groups(str(names.pop()), {model: augment["level"] for model, augment in found.items()})


def score(task: Task, grouped: Groups, report: Report, *, threshold: float, batches: int) -> Scores:
    """The measures over the models above the threshold that have all values."""
    reference = reference_of(task)
    name = grouped.perturbation.rpartition(":")[2]
    values = {
        measure: {
            model: result.value
            for (_, model, computed), result in report.results.items()
            if computed == f"{measure}_{name}" and result.value is not None
        }
        for measure in MEASURES
    }
    kept = [
        i
        for i, model in enumerate(reference.ids)
        if reference.train_acc[i] >= threshold and all(model in of for of in values.values())
    ]
    if not kept:
        raise PgdlError(
            f"task {task.name} has no model with a training accuracy of {threshold:g} and all "
            f"values; the largest accuracy is {reference.train_acc.max():.4f}: set --threshold"
        )
    gap, codes = reference.gap[kept], reference.codes[kept]
    found = []
    for measure in MEASURES:
        vector = np.array([values[measure][reference.ids[i]] for i in kept])
        found.append(
            MeasureScore(
                measure,
                vector,
                _if_defined(lambda vector=vector: cmi(codes, gap, vector).score),
                _if_defined(lambda vector=vector: pearson(gap, vector)),
            )
        )
    levels = tuple(grouped.levels[reference.ids[i]] for i in kept)
    drawn = min(batches, available_batches(examples_of(task)))
    return Scores(task.name, name, levels, gap, tuple(found), drawn)


def to_json(scores: Scores) -> dict[str, Any]:
    """The scores and the points behind them, as plain values."""
    return {
        "task": scores.task,
        "perturbation": scores.perturbation,
        "models": scores.counts,
        "batches": scores.batches,
        "levels": list(scores.levels),
        "gap": scores.gap.tolist(),
        "measures": {
            one.measure: {
                "cmi": one.cmi,
                "pearson": one.pearson,
                "values": one.values.tolist(),
            }
            for one in scores.of
        },
    }


def _if_defined(statistic: Any) -> float | None:
    try:
        return float(statistic())
    except ScoringError:
        return None
