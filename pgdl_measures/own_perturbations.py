"""A user's own perturbation, and its measures, in one line.

A perturbation is a function `(images, magnitude, rng) -> images`, as those in
`perturbations.image` are:

    register_perturbation(blur, 0.0, 3.0, "pixels")

After it there are `gi_blur`, `mean_accuracy_blur` and `augmented_accuracy_blur` among the measures.
The commands find it as `mine:blur`, and its measures as `mine:gi_blur`, if that line is in the file
`mine.py`, wherever the function is from: worker processes import that file, too. The range goes
through 0, where the function must leave images as they are.
"""

from __future__ import annotations

import sys

from pgdl_measures.perturbations.catalogue import Function, Perturbation, add_perturbation
from pgdl_measures.registry import register
from pgdl_measures.response_curves.invariance_entries import perturbation_entries


def register_perturbation(function: Function, low: float, high: float, unit: str = "") -> None:
    """Adds a perturbation, named as its function is, and its measures."""
    name = function.__name__
    add_perturbation(Perturbation(name, function, low, high, unit))
    where = f"{_being_imported() or function.__module__}:{name}"
    for measure in perturbation_entries(name, name.replace("_", " "), where):
        register(measure)


def _being_imported() -> str | None:
    """The module whose import is running and called us, at whatever depth.

    Another process that imports this module registers the same perturbations. None in a program,
    which cannot be imported.
    """
    frame = sys._getframe(1)
    while frame.f_code.co_name != "<module>":
        if frame.f_back is None:
            return None
        frame = frame.f_back
    name, spec = frame.f_globals["__name__"], frame.f_globals.get("__spec__")
    return name if spec is not None and spec.name == name else None
