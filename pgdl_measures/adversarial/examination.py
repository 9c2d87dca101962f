"""The independence test of one network: its errors on adversarial and on shifted images."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import tensorflow as tf

from pgdl_measures.adversarial.generators import GENERATORS, generator
from pgdl_measures.adversarial.independence import Independence, Outcome, basic_test, pairwise_test
from pgdl_measures.adversarial.translations import translations
from pgdl_measures.adversarial.windows import Images, Windows
from pgdl_measures.data import check_labels
from pgdl_measures.errors import MeasureError
from pgdl_measures.network.compiled import Network


@dataclass(frozen=True)
class Examination:
    """The outcome of each generator, by its name, and what they cost."""

    outcomes: Mapping[str, Outcome]
    evaluated: int  # windows that went through the network

    def test(self, name: str) -> Independence:
        """The pairwise test of one generator's outcome."""
        return pairwise_test(self.outcomes[name].differences, GENERATORS[name].value_range)

    def basic_test(self, name: str) -> Independence:
        """The basic test of one generator's outcome."""
        return basic_test(self.outcomes[name])


def examine(
    network: Network,
    images: Images | tf.Tensor,
    labels: np.ndarray | tf.Tensor,
    *,
    generators: Sequence[str] = ("strongest",),
    eps: int = 2,
    padding: str = "upsample",
    seed: int = 0,
) -> Examination:
    """Runs the generators on images [m, h, w, c] with labels [m]; a window is evaluated once."""
    chosen = {name: generator(name) for name in generators}
    windows = _windows(network, images, labels, eps, padding)
    outcomes = {name: g.outcome(windows, seed) for name, g in chosen.items()}
    return Examination(outcomes, windows.evaluated)


@dataclass(frozen=True)
class ShiftErrors:
    """The error when all images are shifted, averaged over four directions.

    The densities assume that shifted images are as likely as the images themselves. If that holds,
    a network that does not depend on these images has the same error at every shift.
    """

    by_shift: Mapping[int, float]  # the error at 0, eps, 2 eps and 3 eps pixels
    growth: np.ndarray  # [m]: mean loss L over all shifts but 0, minus the loss at 0


def shift_errors(
    network: Network,
    images: Images | tf.Tensor,
    labels: np.ndarray | tf.Tensor,
    *,
    eps: int = 2,
    padding: str = "upsample",
) -> ShiftErrors:
    """Shifts all images by 0, eps, 2 eps and 3 eps, up, down, left and right."""
    windows = _windows(network, images, labels, eps, padding)
    everyone = np.arange(len(windows))
    shifts = {
        length: np.unique(length * np.array([[-1, 0], [1, 0], [0, -1], [0, 1]]), axis=0)
        for length in (0, eps, 2 * eps, 3 * eps)
    }
    moved = {n: np.broadcast_to(s, (len(windows), *s.shape)) for n, s in shifts.items()}
    for shift in moved.values():
        windows.request(everyone, shift)
    windows.evaluate()
    losses = {n: (windows.scores(everyone, s) >= 0).mean(axis=1) for n, s in moved.items()}
    growth = np.mean([loss for n, loss in losses.items() if n], axis=0) - losses[0]
    return ShiftErrors({n: float(loss.mean()) for n, loss in losses.items()}, growth)


def _windows(
    network: Network,
    images: Images | tf.Tensor,
    labels: np.ndarray | tf.Tensor,
    eps: int,
    padding: str,
) -> Windows:
    if not len(labels):
        raise MeasureError("there are no images to examine")
    moved = translations(images.shape[1:], network.input_shape, eps, padding)
    check_labels(np.unique(labels).tolist(), network.outputs)
    return Windows(network, images, labels, moved)
