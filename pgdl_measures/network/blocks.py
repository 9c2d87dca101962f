"""Cut points of a graph, the steps between them, and which of them the papers call a layer.

A cut is a tensor through which every path from the input to the output passes: after each layer of
a chain, after each residual block of a ResNet, after each transition of a DenseNet, after each
attention and each dense part of a ViT. Between two cuts lies a step: one call, or a block of
several.

Layer l of Schiff et al. 2021 is the l-th cut that the papers would call a layer. Normalization,
activations and dropout belong to the layer before them: mixing commutes with affine maps, so that a
cut between a convolution and its activation would repeat the one before the convolution.
Preprocessing, augmentation and padding belong to the layer after them, and so does what only
reshapes the inputs: a cut after it would repeat the inputs.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import tensorflow as tf

from pgdl_measures.network.folding import folded_calls
from pgdl_measures.network.graph import Call, Graph, Ref
from pgdl_measures.network.inference import IDENTITIES

Step = Callable[[tf.Tensor], tf.Tensor]

# What belongs to the layer before it.
_FOLLOWING = {
    *("Activation", "ELU", "LeakyReLU", "PReLU", "ReLU", "Softmax", "ThresholdedReLU"),
    *("BatchNormalization", "GroupNormalization", "LayerNormalization", "LayerScale"),
    *("RMSNormalization", "SyncBatchNormalization", "UnitNormalization"),
    *(*IDENTITIES, "StochasticDepth", "Identity", "Cast"),
}
# What belongs to the layer after it; also what draws at random in training.
_PRECEDING = {
    *("CenterCrop", "Normalization", "Rescaling", "Resizing"),
    *("Cropping1D", "Cropping2D", "Cropping3D", "ZeroPadding1D", "ZeroPadding2D", "ZeroPadding3D"),
}
_PRECEDING_PREFIXES = ("Random", "Aug", "Auto")
_RESHAPING = {"Flatten", "Permute", "Reshape"}
# Operations on each number by itself, under the names of Keras 3 and of TensorFlow.
_ELEMENTWISE = {
    *("relu", "relu6", "gelu", "silu", "swish", "sigmoid", "tanh", "elu", "selu", "celu", "glu"),
    *("hardsigmoid", "hardsilu", "hardswish", "hardtanh", "leakyrelu", "logsigmoid", "mish"),
    *("softplus", "softsign", "softmax", "identity", "cast", "clip", "erf", "exp", "square"),
    *("add", "subtract", "sub", "multiply", "mul", "divide", "truedivide", "truediv", "maximum"),
    *("minimum", "negative", "abs", "pow", "power", "sqrt", "rsqrt"),
}


class Block:
    """Several calls between two cuts, as one step, with batch norms folded."""

    def __init__(self, calls: Sequence[Call], source: int, target: int) -> None:
        self.calls = calls
        self.affine = all(getattr(call.operation, "affine", False) for call in calls)
        self._source, self._target = source, target

    def __call__(self, x: tf.Tensor) -> tf.Tensor:
        return self.values(x)[self._target]

    @functools.cached_property
    def quick_calls(self) -> list[Call]:
        """The calls with batch norms folded. Their layers have been built when this is read."""
        return folded_calls(self.calls, self._target)

    def values(self, x: tf.Tensor) -> dict[int, Any]:
        """The tensors of the block, by their numbers, but for those before a folded batch norm."""
        values = {self._source: x}
        for call in self.quick_calls:
            call.run(values)
        return values


def cut(graph: Graph) -> list[tuple[Sequence[Call], int, int]]:
    """The calls between each two cuts, with the cuts' tensors."""
    last_use = {graph.output: len(graph.calls)}
    for number, call in enumerate(graph.calls):
        for tensor in call.inputs:
            last_use[tensor] = max(number, last_use.get(tensor, -1))
    parts, start, source, live = [], 0, 0, {0}
    for number, call in enumerate(graph.calls):
        live = {t for t in (*live, *call.outputs) if last_use.get(t, -1) > number}
        if len(live) == 1:
            (target,) = live
            parts.append((graph.calls[start : number + 1], source, target))
            start, source = number + 1, target
    return parts


def step(calls: Sequence[Call], source: int, target: int) -> Step:
    """What computes one cut from the one before."""
    (first, *rest) = calls
    plain = first.args == (Ref(source),) and not first.kwargs and first.outputs == (target,)
    if not rest and plain:
        return first.operation
    return Block(calls, source, target)


def by_layer(parts: Sequence[Sequence[Call]]) -> list[list[int]]:
    """The numbers of the steps, whose calls are given, that make up each layer of the papers."""
    layers: list[list[int]] = []
    waiting: list[int] = []  # until their layer comes
    for number, calls in enumerate(parts):
        roles = {_role(call) for call in calls}
        if roles == {"preceding"} or (not layers and roles <= {"preceding", "reshaping"}):
            waiting.append(number)
        elif roles & {"layer", "reshaping"}:
            layers.append([*waiting, number])
            waiting = []
        elif waiting or not layers:
            waiting.append(number)
        else:
            layers[-1].append(number)
    if waiting and layers:
        layers[-1] += waiting
    return layers or [waiting]


def call_name(call: Call) -> str:
    """The name of what is called: the class of a layer, or an operation's name."""
    layer = getattr(call.operation, "layer", call.operation)
    kind = type(layer).__name__
    if kind in ("TFOpLambda", "SlicingOpLambda"):  # what Keras 2 makes of TensorFlow's functions
        return str(layer.get_config().get("function", kind)).rsplit(".", 1)[-1]
    return getattr(layer, "__name__", kind) if kind == "function" else kind


def _role(call: Call) -> str:
    operation = getattr(call.operation, "layer", call.operation)
    if not isinstance(operation, tf.keras.layers.Layer) or type(operation).__name__ == "TFOpLambda":
        elementwise = call_name(call).replace("_", "").lower() in _ELEMENTWISE
        # What has no configuration is an activation that was split off its layer.
        return "following" if elementwise or not hasattr(operation, "get_config") else "layer"
    names = {base.__name__ for base in type(operation).__mro__}
    if names & _FOLLOWING:
        return "following"
    if names & _PRECEDING or type(operation).__name__.startswith(_PRECEDING_PREFIXES):
        return "preceding"
    return "reshaping" if names & _RESHAPING else "layer"
