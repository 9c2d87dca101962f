"""Reads the graph of a Keras model: which layer or operation it calls on which tensors.

The graph of `Sequential` and functional models is known. A model or layer with a `call` of its own
is called on a symbolic input, which records what it calls; where that is not possible, it stays one
call. Models and layers inside a model are replaced by what they call, so that the graph is flat.
The model is not changed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import tensorflow as tf

from pgdl_measures.network.checks import check_ends
from pgdl_measures.network.graph import (
    Call,
    Graph,
    Ref,
    has_own_call,
    keeps_call,
    takes_training,
)


def read_graph(model: tf.keras.Model, input_shape: Sequence[int]) -> Graph:
    """The graph of a model on inputs of this shape."""
    check_ends(model)
    reader = _Reader()
    output = reader.model(model, Ref(0), tuple(input_shape))
    return Graph(reader.calls, output.number)


class _Reader:
    """Collects the calls of a model."""

    def __init__(self, tensors: int = 1) -> None:
        self.calls: list[Call] = []
        self._tensors = tensors

    def model(self, model: Any, x: Ref, shape: tuple[int, ...] | None) -> Ref:
        """The output of a model on x."""
        if isinstance(model, tf.keras.Sequential) and keeps_call(model, "Sequential"):
            return self._sequential(model, x, shape)
        if keeps_call(model, "Functional") and model.inputs:
            return self._walk(model.inputs[0], model.outputs[0], x)
        return self._call(model, (x,), {}, 1, shape)[0]

    def _sequential(self, model: Any, x: Ref, shape: tuple[int, ...] | None) -> Ref:
        for layer in model.layers:
            if isinstance(layer, tf.keras.layers.InputLayer):
                continue
            (x,) = self._call(layer, (x,), {}, 1, shape)
            if shape is not None:
                try:
                    shape = tuple(layer.compute_output_shape((None, *shape)))[1:]
                except Exception:  # a user's layer need not know its shape: it then stays one call
                    shape = None
        return x

    def _walk(self, start: Any, end: Any, x: Ref) -> Ref:
        """The tensor `end` of a functional graph whose input `start` is x."""
        known = {id(start): x}
        waiting = [end]
        while waiting:
            if id(waiting[-1]) in known:
                waiting.pop()
                continue
            node = _node(waiting[-1])
            inputs = _keras_tensors(_arguments(node))
            missing = [tensor for tensor in inputs if id(tensor) not in known]
            if missing:
                waiting.extend(reversed(missing))
            elif not inputs:
                raise NotImplementedError  # another input
            else:
                args, kwargs = tf.nest.map_structure(
                    lambda leaf: known[id(leaf)] if _is_symbol(leaf) else leaf, _arguments(node)
                )
                outputs = tf.nest.flatten(node.outputs)
                shape = tuple(inputs[0].shape)[1:]
                operation = waiting[-1]._keras_history[0]
                found = self._call(operation, args, kwargs, len(outputs), shape)
                known.update(zip(map(id, outputs), found))
        return known[id(end)]

    def _call(
        self, operation: Any, args: Any, kwargs: Mapping[str, Any], outputs: int, shape: Any
    ) -> list[Ref]:
        plain = len(args) == 1 and isinstance(args[0], Ref) and not kwargs
        if plain and outputs == 1 and isinstance(operation, tf.keras.Model):
            known = keeps_call(operation, "Sequential") or keeps_call(operation, "Functional")
            if known and len(getattr(operation, "inputs", None) or [0]) == 1:
                return [self.model(operation, args[0], shape)]
        if plain and outputs == 1 and has_own_call(operation):
            traced = self._traced(operation, args[0], shape)
            if traced is not None:
                return [traced]
        refs = [Ref(self._tensors + i) for i in range(outputs)]
        self._tensors += outputs
        self.calls.append(Call(operation, args, kwargs, tuple(ref.number for ref in refs)))
        return refs

    def _traced(self, layer: Any, x: Ref, shape: tuple[int, ...] | None) -> Ref | None:
        """The output of a layer whose `call` only calls other layers and operations."""
        if shape is None or None in shape:
            return None
        part = _Reader(self._tensors)
        with _nodes_restored(layer):
            try:
                symbol = tf.keras.Input(shape)
                arguments = {"training": False} if takes_training(layer) else {}
                output = layer.call(symbol, **arguments)
                result = part._walk(symbol, output, x)
            except Exception:  # whatever a user's `call` does with a symbol that has no values
                return None
        found = {id(w) for c in part.calls for w in getattr(c.operation, "weights", ())}
        if any(id(weight) not in found for weight in layer.weights):
            return None  # it has weights besides those of the layers in it
        self.calls += part.calls
        self._tensors = part._tensors
        return result


@contextmanager
def _nodes_restored(layer: Any) -> Iterator[None]:
    """Forgets the symbolic calls that are made inside."""
    lists = [
        nodes
        for part in layer._flatten_layers()
        for nodes in (part._inbound_nodes, part._outbound_nodes)
    ]
    lengths = [len(nodes) for nodes in lists]
    try:
        yield
    finally:
        for nodes, length in zip(lists, lengths):
            del nodes[length:]


def _node(tensor: Any) -> Any:
    operation, number, _ = tensor._keras_history
    return operation._inbound_nodes[number]


def _arguments(node: Any) -> tuple[Any, dict[str, Any]]:
    if hasattr(node, "arguments"):  # Keras 3
        args, kwargs = node.arguments.args, node.arguments.kwargs
    else:
        args, kwargs = node.call_args or (), node.call_kwargs or {}
    # `training` is set by `takes_training`, and a mask of None is no mask.
    arguments = {
        k: v for k, v in kwargs.items() if k != "training" and (k != "mask" or v is not None)
    }
    return args, arguments


def _is_symbol(leaf: Any) -> bool:
    return any(base.__name__ == "KerasTensor" for base in type(leaf).__mro__)


def _keras_tensors(arguments: Any) -> list[Any]:
    return [leaf for leaf in tf.nest.flatten(arguments) if _is_symbol(leaf)]
