"""Path measures (Dziugaite et al. 2020, C.6.5, eq. 26-27).

The output of the network with squared weights on an input of ones is a sum over all paths from an
input or a bias to an output: each path adds the product of the squared weights along it. This holds
for rectified linear units and linear layers. Biases are squared like weights (they are weights from
a unit that is always one), as in the authors' code. Max pooling and other activations are kept,
which follows the definition but counts only the paths that win the maximum. Sums and concatenations
of branches join their paths. Rescaling and normalization before the first layer are not part of any
path: the first layer is given the ones. A product of two branches, attention, and normalization by
an example's own statistics are not sums over paths, and are refused.
"""

from __future__ import annotations

import math
from typing import Any

import tensorflow as tf

from pgdl_measures.base import Subject
from pgdl_measures.errors import MeasureError
from pgdl_measures.network.blocks import call_name
from pgdl_measures.network.compiled import Network
from pgdl_measures.network.graph import Call, is_stock
from pgdl_measures.norms.fused import FusedNetwork, fused_network
from pgdl_measures.norms.margin import margin

_PRODUCTS = {"multiply", "mul", "dot", "matmul", "einsum", "subtract", "sub", "divide", "truediv"}
_WITHOUT_PATHS = {
    *("AdditiveAttention", "Attention", "GroupQueryAttention", "MultiHeadAttention"),
    *("GroupNormalization", "LayerNormalization", "RMSNormalization", "UnitNormalization"),
    *("Bidirectional", "ConvLSTM2D", "Embedding", "GRU", "LSTM", "RNN", "SimpleRNN"),
}


def path_norm_over_margin(subject: Subject, *, examples: int = 5_000, seed: int = 0) -> float:
    """sqrt(sum_i f_{w^2}(1)[i] / (gamma^2 m)) (26)."""
    return path_norm(subject) / abs(margin(subject, examples, seed))


def path_norm(subject: Subject) -> float:
    """sqrt(sum_i f_{w^2}(1)[i] / m) (27)."""
    total = subject.share("path_norm", lambda: _squared_path_norm(subject))
    return math.sqrt(total / subject.data.total)


def _squared_path_norm(subject: Subject) -> float:
    fused, network = fused_network(subject), subject.network
    if fused.gives_probabilities:
        raise MeasureError(
            "the path norm needs logits, but this model returns probabilities and its softmax "
            "cannot be removed; end the model with Keras' Softmax, or with logits"
        )
    for call in fused.calls_beside_kernels():
        _check(call)
    graph = network.graph("path_norm", lambda: _build(fused, network))
    total = float(graph(*fused.tensors()))
    if total < 0:
        raise MeasureError(
            f"the sum over paths is {total:.6g}: an activation of the model turns positive numbers "
            "into negative ones, so that it is not a sum of squares"
        )
    return total


def _check(call: Call) -> None:
    """Raises if a call is not a sum of products of weights and inputs."""
    layer, name = call.layer, call_name(call)
    product = len(call.inputs) > 1 and name.lower() in _PRODUCTS
    own = isinstance(layer, tf.keras.layers.Layer) and layer.weights and not is_stock(layer)
    if product or own or name in _WITHOUT_PATHS:
        raise MeasureError(
            f"the path norm is not defined for the layer {getattr(layer, 'name', name)} "
            f"({name}), which is not a sum over paths; the other norms are"
        )


def _build(fused: FusedNetwork, network: Network) -> Any:
    @tf.function(input_signature=fused.signature())
    def squared(kernels: list[tf.Tensor], biases: list[tf.Tensor]) -> tf.Tensor:
        ones = tf.ones([1, *network.input_shape])
        squares = [[w * w for w in weights] for weights in (kernels, biases)]
        outputs = fused.run(ones, *squares, preprocess=False)
        return tf.reduce_sum(outputs)

    return squared
