"""The models of a task as a table of runs, without those that the paper would leave out."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ingestion.corpus import Task
from ingestion.run.loop import Report
from pgdl_measures.errors import PgdlError
from scoring.files import model_name, read_json_object
from scoring.robust.runs import Runs
from starting_kit_adapter.studies.running import reference_of


def runs_of(task: Task, measures: Sequence[str], report: Report, *, keep_all: bool) -> Runs:
    """Models with all values; those that missed their target are left out unless `keep_all`."""
    reference = reference_of(task)
    assert task.reference is not None
    entries = {model_name(k): entry for k, entry in read_json_object(task.reference).items()}
    values = {
        (model, measure): result.value
        for (of_task, model, measure), result in report.results.items()
        if of_task == task.name and result.value is not None
    }
    # A measure that no model has - it does not apply to these networks - leaves the table.
    having = [m for m in measures if any((model, m) in values for model in reference.ids)]
    converged = [keep_all or entries[m].get("reached_target", True) for m in reference.ids]
    whole = [all((model, m) in values for m in having) for model in reference.ids]
    rows = [i for i in range(len(reference.ids)) if converged[i] and whole[i]]
    if not having or not rows:
        raise PgdlError(
            f"task {task.name}: of {len(reference.ids)} models {sum(converged)} reached the target "
            f"of their training and {sum(whole)} have all values; --all keeps the others"
        )
    notes = []
    if not all(converged):
        notes.append(
            f"{converged.count(False)} of {len(converged)} models missed the target of their "
            "training (--all keeps them)"
        )
    if len(rows) < sum(converged):
        notes.append(f"{sum(converged) - len(rows)} models lack a value")
    if len(having) < len(measures):
        absent = ", ".join(m for m in measures if m not in having)
        notes.append(f"no model has a value of {absent}")
    ids = [reference.ids[i] for i in rows]
    return Runs(
        name=task.name,
        hparams=reference.hparams,
        values=reference.values,
        codes=reference.codes[rows],
        gap=reference.gap[rows],
        measures={m: np.array([values[model, m] for model in ids]) for m in having},
        left_out=tuple(notes),
    )
