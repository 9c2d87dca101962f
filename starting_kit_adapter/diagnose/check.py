"""Checks a corpus: reads every file, builds every model, and collects all problems."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

import tensorflow as tf

from ingestion.corpus import Task
from ingestion.datasets.data import load_dataset
from ingestion.model_files.custom import Custom
from ingestion.model_files.models import load_model
from pgdl_measures.accuracy import accuracy
from pgdl_measures.data import TrainingData, training_data
from pgdl_measures.errors import PgdlError
from pgdl_measures.network.compiled import network
from scoring.cmi import cmi
from scoring.errors import ScoringError
from scoring.files import listed
from scoring.kit.reference import Reference, read_reference
from scoring.spread import spread_warning


@dataclass
class ModelCheck:
    """One model: whether it loads and, if requested, its accuracy on the training data."""

    model_id: str
    recorded: float | None = None
    recomputed: float | None = None
    problem: str = ""


@dataclass
class TaskCheck:
    """The result for one task."""

    name: str
    inputs: str = "?"
    examples: str = "?"
    classes: int | None = None
    grid: str = "?"
    models: list[ModelCheck] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)


def check_task(
    task: Task, *, with_accuracy: bool, step: Callable[[str], None], custom: Custom | None = None
) -> TaskCheck:
    """Checks a task; `step` is called with the id of each model that is done."""
    found = TaskCheck(task.name)
    datasets = {dataset: _check_data(task, dataset, found) for dataset in task.datasets}
    reference = _check_reference(task, found)
    recorded = dict(zip(reference.ids, reference.train_acc.tolist())) if reference else {}
    for model_id in task.model_ids:
        tf.keras.backend.clear_session()
        check = ModelCheck(model_id, recorded.get(model_id))
        try:
            model = load_model(task.model_folder(model_id), custom)
            data = datasets[task.dataset_of(model_id)]
            if data is not None and with_accuracy:
                check.recomputed = accuracy(network(model, data.shape), data)
                check.problem = _compare(check, len(data))
        except PgdlError as error:
            check.problem = str(error)
        found.models.append(check)
        step(f"{task.name} {model_id}")
    found.problems += [f"{m.model_id}: {m.problem}" for m in found.models if m.problem]
    return found


def _check_data(task: Task, dataset: str, found: TaskCheck) -> TrainingData | None:
    """Checks one data set; a task is described by its first one, and by the sizes of all."""
    counts = []
    for split in ("train", "test"):
        if split == "test" and not (task.folder / dataset / "test").is_dir():
            found.warnings.append("no test data: measures can be run, but no gap is known")
            counts.append("0")
            continue
        try:
            data = training_data(load_dataset(task.shards(split, dataset)))
        except PgdlError as error:
            found.problems.append(f"{split} data: {error}")
            counts.append("?")
        else:
            counts.append(str(data.total))
            if split == "train":
                train = data
    sizes = "/".join(counts)
    found.examples = sizes if found.examples == "?" else f"{found.examples}, {sizes}"
    if counts[0] == "?":
        return None
    found.inputs = "x".join(map(str, train.shape))
    found.classes = len(train.class_counts)
    return train


def _check_reference(task: Task, found: TaskCheck) -> Reference | None:
    if task.reference is None:
        found.grid = "none"
        found.warnings.append("no model_configs.json: measures can be run but not scored")
        return None
    try:
        reference = read_reference(task.reference, task.name)
    except ScoringError as error:
        found.problems.append(str(error))
        return None
    found.grid = "x".join(map(str, reference.sizes))
    if reference.missing_cells:
        found.grid += f", {len(reference.missing_cells)} missing"
        found.warnings.append(f"cells without a model: {listed(reference.missing_cells)}")
    repeats = set(Counter(map(tuple, reference.codes.tolist())).values())
    if len(repeats) > 1:
        found.grid += f", {len(reference.doubled_cells)} doubled"
        found.warnings.append(f"cells with several models: {listed(reference.doubled_cells)}")
    elif reference.is_complete:
        (each,) = repeats
        found.grid += ", complete" if each == 1 else f", complete, {each} models per cell"
    try:
        cmi(reference.codes, reference.gap, reference.gap)
    except ScoringError as error:
        found.warnings.append(str(error))
    for here, there, where in (
        (set(task.model_ids), set(reference.ids), "in the corpus but not in model_configs.json"),
        (set(reference.ids), set(task.model_ids), "in model_configs.json but not in the corpus"),
    ):
        if here - there:
            found.problems.append(f"{where}: {listed(sorted(here - there))}")
    warning = spread_warning(reference.train_acc)
    if warning:
        found.warnings.append(warning)
    return reference


def _compare(check: ModelCheck, examples: int) -> str:
    """The problem, unless both agree up to one example (float rounding at a tie) or 0.01 %."""
    if check.recorded is None or check.recomputed is None:
        return ""
    if abs(check.recorded - check.recomputed) <= max(1.5 / examples, 1e-4):
        return ""
    return (
        f"recorded train accuracy {check.recorded:.4f}, recomputed {check.recomputed:.4f} on "
        f"{examples} examples"
    )
