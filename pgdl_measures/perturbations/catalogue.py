"""Perturbations by name, with the ranges of their magnitudes (paper 000, Table 2).

A user's own is a function `(images, magnitude, rng) -> images`, as those in `image` are, and one
line:

    register_perturbation(blur, 0.0, 3.0, "pixels")

After it there are `gi_blur`, `mean_accuracy_blur` and `augmented_accuracy_blur` among the measures.
The commands find it as `mine:blur`, and its measures as `mine:gi_blur`, if that line is in the file
`mine.py`, wherever the function is from: worker processes import that file, too. The range goes
through 0, where the function must leave images as they are.
"""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import tensorflow as tf

from pgdl_measures.errors import PgdlError, UnknownNameError
from pgdl_measures.perturbations import image
from pgdl_measures.registry import register_invariance

Function = Callable[[tf.Tensor, tf.Tensor, tf.Tensor], tf.Tensor]


@dataclass(frozen=True)
class Perturbation:
    """T_alpha, and the range of alpha."""

    name: str
    function: Function
    low: float
    high: float
    unit: str = ""

    def magnitudes(self, count: int) -> tuple[float, ...]:
        """Regularly spaced from `low` to `high` (Algorithm 1)."""
        return tuple(np.linspace(self.low, self.high, count).round(9).tolist())


def register_perturbation(function: Function, low: float, high: float, unit: str = "") -> None:
    """Adds a perturbation, named as its function is, and its measures."""
    name = function.__name__
    _add(Perturbation(name, function, low, high, unit))
    module = _being_imported() or function.__module__
    register_invariance(name, name.replace("_", " "), f"{module}:{name}")


def perturbation(name: str) -> Perturbation:
    """The perturbation of that name; `module:name` is one that the module registers."""
    module, _, name_there = name.rpartition(":")
    if module:
        _import(module)
    if name_there not in _perturbations:
        raise UnknownNameError("perturbation", name_there, _perturbations)
    return _perturbations[name_there]


def perturbations() -> list[Perturbation]:
    """All that are registered."""
    return list(_perturbations.values())


def _add(new: Perturbation) -> None:
    if new.name in _perturbations:
        raise PgdlError(f"there is a perturbation named {new.name!r} already")
    if not new.low < new.high:
        raise PgdlError(f"{new.name} goes from {new.low} to {new.high}; expected low < high")
    if not new.low <= 0 <= new.high:
        raise PgdlError(
            f"{new.name} goes from {new.low} to {new.high}, which leaves out 0; expected a range "
            "through 0, the magnitude at which images stay as they are"
        )
    _perturbations[new.name] = new


def _being_imported() -> str | None:
    """The module whose code is running, at whatever depth it called us: to import it is to register
    what it registers, in another process, too. None in a program, which cannot be imported."""
    frame = sys._getframe(1)
    while frame.f_code.co_name != "<module>":
        if frame.f_back is None:
            return None
        frame = frame.f_back
    name, spec = frame.f_globals["__name__"], frame.f_globals.get("__spec__")
    return name if spec is not None and spec.name == name else None


def _import(module: str) -> None:
    """A module of the user's, from the current folder too, as `python -m` would find it."""
    if os.getcwd() not in sys.path:
        sys.path.insert(0, os.getcwd())
    try:
        importlib.import_module(module)
    except ImportError as error:
        raise PgdlError(f"there is no module {module!r} of perturbations: {error}") from error


_perturbations: dict[str, Perturbation] = {}
# Table 2. Rotation has the range of CIFAR-10; `rotation90` is that of SVHN, whose digits are others
# upside down.
_add(Perturbation("rotation", image.rotation, -180.0, 179.0, "degrees"))
_add(Perturbation("rotation90", image.rotation, -90.0, 90.0, "degrees"))
_add(Perturbation("translation_x", image.translation_x, -0.5, 0.5, "of the width"))
_add(Perturbation("translation_y", image.translation_y, -0.5, 0.5, "of the height"))
_add(Perturbation("colour_jitter", image.colour_jitter, -0.25, 0.25))
# Not in the paper; the ranges are ours.
_add(Perturbation("noise", image.noise, 0.0, 0.3, "standard deviations, white is 1"))
_add(Perturbation("intensity", image.intensity, -0.5, 0.5))
