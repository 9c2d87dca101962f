"""How a classifier ends: in logits, in a softmax, or in one sigmoid, which stands for two classes.

A softmax that is no layer of its own (the mean of two, or one inside a user's `call`) is found by
the outputs: they are not negative and sum to one. The logarithm of a softmax is logits. One sigmoid
p is taken as the two classes [1 - p, p], whose logits are [0, z] where p = sigmoid(z).
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


def ending(steps: Sequence[Step], example: tf.Tensor) -> Ending:
    """The ending of a network with these steps and outputs such as these, [1, outputs]."""
    outputs = int(example.shape[-1])
    stop = len(steps)
    while stop > 1 and _is(steps[stop - 1], "linear"):
        stop -= 1
    last = steps[stop - 1]
    end = "sigmoid" if outputs == 1 else "softmax"
    inside = not _is(last, end) and _ends_in(last, end)
    if outputs == 1 and not (inside or _is(last, end)):
        raise MeasureError(
            "the model has one output without a sigmoid, as in regression; measures need a "
            "classifier: end the model with a sigmoid, or with one output for each class"
        )
    classes = max(outputs, 2)
    if inside:
        return Ending(len(steps), outputs == 1, True, classes)
    if _is(last, end) or (outputs > 1 and _is(last, "log_softmax")):
        return Ending(stop - 1, outputs == 1, False, classes)
    return Ending(len(steps), outputs == 1, outputs > 1 and _are_probabilities(example), classes)


def _are_probabilities(outputs: tf.Tensor) -> bool:
    rounding = 1e-3 if outputs.dtype in (tf.float32, tf.float64) else 2e-2
    x = tf.cast(outputs, tf.float32)
    return bool(tf.reduce_all(x >= 0) and abs(float(tf.reduce_sum(x)) - 1) < rounding)


def _is(step: Step, activation: str) -> bool:
    """Whether a step is this activation and nothing else."""
    function = getattr(tf.keras.activations, activation, None)  # Keras 2 has no log_softmax
    layer = getattr(step, "layer", step)
    if function is None:
        return False
    if isinstance(layer, _layers.Activation):
        return layer.activation is function
    name, title = type(layer).__name__, activation.title().replace("_", "")
    if layer is function or name in (title, f"{title}Layer"):
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
