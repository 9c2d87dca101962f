"""Operations and bytes of one step of a network, read off the graph that TensorFlow traces of it.

A convolution or matrix product does one multiplication and one addition per weight that an output
element uses; pooling one operation per element of its window; any other operation one per output
element. Every operation reads its inputs and writes its outputs once (no fusion), except those that
only rename a tensor.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import tensorflow as tf

_FREE = frozenset(
    {"Const", "ExpandDims", "Identity", "NoOp", "Placeholder", "ReadVariableOp", "Reshape", "Shape"}
    | {"Squeeze", "StopGradient"}
)
_POOLS = frozenset({"AvgPool", "MaxPool", "MaxPoolV2"})


@dataclass(frozen=True)
class Work:
    """The work of a step per example, and the bytes per call whatever the number of examples."""

    flops: float
    bytes: float
    call_bytes: float  # the weights


def step_work(
    step: Callable[[tf.Tensor], tf.Tensor], shape: tuple[int, ...]
) -> tuple[Work, tuple[int, ...]]:
    """The work of a step on inputs of `shape` (of one example), and the shape of its outputs.

    Comparing graphs of one and of two examples separates work per example from work per call.
    """
    one, two = (_traced(step, (examples, *shape)) for examples in (1, 2))
    (flops_one, bytes_one), (flops_two, bytes_two) = _total(one.graph), _total(two.graph)
    per_example = bytes_two - bytes_one
    work = Work(flops_two - flops_one, per_example, bytes_one - per_example)
    return work, tuple(one.outputs[0].shape.as_list()[1:])


def _traced(step: Callable[[tf.Tensor], tf.Tensor], shape: tuple[int, ...]) -> Any:
    return tf.function(step).get_concrete_function(tf.TensorSpec(shape, tf.float32))


def _total(graph: tf.Graph) -> tuple[float, float]:
    operations = [op for op in graph.get_operations() if op.type not in _FREE]
    flops = sum(_flops(operation) for operation in operations)
    moved = sum(_bytes(t) for op in operations for t in (*op.inputs, *op.outputs))
    return float(flops), float(moved)


def _flops(operation: tf.Operation) -> int:
    elements = sum(_elements(tensor) for tensor in operation.outputs)
    if operation.type in ("Conv2D", "DepthwiseConv2dNative"):
        *window, channels, _ = operation.inputs[1].shape.as_list()
        seen = channels if operation.type == "Conv2D" else 1
        return 2 * elements * math.prod(window) * seen
    if operation.type in ("MatMul", "BatchMatMulV2"):
        transposed = "transpose_a" if operation.type == "MatMul" else "adj_x"
        inner = operation.inputs[0].shape[-2 if operation.get_attr(transposed) else -1]
        return 2 * elements * inner
    if operation.type in _POOLS:
        return elements * math.prod(operation.get_attr("ksize"))
    return elements


def _elements(tensor: tf.Tensor) -> int:
    # Unknown shapes belong to tensors that are not activations, such as handles.
    return tensor.shape.num_elements() or 0


def _bytes(tensor: tf.Tensor) -> int:
    return _elements(tensor) * (tensor.dtype.size or 0)
