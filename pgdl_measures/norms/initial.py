"""The weights before training, which a model may carry as `initial_weights`."""

from __future__ import annotations

import numpy as np
import tensorflow as tf

from pgdl_measures.errors import MeasureError


def initial_weights(model: tf.keras.Model) -> list[np.ndarray]:
    """The initial weights, in the order of `model.weights`."""
    found = getattr(model, "initial_weights", None)
    if found is None:
        raise MeasureError(
            "a distance from initialization needs the initial weights, which this model does not "
            "have; set model.initial_weights, or put weights_init.hdf5 beside weights.hdf5"
        )
    shapes = [tuple(array.shape) for array in found]
    expected = [tuple(weight.shape) for weight in model.weights]
    if shapes != expected:
        raise MeasureError(f"the initial weights have shapes {shapes}; the model's are {expected}")
    return list(found)
