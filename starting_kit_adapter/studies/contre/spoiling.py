"""Do the transformations spoil the data?

Wu et al. 2021, Section 5: they do not if the accuracies of models on transformed training images
and on transformed test images are correlated (0.983, 0.903 and 0.989 there).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from scoring.rank import spearman
from starting_kit_adapter.studies.contre.correlations import if_defined
from starting_kit_adapter.terminal.text import Progress

if TYPE_CHECKING:
    from ingestion.corpus import Task


@dataclass(frozen=True)
class Spoiling:
    """Accuracies on contrastive examples of the training set and of the test set."""

    train: Mapping[str, float]  # by model
    test: Mapping[str, float]

    @property
    def correlation(self) -> float | None:
        """Spearman's, over the models of both; None where it is undefined."""
        common = [model for model in self.train if model in self.test]
        vectors = (np.array([part[m] for m in common]) for part in (self.train, self.test))
        return if_defined(spearman, *vectors)

    def to_text(self) -> str:
        """In a sentence."""
        found = self.correlation
        value = "undefined" if found is None else f"{found:.3f}"
        return (
            f"Accuracies on transformed training and on transformed test images: Spearman "
            f"correlation {value} over {len(self.test)} models (Wu et al. 2021: 0.983 on CIFAR-10, "
            "0.903 on CIFAR-100, 0.989 on ImageNet)."
        )


def on_test_images(
    task: Task, models: list[str], options: Mapping[str, Any], file: Path
) -> dict[str, float]:
    """Accuracies on contrastive examples of the test set, which `file` keeps for the next time."""
    from ingestion.quiet import import_tensorflow

    import_tensorflow()
    import tensorflow as tf

    from ingestion.data import load_dataset
    from ingestion.models import load_model
    from pgdl_measures import complexity
    from scoring.files import write_whole

    tf.get_logger().setLevel("ERROR")  # it warns of retracing, which each network needs
    known = _read(file, options)
    missing = [model for model in models if model not in known]
    datasets = {name: load_dataset(task.shards("test", name)) for name in task.datasets}
    measure = complexity("contre_accuracy", **options)
    with Progress(len(missing), "models on test images") as progress:
        for model in missing:
            data = datasets[task.dataset_of(model)]
            known[model] = -measure(load_model(task.model_folder(model)), data)
            content = {"options": dict(options), "accuracies": known}
            write_whole(file, json.dumps(content, indent=1) + "\n")
            progress.step(f"{task.name} {model}")
    return known


def _read(file: Path, options: Mapping[str, Any]) -> dict[str, float]:
    """What was computed before with the same options."""
    if not file.is_file():
        return {}
    content = json.loads(file.read_text())
    return content["accuracies"] if content["options"] == options else {}
