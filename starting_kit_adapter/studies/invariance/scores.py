"""How well each measure predicts the gap of a task's models under its perturbation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ingestion.corpus import Task
from ingestion.run.loop import Report
from pgdl_measures.errors import PgdlError
from pgdl_measures.response_curves.perturbation_curves import available_batches
from scoring.cmi import cmi_score
from scoring.errors import if_defined
from scoring.files import model_name, read_json_object
from scoring.rank import pearson
from starting_kit_adapter.studies.running import examples_of, reference_of
from starting_kit_adapter.terminal.text import table

MEASURES = {  # the rows of Table 3
    "augmented_accuracy": "accuracy on augmented train subset",
    "mean_accuracy": "mean accuracy on PR curve",
    "gi": "Gi-score",
}


@dataclass(frozen=True)
class Groups:
    """How the models of a task were augmented."""

    perturbation: str
    levels: Mapping[str, str]  # by model
    column: str  # of Table 3: the data set and the architecture, or else the task


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
    column: str  # of Table 3

    @property
    def counts(self) -> dict[str, int]:
        """Models per level of augmentation."""
        return {level: self.levels.count(level) for level in dict.fromkeys(self.levels)}


def groups(task: Task) -> Groups:
    """Reads the augmentation of each model from `model_configs.json`."""
    reference_of(task)  # raises if it is missing or incomplete
    assert task.reference is not None
    entries = read_json_object(task.reference)
    found = {model_name(key): entry.get("augment") for key, entry in entries.items()}
    try:
        names = {augment["perturbation"] if augment else None for augment in found.values()}
        levels = {model: str(augment["level"]) for model, augment in found.items() if augment}
        recorded = [
            {entry.get(name) for entry in entries.values()} for name in ("data", "architecture")
        ]
    except (TypeError, KeyError) as error:
        raise PgdlError(
            f"{task.reference}: `augment`, `data` or `architecture` are not as `pgdl zoo build "
            f"--augment` writes them ({error!r})"
        ) from error
    if len(names) != 1 or None in names:
        raise PgdlError(
            f"task {task.name} was not trained with one augmentation: found "
            f"{', '.join(sorted(map(str, names)))}; build one with `pgdl zoo build --augment`"
        )
    known = all(len(values) == 1 and None not in values for values in recorded)
    column = " ".join(str(values.pop()) for values in recorded) if known else task.name
    return Groups(str(names.pop()), levels, column)


def score(task: Task, grouped: Groups, report: Report, *, threshold: float, batches: int) -> Scores:
    """Scores over the models that reach the threshold and have all values."""
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
    rows = [
        i
        for i, model in enumerate(reference.ids)
        if reference.train_acc[i] >= threshold and all(model in of for of in values.values())
    ]
    if not rows:
        raise PgdlError(
            f"task {task.name} has no model with a training accuracy of {threshold:g} and all "
            f"values; its largest accuracy is {reference.train_acc.max():.4f}: lower --threshold"
        )
    gap, codes = reference.gap[rows], reference.codes[rows]
    found = []
    for measure in MEASURES:
        vector = np.array([values[measure][reference.ids[i]] for i in rows])
        found.append(
            MeasureScore(
                measure,
                vector,
                if_defined(cmi_score, codes, gap, vector),
                if_defined(pearson, gap, vector),
            )
        )
    levels = tuple(grouped.levels[reference.ids[i]] for i in rows)
    drawn = min(batches, available_batches(examples_of(task)))
    return Scores(task.name, name, levels, gap, tuple(found), drawn, grouped.column)


def to_text(scores: Sequence[Scores], threshold: float, batches: int) -> str:
    """A block per task; R is that of the oriented measure: larger means a larger gap."""
    parts = [f"models with a training accuracy of at least {threshold:g}; accuracies are negated"]
    for one in scores:
        counts = ", ".join(f"{n} {level}" for level, n in one.counts.items())
        rows = [
            [MEASURES[m.measure], None if m.cmi is None else 100 * m.cmi, m.pearson] for m in one.of
        ]
        head = f"{one.perturbation} ({one.task}), n = {sum(one.counts.values())}: {counts}"
        if batches is not None and one.batches < batches:
            head += f"; {one.batches} of {batches} batches: the training data has no more"
        parts.append(f"{head}\n{table(['measure', 'CMI x 100', 'Pearson R'], rows)}")
    return "\n\n".join(parts)


def to_json(scores: Scores) -> dict[str, Any]:
    """The scores and the points behind them, as plain values."""
    return {
        "task": scores.task,
        "perturbation": scores.perturbation,
        "column": scores.column,
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
