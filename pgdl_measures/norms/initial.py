"""The weights that training started from, which a model may carry as `initial_weights`."""

from __future__ import annotations

import numpy as np
import tensorflow as tf

from pgdl_measures.errors import MeasureError


def initial_weights(model: tf.keras.Model) -> list[np.ndarray]:
    """The initial weights, in the order of `model.weights`."""
    found = getattr(model, "initial_weights", None)
    if found is None:
        raise MeasureError(
            "a distance from initialization needs the initial weights (model.initial_weights; "
            "weights_init.hdf5 in a corpus), which this model has not"
        )
    shapes = [tuple(array.shape) for array in found]
    expected = [tuple(weight.shape) for weight in model.weights]
    if shapes != expected:
        raise MeasureError(f"the initial weights have shapes {shapes}; the model's are {expected}")
    return list(found)
