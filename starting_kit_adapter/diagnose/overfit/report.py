"""Examinations of N models on one set of images, and the tests of each and of all together."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import tensorflow as tf

from ingestion.arrays import Split
from pgdl_measures.accuracy import accuracy
from pgdl_measures.adversarial.examination import Examination, error_by_shift, examine
from pgdl_measures.adversarial.generators import GENERATORS
from pgdl_measures.adversarial.independence import Independence, n_model_test
from pgdl_measures.data import TrainingData
from pgdl_measures.network.compiled import network


@dataclass(frozen=True)
class Report:
    """What was found on one set of images."""

    examples: int
    examinations: Mapping[str, Examination]  # by the name of the model
    errors_as_given: Mapping[str, float]  # on untouched images, where a model takes these
    errors_by_shift: Mapping[str, Mapping[int, float]]  # by model and pixels

    def p_values(self, generator: str) -> np.ndarray:
        """p of each model [N]."""
        return np.array([found.test(generator).p for found in self.examinations.values()])

    def together(self, generator: str, models: slice = slice(None)) -> Independence:
        """The N-model test, of all models or of some."""
        found = list(self.examinations.values())[models]
        differences = np.stack([e.outcomes[generator].differences for e in found])
        return n_model_test(differences, GENERATORS[generator].value_range)

    def groups(self, generator: str) -> dict[int, list[float]]:
        """p-values of disjoint groups of models (Section 3.1), by the size of the groups."""
        total = len(self.examinations)
        sizes = [size for size in (1, 2, 5, 10, 25, 50, 125, 250, 625) if size < total]
        return {
            size: [
                self.together(generator, slice(i, i + size)).p
                for i in range(0, total - size + 1, size)
            ]
            for size in [*sizes, total]
        }

    def to_json(self) -> dict[str, Any]:
        """All numbers, by model and generator."""
        return {
            "examples": self.examples,
            "models": {
                name: {
                    "error_as_given": self.errors_as_given.get(name),
                    "error_by_shift": dict(self.errors_by_shift[name]),
                    "windows_evaluated": found.evaluated,
                    "generators": {g: _test_json(found, g) for g in found.outcomes},
                }
                for name, found in self.examinations.items()
            },
            "together": {
                g: {
                    "models": len(self.examinations),
                    **_independence_json(self.together(g)),
                    "p_of_groups": self.groups(g),
                }
                for g in GENERATORS
            },
        }


def examine_models(
    models: Mapping[str, Callable[[], tf.keras.Model]],
    split: Split,
    *,
    eps: int,
    room: str,
    seed: int,
    step: Callable[[str], None],
) -> Report:
    """Examines each model, which is read when its turn comes, with all generators."""
    images, labels = tf.constant(split.images), tf.constant(split.labels, tf.int32)
    data = TrainingData(images, labels, len(split))
    examinations, errors, shifted = {}, {}, {}
    for name, read in models.items():
        model = read()
        shape = tuple(model.input_shape[1:])
        bound = network(model, shape)
        examinations[name] = examine(
            bound, images, labels, generators=tuple(GENERATORS), eps=eps, room=room, seed=seed
        )
        shifted[name] = error_by_shift(bound, images, labels, eps=eps, room=room)
        if shape == data.shape:
            errors[name] = 1 - accuracy(bound, data)
        step(name)
    return Report(len(split), examinations, errors, shifted)


def _test_json(found: Examination, generator: str) -> dict[str, Any]:
    outcome = found.outcomes[generator]
    return {
        **{name: estimate._asdict() for name, estimate in outcome.estimates.items()},
        **_independence_json(found.test(generator)),
        "p_basic": found.basic_test(generator).p,
    }


def _independence_json(found: Independence) -> dict[str, float]:
    return {"statistic": found.statistic, "p": found.p, "p_uncapped": found.uncapped}
