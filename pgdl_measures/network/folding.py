"""A batch norm that directly follows a convolution or dense layer, folded into its weights.

At inference a batch norm is x -> scale * x + shift per channel, so that
scale * (A x + b) + shift = (scale * A) x + (scale * b + shift): the network computes the same to
float rounding, and two passes over the feature maps less. The folded weights are made inside the
graph from the weights as they stand, so that a graph serves all models of its architecture.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import tensorflow as tf

from pgdl_measures.network.graph import Call, is_stock
from pgdl_measures.network.rebuild import KerasStep, is_linear
from pgdl_measures.network.substitution import with_weights

_layers = tf.keras.layers
_WITH_KERNEL = (_layers.Conv1D, _layers.Conv2D, _layers.Dense)
_TRANSPOSED = (_layers.Conv1DTranspose, _layers.Conv2DTranspose)


class Folded:
    """A layer with a kernel and the batch norm after it, as one step."""

    affine = True

    def __init__(self, kernel_step: KerasStep, norm_step: KerasStep) -> None:
        self.layer, self._norm, self._step = kernel_step.layer, norm_step.layer, kernel_step

    def __call__(self, x: tf.Tensor) -> tf.Tensor:
        norm = self._norm
        scale = tf.math.rsqrt(tf.convert_to_tensor(norm.moving_variance) + norm.epsilon)
        if norm.scale:
            scale *= tf.convert_to_tensor(norm.gamma)
        shift = -scale * tf.convert_to_tensor(norm.moving_mean)
        if norm.center:
            shift += tf.convert_to_tensor(norm.beta)
        kernel, *bias = map(tf.convert_to_tensor, self.layer.weights)
        weights = {0: kernel * scale}
        if bias:
            weights[1] = bias[0] * scale + shift
        y = with_weights(lambda: self._step(x), self.layer, weights)
        return y if bias else tf.nn.bias_add(y, shift)


def folded(steps: Sequence[Any]) -> Iterator[Any]:
    """The steps of a chain, with a batch norm folded wherever it can be."""
    number = 0
    while number < len(steps):
        if number + 1 < len(steps) and can_fold(steps[number], steps[number + 1]):
            yield Folded(steps[number], steps[number + 1])
            number += 1
        else:
            yield steps[number]
        number += 1


def folded_calls(calls: Sequence[Call], target: int) -> list[Call]:
    """The same of the calls that lead to the tensor `target`, where branches meet."""
    readers: dict[int, list[Call]] = {}
    for call in calls:
        for tensor in call.inputs:
            readers.setdefault(tensor, []).append(call)
    result, done = [], set()
    for call in calls:
        if id(call) in done:
            continue
        after = readers.get(call.outputs[0], [])
        alone = len(after) == len(call.outputs) == 1 and call.outputs[0] != target
        if alone and _plain(call) and _plain(after[0]):
            norm = after[0]
            if can_fold(call.operation, norm.operation):
                done.add(id(norm))
                operation = Folded(call.operation, norm.operation)
                call = Call(operation, call.args, {}, norm.outputs)
        result.append(call)
    return result


def _plain(call: Call) -> bool:
    return len(call.args) == len(call.inputs) == 1 and not call.kwargs


def can_fold(first: Any, second: Any) -> bool:
    """Whether the second step is a batch norm over the channels that the first makes.

    Both must have been built: only then are their weights and axes known.
    """
    if not (isinstance(first, KerasStep) and isinstance(second, KerasStep)):
        return False
    layer, norm = first.layer, second.layer
    if not (isinstance(layer, _WITH_KERNEL) and isinstance(norm, _layers.BatchNormalization)):
        return False
    if not (is_stock(layer) and is_stock(norm)):
        return False  # a layer that standardizes its kernel, say, takes the scale off again
    if isinstance(layer, _TRANSPOSED) or not is_linear(layer.activation):
        return False
    single = all(part.compute_dtype == part.dtype == "float32" for part in (layer, norm))
    last = getattr(layer, "data_format", "channels_last") in (None, "channels_last")
    whole = len(layer.weights) == 1 + bool(layer.use_bias)  # no low-rank additions
    return single and last and whole and _over_channels(norm)


def _over_channels(norm: Any) -> bool:
    axes = [norm.axis] if isinstance(norm.axis, int) else list(norm.axis)
    return axes in ([-1], [norm.input_spec.ndim - 1])
