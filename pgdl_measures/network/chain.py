"""A Keras model as the layers that it computes one after the other, to be made again elsewhere.

A `Sequential` - plain, or of the starting kit's wrapped layers - is such a chain, and so is a
functional model in which each layer takes the output of the one before it. Any other model is a
chain of one layer, itself. A convolution or dense layer with a fused activation is made again as
two steps: its affine part and the activation.
"""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Callable, Mapping
from typing import Any

import tensorflow as tf

from pgdl_measures.errors import MeasureError

Step = Callable[[tf.Tensor], tf.Tensor]

_layers = tf.keras.layers
# At inference, for every fixed set of weights, x -> Ax + b.
_AFFINE = (
    _layers.AveragePooling1D,
    _layers.AveragePooling2D,
    _layers.BatchNormalization,
    _layers.Cropping2D,
    _layers.Dropout,
    _layers.Flatten,
    _layers.GaussianDropout,
    _layers.GaussianNoise,
    _layers.GlobalAveragePooling1D,
    _layers.GlobalAveragePooling2D,
    _layers.Permute,
    _layers.Rescaling,
    _layers.Reshape,
    _layers.SpatialDropout2D,
    _layers.ZeroPadding2D,
)
# The same, up to the activation that is fused into them.
_AFFINE_THEN_ACTIVATION = (
    _layers.Conv1D,
    _layers.Conv2D,
    _layers.Dense,
    _layers.DepthwiseConv2D,
    _layers.SeparableConv2D,
)


# What decides nothing at inference.
_TRAINING_ONLY = re.compile(
    "name|trainable|seed|rate|stddev|noise_shape|momentum|.*_(initializer|regularizer|constraint)"
)


class KerasStep:
    """One Keras layer in inference mode; `affine` if it is known to be."""

    def __init__(self, layer: tf.keras.layers.Layer, affine: bool = False) -> None:
        self.layer = layer
        self.affine = affine
        takes_training = "training" in inspect.signature(layer.call).parameters
        self._arguments = {"training": False} if takes_training else {}

    def __call__(self, x: tf.Tensor) -> tf.Tensor:
        return self.layer(x, **self._arguments)


def is_chain(model: tf.keras.Model) -> bool:
    """Whether each layer of the model takes the output of the one before it, and no other."""
    if isinstance(model, tf.keras.Sequential):
        # The kit's subclass changes only how it is called.
        return type(model).call is tf.keras.Sequential.call
    try:
        layers, inputs, outputs = model.layers, model.inputs, model.outputs
        return (
            _stock_class(model) is type(model)
            and len(inputs) == len(outputs) == 1
            and layers[0].output is inputs[0]
            and layers[-1].output is outputs[0]
            and all(after.input is before.output for before, after in zip(layers, layers[1:]))
        )
    except (AttributeError, IndexError, NotImplementedError, ValueError):
        return False  # without layers, with a `call` of its own, or with a layer that is used twice


def chain(model: tf.keras.Model) -> list[tf.keras.layers.Layer]:
    """The layers one after the other; a model that is no such chain is one layer."""
    if not is_chain(model):
        return [model]
    return [layer for layer in model.layers if not isinstance(layer, _layers.InputLayer)]


def plain_chain(model: tf.keras.Model) -> list[tf.keras.layers.Layer]:
    """The layers of a model that is such a chain, for measures that look into it."""
    if not is_chain(model):
        raise MeasureError(
            f"the model is a {type(model).__name__}; this measure needs a plain chain of layers, "
            "each on the output of the one before it"
        )
    return chain(model)


def _is_linear(activation: Any) -> bool:
    return activation is None or activation is tf.keras.activations.linear


def _own_function(layer: tf.keras.layers.Layer) -> Callable[..., tf.Tensor] | None:
    """The activation of a layer if it is not one of Keras', which their names tell."""
    activation = getattr(layer, "activation", None)
    name = getattr(activation, "__name__", "")
    is_keras = getattr(tf.keras.activations, name, None) is activation
    return None if activation is None or is_keras else activation


