"""Several measures of one model at once: every value, and every refusal with its reason."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from absl import logging

from pgdl_measures.base import Dataset, Measure, Subject
from pgdl_measures.errors import MeasureError, PgdlError, UnknownNameError
from pgdl_measures.registry import complexity

if TYPE_CHECKING:
    import tensorflow as tf


class Complexities(dict[str, float]):
    """Values by measure; `refusals` has the reason of each measure that has none.

    Asking for a value that was refused raises that reason: `found["vpm"]`; `found.get("vpm")` is
    None, as of any dict.
    """

    def __init__(self) -> None:
        super().__init__()
        self.refusals: dict[str, str] = {}

    def __missing__(self, name: str) -> float:
        if name in self.refusals:
            raise MeasureError(f"{name} has no value: {self.refusals[name]}")
        raise KeyError(name)

    def __repr__(self) -> str:
        refused = f", refusals={self.refusals!r}" if self.refusals else ""
        return f"Complexities({super().__repr__()}{refused})"


def complexities(
    names: Sequence[str], **options: Any
) -> Callable[[tf.keras.Model, Dataset], Complexities]:
    """Several measures as one function of a model and its training data.

    What the measures have in common is computed once. One that cannot be computed for this model or
    this data is among the `refusals` of the result, and costs the others nothing. Each option is
    given to the measures that have it.
    """
    chosen = with_shared_options([complexity(name) for name in names], options)

    def compute(model: tf.keras.Model, dataset: Dataset) -> Complexities:
        return measured(chosen, Subject(model, dataset, max_bytes=options.get("max_bytes")))

    return compute


def with_shared_options(chosen: Sequence[Measure], options: dict[str, Any]) -> list[Measure]:
    """Each option given to the measures that have it; one that none has is an error."""
    defaults = [measure.defaults() for measure in chosen]
    known = {"max_bytes"}.union(*defaults)
    for option in options:
        if option not in known:
            raise UnknownNameError("option", option, known)
    return [
        measure.with_options(**{k: v for k, v in options.items() if k in has or k == "max_bytes"})
        for measure, has in zip(chosen, defaults)
    ]


def measured(chosen: Sequence[Measure], subject: Subject) -> Complexities:
    """The values of these measures for a subject."""
    found = Complexities()
    for measure in chosen:
        try:
            found[measure.name] = measure.on(subject)
        except PgdlError as refusal:
            found.refusals[measure.name] = str(refusal)
        except Exception as error:  # a bug: its traceback is logged, the others keep their values
            logging.exception("%s failed", measure.name)
            found.refusals[measure.name] = f"{type(error).__name__}: {error}"
    return found
