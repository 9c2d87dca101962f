"""Examinations of N models on one set of images, and the tests of each and of all together."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import tensorflow as tf
from scipy.special import ndtri

from ingestion.datasets.arrays import Split
from pgdl_measures.adversarial.examination import Examination, ShiftErrors, examine, shift_errors
from pgdl_measures.adversarial.generators import GENERATORS
from pgdl_measures.adversarial.independence import Independence, n_model_test
from pgdl_measures.adversarial.padding import error_as_given
from pgdl_measures.network.compiled import network

Models = Mapping[str, Callable[[], tf.keras.Model]]  # read when their turn comes


@dataclass(frozen=True)
class Growth:
    """By how much the error grows where images are shifted, with its 95 % interval."""

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class Report:
    """What was found on one set of images."""

    examples: int
    examinations: Mapping[str, Examination]  # by the name of the model
    errors_as_given: Mapping[str, float]  # on untouched images, where a model takes these
    shifted: Mapping[str, ShiftErrors]  # by model

    def p_values(self, generator: str) -> np.ndarray:
        """p of each model [N]."""
        return np.array([found.test(generator).p for found in self.examinations.values()])

    def errors(self) -> np.ndarray:
        """The error of each model [N]."""
        return np.array([e.outcomes["strongest"].loss.mean() for e in self.examinations.values()])

    def growth(self) -> Growth:
        """Of the mean over models; the interval is over images."""
        of_images = np.mean([found.growth for found in self.shifted.values()], axis=0)
        half = ndtri(0.975) * of_images.std() / np.sqrt(self.examples)
        value = float(of_images.mean())
        return Growth(value, value - half, value + half)

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
            "growth_by_shift": asdict(self.growth()),
            "models": {
                name: {
                    "error_as_given": self.errors_as_given.get(name),
                    "error_by_shift": dict(self.shifted[name].by_shift),
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
    models: Models,
    split: Split,
    *,
    eps: int,
    padding: str,
    seed: int,
    step: Callable[[str], None],
) -> Report:
    """Examines each model with all generators."""
    images, labels = split.images, split.labels
    examinations, errors, shifted = {}, {}, {}
    for name, read in models.items():
        model = read()
        bound = network(model, tuple(model.input_shape[1:]))
        examinations[name] = examine(
            bound, images, labels, generators=tuple(GENERATORS), eps=eps, padding=padding, seed=seed
        )
        shifted[name] = shift_errors(bound, images, labels, eps=eps, padding=padding)
        as_given = error_as_given(bound, images, labels)
        if as_given is not None:
            errors[name] = as_given
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
