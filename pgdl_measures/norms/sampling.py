"""The examples that a measure looks at: all of them, or a uniform sample."""

from __future__ import annotations

import numpy as np
import tensorflow as tf

from pgdl_measures.data import TrainingData


def sample(data: TrainingData, examples: int, seed: int) -> tuple[tf.Tensor, tf.Tensor]:
    """Inputs and labels of that many examples, drawn uniformly; of all, if there are no more."""
    if examples >= len(data):
        return data.inputs, data.labels
    chosen = np.random.default_rng(seed).choice(len(data), examples, replace=False)
    return tf.gather(data.inputs, chosen), tf.gather(data.labels, chosen)
