"""The examples that a measure uses: a uniform sample, or all of them, in random order.

Datasets come unshuffled, often sorted by class. Any part of the sample is again a uniform sample.
"""

from __future__ import annotations

import numpy as np
import tensorflow as tf

from pgdl_measures.data import TrainingData
from pgdl_measures.errors import MeasureError


def sample(data: TrainingData, examples: int, seed: int) -> tuple[tf.Tensor, tf.Tensor]:
    """Inputs and labels of that many examples, or of all if there are fewer, in random order."""
    if examples < 1:
        raise MeasureError(f"{examples} examples were asked for; expected at least one")
    count = min(examples, len(data))
    chosen = np.random.default_rng(seed).choice(len(data), count, replace=False)
    return tf.gather(data.inputs, chosen), tf.gather(data.labels, chosen)
