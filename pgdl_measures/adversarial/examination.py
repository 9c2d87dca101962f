"""The adversarial examination of one network: what each generator does to its examples."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import tensorflow as tf

from pgdl_measures.adversarial.generators import GENERATORS, generator
from pgdl_measures.adversarial.independence import Independence, Outcome, basic_test, pairwise_test
from pgdl_measures.adversarial.translations import translations
from pgdl_measures.adversarial.windows import Windows
from pgdl_measures.errors import MeasureError
from pgdl_measures.network import Network


@dataclass(frozen=True)
class Examination:
    """Outcomes by the name of the generator, and what they cost."""

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
    images: tf.Tensor,
    labels: tf.Tensor,
    *,
    generators: Sequence[str] = ("strongest",),
    eps: int = 2,
    room: str = "upsample",
    seed: int = 0,
) -> Examination:
    """Runs the generators on images [m, h, w, c] with labels [m]; they share their windows."""
    chosen = {name: generator(name) for name in generators}
    moved = translations(images.shape[1:], network.input_shape, eps, room)
    classes = np.unique(labels)
    if classes[0] < 0 or classes[-1] >= network.outputs:
        raise MeasureError(
            f"the labels go from {classes[0]} to {classes[-1]}; "
            f"the model has {network.outputs} outputs"
        )
    windows = Windows(network, images, labels, moved)
    outcomes = {name: g.outcome(windows, seed) for name, g in chosen.items()}
    return Examination(outcomes, windows.evaluated)
