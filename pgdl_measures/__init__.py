"""Measures that predict the generalization gap of a trained classifier.

`complexity("gi_intra_l0")(model, dataset)` is all that a user needs; `complexities([...])` computes
several, shares their work and gives a reason for each that it refuses; `measures()` lists and
filters them; `register` adds a measure and `register_perturbation` a perturbation (that name
imports TensorFlow when it is first used).
"""

from __future__ import annotations

import importlib
from typing import Any

from pgdl_measures.errors import MeasureError, PgdlError
from pgdl_measures.registry import complexity, measures, register
from pgdl_measures.several import complexities

__all__ = [
    "MeasureError",
    "PgdlError",
    "complexities",
    "complexity",
    "measures",
    "register",
    "register_perturbation",
]

_LAZY = {"register_perturbation": "pgdl_measures.own_perturbations:register_perturbation"}


def __getattr__(name: str) -> Any:
    if name not in _LAZY:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module, attribute = _LAZY[name].split(":")
    return getattr(importlib.import_module(module), attribute)
