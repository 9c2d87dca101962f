"""A Keras model as a graph: which layer or operation is called on which tensors.

The graph of `Sequential` and functional models is known. A model or layer with a `call` of its own
is called on a symbolic input, which records what it calls; where that is not possible, it stays one
call. Models and layers inside a model are replaced by what they call, so that the graph is flat.
The model is not changed.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import tensorflow as tf

from pgdl_measures.errors import MeasureError


@dataclass(frozen=True)
class Ref:
    """A tensor of the graph, by its number: 0 is the model's input."""

    number: int


@dataclass(frozen=True)
class Call:
    """One call of a layer or operation; its arguments have `Ref`s in place of tensors."""

    operation: Any
    args: Any
    kwargs: Mapping[str, Any]
    outputs: tuple[int, ...]

    @property
    def inputs(self) -> tuple[int, ...]:
        """The tensors that the call takes."""
        flat = tf.nest.flatten((self.args, dict(self.kwargs)))
        return tuple(dict.fromkeys(leaf.number for leaf in flat if isinstance(leaf, Ref)))

    def run(self, values: dict[int, Any]) -> None:
        """Computes the outputs from the tensors in `values`, and puts them there."""
        args, kwargs = tf.nest.map_structure(
            lambda leaf: values[leaf.number] if isinstance(leaf, Ref) else leaf,
            (self.args, dict(self.kwargs)),
        )
        outputs = tf.nest.flatten(self.operation(*args, **kwargs))
        if len(outputs) != len(self.outputs):
            raise MeasureError(
                f"the model has {len(outputs)} outputs; measures need one, that of the classes: "
                "make a model with this output alone"
            )
        values.update(zip(self.outputs, outputs))


@dataclass(frozen=True)
class Graph:
    """The calls in an order in which they can be run, and the tensor that is the output."""

    calls: Sequence[Call]
    output: int


def read_graph(model: tf.keras.Model, input_shape: Sequence[int]) -> Graph:
    """The graph of a model on inputs of this shape."""
    _check_ends(model)
    reader = _Reader()
    output = reader.model(model, Ref(0), tuple(input_shape))
    return Graph(reader.calls, output.number)


def stock_class(layer: Any) -> Any:
    """The Keras class whose computation this layer does, if it is one."""
    own: set[str] = set()
    for stock in inspect.getmro(type(layer)):
        if stock.__module__.split(".")[0] in ("keras", "tf_keras"):
            if any(hasattr(stock, name) for name in own):
                raise NotImplementedError  # a subclass that computes something else
            return stock
        # How a layer is made and called is no part of what it computes: the kit changes it.
        own |= {name for name in vars(stock) if not name.startswith("__")}
    raise NotImplementedError


def is_stock(layer: Any) -> bool:
    """Whether a layer computes what a class of Keras' does."""
    try:
        return bool(stock_class(layer))
    except NotImplementedError:
        return False


def takes_training(layer: Any) -> bool:
    """Whether the `call` of a layer takes the argument `training`."""
    return "training" in inspect.signature(layer.call).parameters


class _Reader:
    """Collects the calls of a model."""

    def __init__(self, tensors: int = 1) -> None:
        self.calls: list[Call] = []
        self._tensors = tensors

    def model(self, model: Any, x: Ref, shape: tuple[int, ...] | None) -> Ref:
        """The output of a model on x."""
        if isinstance(model, tf.keras.Sequential) and _keeps_call(model, "Sequential"):
            return self._sequential(model, x, shape)
        if _keeps_call(model, "Functional") and model.inputs:
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
            known = _keeps_call(operation, "Sequential") or _keeps_call(operation, "Functional")
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


def _keeps_call(model: Any, kind: str) -> bool:
    """Whether a model is of this kind of Keras' and computes what that does."""
    for base in inspect.getmro(type(model)):
        if base.__name__ == kind and base.__module__.split(".")[0] in ("keras", "tf_keras"):
            return bool(type(model).call is getattr(base, "call", None))
    return False


def has_own_call(operation: Any) -> bool:
    """Whether a layer with layers in it has a `call` that is not Keras'."""
    if not isinstance(operation, tf.keras.layers.Layer):
        return False
    return not is_stock(operation) and len(list(operation._flatten_layers())) > 1


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
    given = {k: v for k, v in kwargs.items() if k != "training" and (k != "mask" or v is not None)}
    return args, given


def _is_symbol(leaf: Any) -> bool:
    return any(base.__name__ == "KerasTensor" for base in type(leaf).__mro__)


def _keras_tensors(arguments: Any) -> list[Any]:
    return [leaf for leaf in tf.nest.flatten(arguments) if _is_symbol(leaf)]


def _check_ends(model: Any) -> None:
    """Raises where a functional model has several inputs or outputs, or a layer is stateful."""
    for layer in model._flatten_layers():
        if isinstance(layer, tf.keras.layers.RNN) and layer.stateful:
            raise MeasureError(
                f"the layer {layer.name} is stateful, so that the outputs for an example depend on "
                "those before it; make the model again with stateful=False"
            )
    if isinstance(model, tf.keras.Sequential) or not _keeps_call(model, "Functional"):
        return
    if len(model.inputs) != 1:
        names = ", ".join(tensor.name for tensor in model.inputs)
        raise MeasureError(
            f"the model takes {len(model.inputs)} inputs ({names}); measures need one: "
            "make a model with one input, in which the others are fixed"
        )
    outputs = model.output
    if len(model.outputs) != 1:
        names = ", ".join(outputs) if isinstance(outputs, dict) else str(len(model.outputs))
        raise MeasureError(
            f"the model has several outputs ({names}); measures need one, that of the classes: "
            "make tf.keras.Model(model.input, OUTPUT) with this output alone"
        )
