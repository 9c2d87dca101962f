"""Measures that predict the generalization gap of a trained classifier.

`complexity("gi_intra_l0")(model, dataset)` is all that a user needs; `complexities([...])` computes
several, shares their work and gives a reason for each that it refuses; `rank(models, dataset)`
orders trained models by their predicted test accuracies; `GapMonitor` is a Keras callback that
follows measures during training; `measures()` lists and filters them; `register` adds a measure and
`register_perturbation` a perturbation. Names that need TensorFlow import it when first used.
"""

from __future__ import annotations

import importlib
from typing import Any

from pgdl_measures.errors import MeasureError, PgdlError
from pgdl_measures.registry import complexity, measures, register
from pgdl_measures.several import complexities

__all__ = [
    "GapMonitor",
    "MeasureError",
    "PgdlError",
    "complexities",
    "complexity",
    "measures",
    "rank",
    "register",
    "register_perturbation",
]

_LAZY = {
    "GapMonitor": "pgdl_measures.gap_monitor:GapMonitor",
    "rank": "pgdl_measures.ranking.models:rank",
    "register_perturbation": "pgdl_measures.own_perturbations:register_perturbation",
}


def __getattr__(name: str) -> Any:
    if name not in _LAZY:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module, attribute = _LAZY[name].split(":")
    return getattr(importlib.import_module(module), attribute)
