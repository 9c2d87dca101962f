"""A positive control: overfitting by construction, where the test's assumption holds.

The images are stationary random textures on a canvas with spare pixels: noise plus the same noise
one pixel further down (class 0) or right (class 1). A shifted window is exactly as likely as the
central one. A small dense network memorizes 500 of them: no training error, 33 % test error.
The test must reject for the training set and not for the test set.
"""

from __future__ import annotations

import numpy as np
import tensorflow as tf

from ingestion.datasets.arrays import Split

WINDOW, EXAMPLES = 12, 500
_STRENGTH = 0.7  # of the second noise
_EPOCHS = 30


def textures(count: int, eps: int, rng: np.random.Generator) -> Split:
    """Textures of two classes on canvases that leave 3 eps pixels around the window."""
    side = WINDOW + 6 * eps
    labels = rng.integers(2, size=count).astype(np.int32)
    noise = rng.normal(size=(count, side + 1, side + 1))
    down, right = noise[:, :-1, 1:], noise[:, 1:, :-1]
    images = noise[:, 1:, 1:] + _STRENGTH * np.where(labels[:, None, None], right, down)
    return Split(images[..., None].astype(np.float32), labels)


def control(eps: int, seed: int = 0) -> tuple[tf.keras.Model, dict[str, Split]]:
    """The network, and its test and training set."""
    rng = np.random.default_rng(seed)
    train, test = (textures(EXAMPLES, eps, rng) for _ in range(2))
    centre = slice(3 * eps, 3 * eps + WINDOW)
    initial = [tf.keras.initializers.GlorotUniform(seed + i) for i in range(2)]
    model = tf.keras.Sequential(
        [
            tf.keras.layers.Flatten(),
            tf.keras.layers.Dense(64, "relu", kernel_initializer=initial[0]),
            tf.keras.layers.Dense(2, kernel_initializer=initial[1]),
        ]
    )
    model.build((None, WINDOW, WINDOW, 1))
    model.compile(
        tf.keras.optimizers.Adam(0.003),
        tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    )
    windows = train.images[:, centre, centre]
    model.fit(windows, train.labels, batch_size=50, epochs=_EPOCHS, shuffle=False, verbose=0)
    return model, {"test": test, "train": train}
