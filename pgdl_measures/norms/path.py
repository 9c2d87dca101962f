"""Path measures (Dziugaite et al. 2020, C.6.5, eq. 26-27).

The network with squared weights answers an input of ones with the sum, over all paths from an input
or a bias to an output, of the product of the squared weights along the path - for a network of
rectified linear units and linear layers. Biases are squared like weights (they are weights from a
unit that is always one), as in the authors' code. Max pooling and other activations stay as they
are, which follows the definition but counts only the paths that win.
"""

from __future__ import annotations

import math
from typing import Any

import tensorflow as tf

from pgdl_measures.base import Subject
from pgdl_measures.network.compiled import Network
from pgdl_measures.norms.fused import FusedNetwork, fused_network
from pgdl_measures.norms.margin import margin


def path_norm_over_margin(subject: Subject, *, examples: int = 5_000, seed: int = 0) -> float:
    """sqrt(sum_i f_{w^2}(1)[i] / (gamma^2 m)) (26)."""
    return path_norm(subject) / abs(margin(subject, examples, seed))


def path_norm(subject: Subject) -> float:
    """sqrt(sum_i f_{w^2}(1)[i] / m) (27)."""
    total = subject.share("path_norm", lambda: _squared_path_norm(subject))
    return math.sqrt(total / subject.data.total)


def _squared_path_norm(subject: Subject) -> float:
    fused, network = fused_network(subject), subject.network
    graph = network.graph("path_norm", lambda: _build(fused, network))
    return float(graph(*fused.tensors()))


def _build(fused: FusedNetwork, network: Network) -> Any:
    @tf.function(input_signature=fused.signature())
    def squared(kernels: list[tf.Tensor], biases: list[tf.Tensor]) -> tf.Tensor:
        ones = tf.ones([1, *network.input_shape])
        outputs = fused.run(ones, [w * w for w in kernels], [b * b for b in biases])
        return tf.reduce_sum(outputs)

    return squared
