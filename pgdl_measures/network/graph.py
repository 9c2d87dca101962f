"""A Keras model as a graph: which layer or operation is called on which tensors.

`network.reading` reads the graph of a model.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
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
    def layer(self) -> Any:
        """The Keras layer or operation behind a step of a network; None of a plain function."""
        return getattr(self.operation, "layer", None)

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


def keeps_call(model: Any, kind: str) -> bool:
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