def rebuilt(layer: tf.keras.layers.Layer) -> list[Step]:
    """The layer made again from its configuration, its activation as a step of its own.

    Raises `NotImplementedError` where the configuration does not say all that the layer does.
    """
    stock, config = _stock_class(layer), layer.get_config()
    if isinstance(layer, tf.keras.Model):
        return [KerasStep(_rebuilt_model(layer))]
    own = _own_function(layer)
    fused = isinstance(layer, _AFFINE_THEN_ACTIVATION) and not _is_linear(layer.activation)
    if fused or (own and isinstance(layer, _layers.Activation)):
        if isinstance(layer.activation, _layers.Layer):
            raise NotImplementedError  # an activation with weights of its own
        linear = stock.from_config({**config, "activation": "linear"})
        return [KerasStep(linear, affine=True), layer.activation]
    if own or isinstance(layer, _layers.Lambda):
        raise NotImplementedError  # a function that has to be found by its name
    affine = isinstance(layer, (*_AFFINE, *_AFFINE_THEN_ACTIVATION))
    return [KerasStep(stock.from_config(config), affine)]


def _rebuilt_model(model: tf.keras.Model) -> tf.keras.Model:
    """A functional model made again. All of its layers are stock: a user's own might share a name
    with one that is, and so become another."""
    for layer in model.layers:
        if isinstance(layer, _layers.Lambda) or type(layer) is not _stock_class(layer):
            raise NotImplementedError
        if _own_function(layer):
            raise NotImplementedError
    try:
        return type(model).from_config(model.get_config())
    except ValueError as error:  # an operation that Keras does not know, say
        raise NotImplementedError from error


def _stock_class(layer: tf.keras.layers.Layer) -> Any:
    """The Keras class whose computation this layer does."""
    own: set[str] = set()
    for stock in inspect.getmro(type(layer)):
        if stock.__module__.split(".")[0] in ("keras", "tf_keras"):
            if any(hasattr(stock, name) for name in own):
                raise NotImplementedError  # a subclass that computes something else
            return stock
        # How a layer is made and called is no part of what it computes: the kit changes it.
        own |= {name for name in vars(stock) if not name.startswith("__")}
    raise NotImplementedError


def architecture(model: tf.keras.Model, input_shape: tuple[int, ...]) -> str:
    """The same text for all models that are computed alike but for their weights."""
    layers = []
    for layer in chain(model):
        own = _own_function(layer)
        config = _nameless(layer.get_config())
        # The network that is kept by this text keeps the function, and so its number.
        layers.append([_stock_class(layer).__name__, config, own and id(own)])
    return json.dumps([list(input_shape), layers], sort_keys=True, default=repr)


def _nameless(config: Mapping[str, Any]) -> dict[str, Any]:
    """A layer's configuration without its name and what matters in training only, and a model's
    with its layers numbered: the names that Keras gives differ from model to model."""
    nameless = {key: value for key, value in config.items() if not _TRAINING_ONLY.fullmatch(key)}
    if isinstance(config.get("layers"), list):
        inside = [entry for entry in config["layers"] if isinstance(entry.get("config"), dict)]
        numbers = {entry["config"].get("name"): i for i, entry in enumerate(inside)}
        nameless["layers"] = [
            {
                **{key: value for key, value in entry.items() if key != "name"},
                "config": _nameless(entry["config"]),
                "inbound_nodes": _numbered(entry.get("inbound_nodes"), numbers),
            }
            for entry in inside
        ]
        for ends in ("input_layers", "output_layers"):
            nameless[ends] = _numbered(config.get(ends), numbers)
    return nameless


def _numbered(value: Any, numbers: Mapping[str, int]) -> Any:
    """Tensors are told by their layers, as [name, node, output, ...]: here with the number."""
    if isinstance(value, dict):
        return {key: _numbered(item, numbers) for key, item in value.items()}
    if not isinstance(value, (list, tuple)):
        return value
    if len(value) > 2 and isinstance(value[0], str) and value[0] in numbers:
        return [numbers[value[0]], *_numbered(value[1:], numbers)]
    return [_numbered(item, numbers) for item in value]
