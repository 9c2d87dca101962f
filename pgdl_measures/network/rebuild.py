"""The graph of a model made again with layers of our own, for all models of its architecture.

A convolution or dense layer with a fused activation becomes two calls: its affine part and the
activation. Layers are made from their configuration; where that does not say all that a layer does,
`NotImplementedError` is raised and the model has to run as it is.
"""

from __future__ import annotations

import copy
import hashlib
import json
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import tensorflow as tf

from pgdl_measures.network.graph import Call, Graph, Ref, stock_class, takes_training
from pgdl_measures.network.inference import TRAINING_ONLY

_layers = tf.keras.layers


def _known(*names: str) -> tuple[Any, ...]:
    """The layer classes of these names, of which not every version of Keras has all."""
    return tuple(getattr(_layers, name) for name in names if hasattr(_layers, name))


# At inference, for every fixed set of weights, x -> Ax + b.
AFFINE = _known(
    *("Add", "Average", "AveragePooling1D", "AveragePooling2D", "BatchNormalization"),
    *("Concatenate", "Cropping2D", "Dropout", "Flatten", "GaussianDropout", "GaussianNoise"),
    *("GlobalAveragePooling1D", "GlobalAveragePooling2D", "Normalization", "Permute"),
    *("Rescaling", "Reshape", "SpatialDropout2D", "Subtract", "ZeroPadding2D"),
)
# The same, up to the activation that is fused into them.
AFFINE_THEN_ACTIVATION = _known(
    "Conv1D", "Conv2D", "Dense", "DepthwiseConv2D", "EinsumDense", "SeparableConv2D"
)
_AFFINE_OPERATIONS = ("Add", "Subtract", "Concatenate")


class KerasStep:
    """One Keras layer in inference mode; `affine` if it is known to be."""

    def __init__(self, layer: tf.keras.layers.Layer, affine: bool = False) -> None:
        self.layer = layer
        self.affine = affine
        self._arguments = {"training": False} if takes_training(layer) else {}

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.layer(*args, **{**kwargs, **self._arguments})


class OperationStep:
    """One of Keras' operations, which have no weights."""

    def __init__(self, operation: Any) -> None:
        self.layer = copy.copy(operation)
        self.layer._inbound_nodes, self.layer._outbound_nodes = [], []  # not the caller's graph
        self.affine = type(operation).__name__ in _AFFINE_OPERATIONS

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.layer(*args, **kwargs)


def as_it_is(graph: Graph) -> Graph:
    """The graph with the caller's layers, in inference mode."""
    steps: dict[int, Any] = {}
    calls = []
    for call in graph.calls:
        kind = KerasStep if isinstance(call.operation, _layers.Layer) else OperationStep
        step = steps.setdefault(id(call.operation), kind(call.operation))
        calls.append(Call(step, call.args, call.kwargs, call.outputs))
    return Graph(calls, graph.output)


def rebuilt(graph: Graph) -> Graph:
    """The graph with layers made again, each activation as a call of its own."""
    made: dict[int, list[Any]] = {}
    tensors = 1 + max([graph.output, *(n for call in graph.calls for n in call.outputs)])
    calls = []
    for call in graph.calls:
        if id(call.operation) not in made:
            made[id(call.operation)] = _rebuilt_operation(call.operation)
        first, *activation = made[id(call.operation)]
        if not activation:
            calls.append(Call(first, call.args, call.kwargs, call.outputs))
            continue
        calls.append(Call(first, call.args, call.kwargs, (tensors,)))
        calls.append(Call(activation[0], (Ref(tensors),), {}, call.outputs))
        tensors += 1
    return Graph(calls, graph.output)


def own_layers(graph: Graph) -> list[Any]:
    """The layers of a graph, each once, in the order of their first call."""
    # Keras' wrappers have a `layer`, too, which is not all of them.
    operations = (
        call.operation.layer
        if isinstance(call.operation, (KerasStep, OperationStep))
        else call.operation
        for call in graph.calls
    )
    found = {id(layer): layer for layer in operations if isinstance(layer, _layers.Layer)}
    return list(found.values())


