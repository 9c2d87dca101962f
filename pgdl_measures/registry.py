"""Name -> Measure. Listing the measures imports none of them, nor TensorFlow."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from pgdl_measures.base import Measure, Subject
from pgdl_measures.errors import PgdlError, UnknownNameError

if TYPE_CHECKING:
    import tensorflow as tf

_measures: dict[str, Measure] = {}


def register(measure: Measure) -> None:
    """Adds a measure; a name is given once."""
    if measure.name in _measures:
        raise PgdlError(f"there is a measure named {measure.name!r} already")
    _measures[measure.name] = measure


def measures() -> list[Measure]:
    """All registered measures, in the order of their families."""
    return list(_measures.values())


def complexity(name: str, **options: Any) -> Measure:
    """The measure of that name: a function `complexity(model, dataset) -> float`."""
    if name not in _measures:
        raise UnknownNameError("measure", name, _measures)
    return _measures[name].with_options(**options) if options else _measures[name]


def complexities(
    names: Sequence[str], **options: Any
) -> Callable[[tf.keras.Model, tf.data.Dataset], dict[str, float]]:
    """Several measures at once; what they have in common is computed once.

    Each option is given to the measures that have it.
    """
    chosen = [complexity(name) for name in names]
    max_bytes = options.pop("max_bytes", None)
    for option in options:
        if not any(option in measure.defaults() for measure in chosen):
            known = {known for measure in chosen for known in measure.defaults()}
            raise UnknownNameError("option", option, known)
    chosen = [
        m.with_options(**{k: v for k, v in options.items() if k in m.defaults()}) for m in chosen
    ]

    def compute(model: tf.keras.Model, dataset: tf.data.Dataset) -> dict[str, float]:
        subject = Subject(model, dataset, max_bytes=max_bytes)
        return {measure.name: measure.on(subject) for measure in chosen}

    return compute


def _register_response() -> None:
    words = {
        "gi": "Gi-score of the {} mixup curve at {}",
        "pal": "Pal-score (negated) of the {} mixup curve at {}",
        "mean_accuracy": "mean accuracy (negated) of the {} mixup curve at {}",
    }
    target = "pgdl_measures.response:response"
    for statistic, summary in words.items():
        for pairing in ("intra", "inter"):
            for layer, where in enumerate(("the input", "the first layer's output")):
                register(
                    Measure(
                        f"{statistic}_{pairing}_l{layer}",
                        summary.format(f"{pairing}-class", where),
                        target,
                        {"statistic": statistic, "pairing": pairing, "layer": layer},
                    )
                )
    for name, layer, where in (
        ("mixup", 0, "inputs"),
        ("manifold_mixup", 1, "first-layer outputs"),
    ):
        register(
            Measure(
                name,
                f"accuracy (negated) on the means of two {where} of one class",
                target,
                {
                    "statistic": "end_point",
                    "pairing": "intra",
                    "layer": layer,
                    "magnitudes": (0.5,),
                },
            )
        )


_register_response()
