"""What of a layer has no effect at inference, by its name. Needs no TensorFlow."""

from __future__ import annotations

import re

# Layers that change nothing.
IDENTITIES = (
    *("ActivityRegularization", "AlphaDropout", "Dropout", "GaussianDropout", "GaussianNoise"),
    *("SpatialDropout1D", "SpatialDropout2D", "SpatialDropout3D"),
)
# Arguments of any layer.
TRAINING_ONLY = re.compile(
    "name|trainable|seed|rate|stddev|noise_shape|momentum|.*_(initializer|regularizer|constraint)"
)