def lend(graph: Graph, model_graph: Graph) -> None:
    """Gives the layers of a rebuilt graph the weights of a model of its architecture."""
    for layer, source in zip(own_layers(graph), own_layers(model_graph)):
        layer.set_weights(source.get_weights())
        if hasattr(layer, "adapt"):
            layer.finalize_state()


def is_linear(activation: Any) -> bool:
    """Whether an activation changes nothing."""
    return activation is None or activation is tf.keras.activations.linear


def _own_function(layer: Any) -> Callable[..., tf.Tensor] | None:
    """The activation of a layer if it is a user's function; Keras finds its own by their names."""
    activation = getattr(layer, "activation", None)
    name = getattr(activation, "__name__", "")
    is_keras = getattr(tf.keras.activations, name, None) is activation
    return None if activation is None or is_keras else activation


def _rebuilt_operation(layer: Any) -> list[Any]:
    """A layer as one step, or as two where it has an activation."""
    if not isinstance(layer, _layers.Layer):
        return [OperationStep(layer)]
    if isinstance(layer, (tf.keras.Model, _layers.Lambda)):
        raise NotImplementedError  # a function that has to be found by its name
    stock, config = stock_class(layer), layer.get_config()
    own = _own_function(layer)
    fused = isinstance(layer, AFFINE_THEN_ACTIVATION) and not is_linear(layer.activation)
    try:
        if fused or (own and isinstance(layer, _layers.Activation)):
            if isinstance(layer.activation, _layers.Layer):
                raise NotImplementedError  # an activation with weights of its own
            linear = stock.from_config({**config, "activation": "linear"})
            return [KerasStep(linear, affine=True), layer.activation]
        if own:
            raise NotImplementedError
        affine = isinstance(layer, (*AFFINE, *AFFINE_THEN_ACTIVATION))
        return [KerasStep(stock.from_config(config), affine)]
    except ValueError as error:  # an operation that Keras does not know, say
        raise NotImplementedError from error


def architecture(graph: Graph, input_shape: tuple[int, ...]) -> str:
    """The same text for all models that are computed alike but for their weights."""
    numbers: dict[int, int] = {}
    calls = []
    for call in graph.calls:
        number = numbers.setdefault(id(call.operation), len(numbers))
        described = _description(call.operation) if number == len(numbers) - 1 else None
        arguments = tf.nest.map_structure(_argument, (call.args, dict(call.kwargs)))
        calls.append([number, described, arguments, call.outputs])
    return json.dumps([list(input_shape), calls, graph.output], sort_keys=True, default=repr)


def _description(operation: Any) -> list[Any]:
    """A layer or operation without its weights."""
    if not isinstance(operation, _layers.Layer):
        public = {k: v for k, v in vars(operation).items() if k != "name" and k[0] != "_"}
        return [type(operation).__name__, public]
    # The network that is kept by this text keeps the function, and so its number.
    own = _own_function(operation)
    config = _nameless(operation.get_config())
    described = [stock_class(operation).__name__, config, own and id(own)]
    if hasattr(operation, "adapt"):  # traced graphs keep what it learned of its data
        described.append([_digest(array) for array in operation.get_weights()])
    return described


def _argument(leaf: Any) -> Any:
    if isinstance(leaf, Ref):
        return f"tensor {leaf.number}"
    if isinstance(leaf, tf.Variable) or hasattr(leaf, "assign"):
        raise NotImplementedError  # a weight that belongs to no layer
    if isinstance(leaf, (tf.Tensor, np.ndarray)):
        return _digest(np.asarray(leaf))
    return repr(leaf)


def _digest(array: np.ndarray) -> str:
    return hashlib.sha256(np.ascontiguousarray(array).tobytes()).hexdigest()


def _nameless(config: Mapping[str, Any]) -> dict[str, Any]:
    """A layer's configuration without its name and what matters in training only."""
    return {
        key: _nameless_inside(value)
        for key, value in config.items()
        if not TRAINING_ONLY.fullmatch(key)
    }


def _nameless_inside(value: Any) -> Any:
    """The same of a layer in a layer: Keras numbers their names, too."""
    is_layer = isinstance(value, dict) and isinstance(value.get("config"), dict)
    if is_layer and not str(value.get("class_name")).endswith("Policy"):
        return {"class_name": value.get("class_name"), "config": _nameless(value["config"])}
    return value
