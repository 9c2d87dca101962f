"""What a model must be for measures, said before it is traced."""

from __future__ import annotations

from typing import Any

import numpy as np
import tensorflow as tf

from pgdl_measures.errors import MeasureError, NotFiniteError
from pgdl_measures.network.graph import keeps_call


def check_weights(model: tf.keras.Model) -> None:
    """NaN must not get into a network: a relu may make numbers of it."""
    for weight, array in zip(model.weights, model.get_weights()):
        if not np.isfinite(array).all():
            raise NotFiniteError(f"the model's weights {weight.name} are NaN or infinite")


def check_input_shape(model: tf.keras.Model, input_shape: tuple[int, ...]) -> None:
    """Raises where a model takes inputs of another shape."""
    try:
        expected = tuple(model.input_shape)[1:]
    except (AttributeError, ValueError, TypeError):  # not built, or with several inputs
        return
    if isinstance(model.input_shape, (list, dict)):
        return  # several inputs, which the graph's reader refuses
    if len(expected) != len(input_shape) or any(
        size is not None and size != other for size, other in zip(expected, input_shape)
    ):
        raise MeasureError(
            f"the dataset's inputs have shape {list(input_shape)}; the model takes {list(expected)}"
        )


def check_ends(model: Any) -> None:
    """Raises where a functional model has several inputs or outputs, or a layer is stateful."""
    for layer in model._flatten_layers():
        if isinstance(layer, tf.keras.layers.RNN) and layer.stateful:
            raise MeasureError(
                f"the layer {layer.name} is stateful, so that the outputs for an example depend on "
                "those before it; make the model again with stateful=False"
            )
    if isinstance(model, tf.keras.Sequential) or not keeps_call(model, "Functional"):
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
