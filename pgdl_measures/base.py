"""The complexity contract: validate, share, run, check the scalar (design, section 3).

A measure is a function `run(subject, **options) -> float`; what it needs of the model and the data
it takes from the subject, which remembers what has been computed, so that measures asked for
together share their work.
"""

from __future__ import annotations

import importlib
import inspect
import math
import time
from collections.abc import Callable, Hashable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypeVar

from pgdl_measures.errors import MeasureError, UnknownNameError

if TYPE_CHECKING:
    import tensorflow as tf

    from pgdl_measures.data import TrainingData
    from pgdl_measures.network import Network

T = TypeVar("T")

IMAGES, INITIAL, CHAIN = "images", "initial weights", "a chain of layers"


class Subject:
    """A model and its training data, with what has been computed of them."""

    def __init__(
        self, model: tf.keras.Model, dataset: tf.data.Dataset, *, max_bytes: int | None = None
    ) -> None:
        import tensorflow as tf

        from pgdl_measures.data import DEFAULT_MAX_BYTES, check_labels, training_data
        from pgdl_measures.network import network

        for what, found, expected in (
            ("model", model, tf.keras.Model),
            ("dataset", dataset, tf.data.Dataset),
        ):
            if not isinstance(found, expected):
                raise MeasureError(
                    f"the {what} is of {type(found)}; expected a built tf.keras.Model and an "
                    "unbatched tf.data.Dataset of (inputs, label)"
                )
        self.model = model
        self.data: TrainingData = training_data(dataset, max_bytes=max_bytes or DEFAULT_MAX_BYTES)
        self.network: Network = network(model, self.data.shape)
        check_labels(self.data.class_counts, self.network.outputs)
        self.reused_seconds = 0.0  # what measures would have spent on work they found done
        self._shared: dict[Hashable, tuple[Any, float]] = {}  # the value and its seconds

    def share(self, key: Hashable, compute: Callable[[], T]) -> T:
        """What `compute` gives, computed once per key; found done, its seconds count as reused."""
        if key in self._shared:
            value, seconds = self._shared[key]
            self.reused_seconds += seconds
            return value
        start, reused = time.perf_counter(), self.reused_seconds
        value = compute()
        # What it reused itself is part of what it would have cost.
        seconds = time.perf_counter() - start + self.reused_seconds - reused
        self._shared[key] = value, seconds
        return value

    def shared(self) -> Iterator[tuple[Hashable, Any]]:
        """Everything that has been shared so far, by key."""
        return ((key, value) for key, (value, _) in self._shared.items())


@dataclass(frozen=True)
class Measure:
    """One registered measure: `measure(model, dataset)` is the competition's complexity."""

    name: str
    summary: str
    target: str  # "module:function", imported when it is first needed
    fixed: Mapping[str, Any] = field(default_factory=dict)  # what makes it this measure
    options: Mapping[str, Any] = field(default_factory=dict)  # what the user chose
    max_bytes: int | None = None  # memory for the training inputs; None is the default
    needs: tuple[str, ...] = ()  # of what not every corpus has: IMAGES, INITIAL, CHAIN

    def __call__(self, model: tf.keras.Model, dataset: tf.data.Dataset) -> float:
        """The predicted complexity: larger means a larger generalization gap."""
        return self.on(Subject(model, dataset, max_bytes=self.max_bytes))

    def on(self, subject: Subject) -> float:
        """The complexity of a subject that other measures may have worked on before."""
        value = self._function(subject, **self.fixed, **self.options)
        try:
            number = float(value)  # of an array or tensor of one number, too
        except (TypeError, ValueError):
            number = math.nan
        if not math.isfinite(number):
            raise MeasureError(f"{self.name} is {value!r} for this model; expected a finite number")
        return number

    def with_options(self, **options: Any) -> Measure:
        """This measure with other than the paper's settings."""
        max_bytes = options.pop("max_bytes", self.max_bytes)
        known = self.defaults()
        for name in options:
            if name not in known:
                raise UnknownNameError(f"option of {self.name}", name, [*known, "max_bytes"])
        return replace(self, options={**self.options, **options}, max_bytes=max_bytes)

    def defaults(self) -> dict[str, Any]:
        """The options that can be set, with their defaults."""
        parameters = inspect.signature(self._function).parameters.values()
        return {
            p.name: p.default
            for p in parameters
            if p.kind is p.KEYWORD_ONLY and p.name not in self.fixed
        }

    @property
    def _function(self) -> Callable[..., float]:
        module, function = self.target.split(":")
        return getattr(importlib.import_module(module), function)
