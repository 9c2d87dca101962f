"""The complexity contract: validate the input, share work, run the measure, check its number.

A measure is a function `run(subject, **options) -> float`. The subject holds a model and its
training data and caches what measures compute from them, so that measures that are run together
share their work.
"""

from __future__ import annotations

import importlib
import inspect
import math
import time
from collections.abc import Callable, Hashable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypeVar

from pgdl_measures.errors import MeasureError, NotFiniteError, UnknownNameError
from pgdl_measures.options import check_option

if TYPE_CHECKING:
    import tensorflow as tf

    from pgdl_measures.data import TrainingData
    from pgdl_measures.network.compiled import Network

T = TypeVar("T")
Dataset = Any  # one of the forms that `data_forms` reads

IMAGES, INITIAL = "images", "initial weights"

# How many examples go through the network with the default options and 50,000 training examples.
COSTS = {
    "weights": "none, only the weights are read",
    "low": "up to 25,000",
    "medium": "up to 100,000",
    "high": "more than 100,000",
}

# What the number is, of measures that are more than an order: from these and the training accuracy
# follows a predicted test accuracy (`ranking.predictions`).
UNITS = {
    "accuracy": "the accuracy on changed training examples, negated",
    "error": "the error on changed training examples",
    "gap": "the training accuracy less the accuracy on changed training examples",
}


class Subject:
    """A model and its training data, with a cache of what was computed from them."""

    def __init__(
        self,
        model: tf.keras.Model,
        dataset: Dataset,
        *,
        max_bytes: int | None = None,
        known: Network | None = None,
    ) -> None:
        """`known` is the network of this model as it was measured before, if it was."""
        import tensorflow as tf

        from pgdl_measures.data import DEFAULT_MAX_BYTES, check_labels, training_data
        from pgdl_measures.network.compiled import network

        if not isinstance(model, tf.keras.Model):
            raise MeasureError(f"the model is of {type(model)}; expected a built tf.keras.Model")
        self.model = model
        self.data: TrainingData = training_data(
            dataset, max_bytes=max_bytes or DEFAULT_MAX_BYTES, example_rank=input_rank(model)
        )
        self.network: Network = network(model, self.data.shape, known)
        check_labels(self.data.class_counts, self.network.outputs)
        self.reused_seconds = 0.0  # time that cached results saved
        self.batches: int | None = None  # used by the last measure whose `batches` is "enough"
        self._shared: dict[Hashable, tuple[Any, float]] = {}  # the value and its seconds

    def share(self, key: Hashable, compute: Callable[[], T]) -> T:
        """`compute()`, cached by key; a hit adds the original time to `reused_seconds`."""
        if key in self._shared:
            value, seconds = self._shared[key]
            self.reused_seconds += seconds
            return value
        start, reused = time.perf_counter(), self.reused_seconds
        value = compute()
        # Without the cache, what it reused itself would have been part of its time.
        seconds = time.perf_counter() - start + self.reused_seconds - reused
        self._shared[key] = value, seconds
        return value

    def shared(self) -> Iterator[tuple[Hashable, Any]]:
        """Everything in the cache, by key."""
        return ((key, value) for key, (value, _) in self._shared.items())


def input_rank(model: tf.keras.Model) -> int | None:
    """The number of dimensions of one input, if the model knows it."""
    try:
        shape = model.input_shape
        return None if isinstance(shape, (list, dict)) else len(shape) - 1
    except (AttributeError, TypeError, ValueError):  # not built yet
        return None


def _about() -> Any:
    """A field that documents a measure and changes none of its values."""
    return field(default="", repr=False, compare=False)


@dataclass(frozen=True)
class Measure:
    """One measure: `measure(model, dataset)` is the competition's complexity.

    The last six fields document it; `pgdl ls measures NAME` and docs/measures.md show them.
    """

    name: str
    summary: str
    target: str  # "module:function", imported when it is first needed
    fixed: Mapping[str, Any] = field(default_factory=dict)  # options that make it this measure
    options: Mapping[str, Any] = field(default_factory=dict)  # options that the user set
    max_bytes: int | None = None  # for the inputs and what is kept of each; None: default
    needs: tuple[str, ...] = ()  # what not every corpus has: IMAGES, INITIAL
    sign: int = 1  # -1: the negation, whose name begins with "-"
    family: str = _about()
    definition: str = _about()  # the formula, or one line in words
    source: str = _about()  # author, year and equation; docs/papers.md is the key
    cost: str = _about()  # one of COSTS
    use: str = _about()  # when to use it
    unit: str = _about()  # one of UNITS; "" where only the order of values has a meaning

    def __call__(self, model: tf.keras.Model, dataset: Dataset) -> float:
        """The predicted complexity: larger means a larger generalization gap."""
        return self.on(Subject(model, dataset, max_bytes=self.max_bytes))

    def on(self, subject: Subject) -> float:
        """The complexity of a subject, which may hold cached work of other measures."""
        value = self._function(subject, **self.fixed, **self.options)
        try:
            number = float(value)  # also of an array or tensor with one number
        except (TypeError, ValueError):
            number = math.nan
        if not math.isfinite(number):
            raise NotFiniteError(
                f"{self.name} is {value!r} for this model; expected a finite number"
            )
        return self.sign * number

    def negated(self) -> Measure:
        """The measure of the opposite sign, named `-name`."""
        return replace(
            self,
            name=f"-{self.name}",
            summary=f"negation of {self.name}: {self.summary}",
            definition=f"-({self.definition})" if self.definition else "",
            sign=-self.sign,
            unit="",
        )

    def with_options(self, **options: Any) -> Measure:
        """This measure with these options in place of the paper's settings."""
        max_bytes = options.pop("max_bytes", self.max_bytes)
        check_option(self.name, "max_bytes", max_bytes, None)
        known = self.defaults()
        for name in options:
            if name not in known:
                raise UnknownNameError(f"option of {self.name}", name, [*known, "max_bytes"])
            if self.target.startswith("pgdl_measures."):  # users check the options of theirs
                check_option(self.name, name, options[name], known[name])
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
