"""Perturbations by name, with the ranges of their magnitudes (Schiff et al. 2021, Table 2).

A user's own is added by `pgdl_measures.register_perturbation`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import tensorflow as tf

from pgdl_measures.errors import PgdlError, UnknownNameError
from pgdl_measures.own_modules import import_own
from pgdl_measures.perturbations import image

Function = Callable[[tf.Tensor, tf.Tensor, tf.Tensor], tf.Tensor]


@dataclass(frozen=True)
class Perturbation:
    """T_alpha, and the range of alpha."""

    name: str
    function: Function
    low: float
    high: float
    unit: str = ""
    of_values: bool = False  # handed the inputs as they are, not with black at 0 and white at 1
    of_tensors: bool = False  # whether it is of any tensor, not of images only

    def magnitudes(self, count: int) -> tuple[float, ...]:
        """Regularly spaced from `low` to `high` (Algorithm 1)."""
        return tuple(np.linspace(self.low, self.high, count).round(9).tolist())


def add_perturbation(new: Perturbation) -> None:
    """Adds a perturbation under a new name."""
    if new.name in registered_perturbations:
        raise PgdlError(f"there is a perturbation named {new.name!r} already")
    if not new.low < new.high:
        raise PgdlError(f"{new.name} goes from {new.low} to {new.high}; expected low < high")
    if not new.low <= 0 <= new.high:
        raise PgdlError(
            f"{new.name} goes from {new.low} to {new.high}, which does not contain 0; expected a "
            "range that contains 0, the magnitude at which images are unchanged"
        )
    registered_perturbations[new.name] = new


def perturbation(name: str) -> Perturbation:
    """The perturbation of that name; `module:name` is one that the module registers."""
    module, _, name_there = name.rpartition(":")
    if module:
        try:
            import_own(module)
        except ImportError as error:
            raise PgdlError(f"there is no module {module!r} of perturbations: {error}") from error
    if name_there not in registered_perturbations:
        raise UnknownNameError("perturbation", name_there, registered_perturbations)
    return registered_perturbations[name_there]


def perturbations() -> list[Perturbation]:
    """All that are registered."""
    return list(registered_perturbations.values())


registered_perturbations: dict[str, Perturbation] = {}
# Table 2. Rotation has the range of CIFAR-10; `rotation90` is that of SVHN, whose digits are others
# upside down.
add_perturbation(Perturbation("rotation", image.rotation, -180.0, 179.0, "degrees"))
add_perturbation(Perturbation("rotation90", image.rotation, -90.0, 90.0, "degrees"))
add_perturbation(Perturbation("translation_x", image.translation_x, -0.5, 0.5, "widths"))
add_perturbation(Perturbation("translation_y", image.translation_y, -0.5, 0.5, "heights"))
add_perturbation(Perturbation("colour_jitter", image.colour_jitter, -0.25, 0.25))
# Not in the paper; the ranges are ours.
add_perturbation(
    Perturbation("noise", image.noise, 0.0, 0.3, "standard deviation, white is 1", of_tensors=True)
)
add_perturbation(
    Perturbation("intensity", image.intensity, -0.5, 0.5, of_values=True, of_tensors=True)
)
