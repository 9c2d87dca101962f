"""How a classifier ends: in logits, in a softmax, or in one sigmoid, which stands for two classes.

One sigmoid p is taken as the two classes [1 - p, p], whose logits are [0, z] where p = sigmoid(z).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import tensorflow as tf

from pgdl_measures.errors import MeasureError
from pgdl_measures.network.blocks import Step

_TINY = 1.2e-38  # the smallest normal number
_layers = tf.keras.layers


@dataclass(frozen=True)
class Ending:
    """Where the logits of a network are, and how outputs and logits follow from its steps."""

    stop: int  # steps up to the logits
    single: bool  # one output, for two classes
    probabilities: bool  # the steps up to `stop` give probabilities
    classes: int

    def outputs(self, x: tf.Tensor) -> tf.Tensor:
        """The outputs [n, classes] of all steps, float32."""
        x = tf.cast(x, tf.float32)
        return tf.concat([1 - x, x], axis=-1) if self.single else x

    def scores(self, x: tf.Tensor) -> tf.Tensor:
        """The logits [n, classes] from the result of step `stop`, float32."""
        x = tf.cast(x, tf.float32)
        if self.probabilities:
            return tf.math.log(tf.maximum(self.outputs(x), _TINY))
        return tf.concat([tf.zeros_like(x), x], axis=-1) if self.single else x


def ending(steps: Sequence[Step], outputs: int) -> Ending:
    """The ending of a network with these steps and that many outputs."""
    stop = len(steps)
    while stop > 1 and _is(steps[stop - 1], "linear"):
        stop -= 1
    last = steps[stop - 1]
    end = "sigmoid" if outputs == 1 else "softmax"
    inside = not _is(last, end) and _ends_in(last, end)
    if outputs == 1 and not (inside or _is(last, end)):
        raise MeasureError(
            "the model has one output without a sigmoid, as in regression; measures are of "
            "classifiers: end it in a sigmoid, or in one output for each class"
        )
    if inside:
        return Ending(len(steps), outputs == 1, True, max(outputs, 2))
    return Ending(stop - 1 if _is(last, end) else len(steps), outputs == 1, False, max(outputs, 2))


def _is(step: Step, activation: str) -> bool:
    """Whether a step is this activation and nothing else."""
    function = getattr(tf.keras.activations, activation)
    layer = getattr(step, "layer", step)
    if isinstance(layer, _layers.Activation):
        return layer.activation is function
    name = type(layer).__name__
    if layer is function or name in (activation.capitalize(), f"{activation.capitalize()}Layer"):
        return True
    return activation == "linear" and name in ("Identity", "Dropout")


def _ends_in(step: Step, activation: str) -> bool:
    """Whether the last layer of a step ends in this activation."""
    calls: Any = getattr(step, "calls", None)
    layer = getattr(calls[-1].operation if calls else step, "layer", None)
    while isinstance(layer, tf.keras.Model) and layer.layers:
        layer = layer.layers[-1]
    return type(layer).__name__ == activation.capitalize() or (
        getattr(layer, "activation", None) is getattr(tf.keras.activations, activation)
    )
