"""Cost of contrastive examples: against the network's forward passes, and against Pillow.

RandAugment with N = 2, M = 20 on 32 x 32 x 3 images. The forward passes are those of a VGG-like
network (six convolutions of 64 to 256 filters). Pillow applies the same operations to the same
bytes, image by image in a Python loop; ours begins and ends with the floats of a data set.
Ratios are of best times, taken in turns in one run.

    python benchmarks/contre.py
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from pathlib import Path

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import numpy as np
import tensorflow as tf
from PIL import Image

from pgdl_measures.accuracy import accuracy
from pgdl_measures.contre.examples import Sampling, contrastive_batches
from pgdl_measures.data import TrainingData
from pgdl_measures.network.compiled import network
from pgdl_measures.perturbations.operations import OPERATIONS
from pgdl_measures.perturbations.randaugment import draw
from pgdl_measures.perturbations.value_range import to_levels, value_range

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "contre"))
from pillow_operations import apply

EXAMPLES = 1024
ROUNDS = 7


def vgg() -> tf.keras.Model:
    """Two convolutions at each of three sizes, then two dense layers."""
    layers = []
    for filters in (64, 128, 256):
        for _ in range(2):
            layers.append(tf.keras.layers.Conv2D(filters, 3, padding="same", activation="relu"))
        layers.append(tf.keras.layers.MaxPooling2D())
    layers += [tf.keras.layers.Flatten(), tf.keras.layers.Dense(256, activation="relu")]
    model = tf.keras.Sequential([*layers, tf.keras.layers.Dense(10)])
    model.build((None, 32, 32, 3))
    return model


def best_seconds(*calls: Callable[[], object]) -> list[float]:
    """The best time of each, taken in turns so that all meet the machine in the same state."""

    def timed(call: Callable[[], object]) -> float:
        start = time.perf_counter()
        call()
        return time.perf_counter() - start

    for call in calls:
        call()  # traces
    return [min(times) for times in zip(*([timed(call) for call in calls] for _ in range(ROUNDS)))]


def main() -> None:
    """Prints the two figures for contrastive examples."""
    rng = np.random.default_rng(0)
    smooth = rng.normal(size=(EXAMPLES, 8, 8, 3)).repeat(4, axis=1).repeat(4, axis=2)
    inputs = tf.constant(smooth + 0.2 * rng.normal(size=(EXAMPLES, 32, 32, 3)), tf.float32)
    data = TrainingData(inputs, tf.zeros([EXAMPLES], tf.int32), EXAMPLES, max_bytes=0)  # keeps none
    values, sampling = value_range(inputs), Sampling(2, 20.0, None, None, 0)
    chain = network(vgg(), data.shape)

    names = list(OPERATIONS)
    draws = [part.numpy() for part in draw(EXAMPLES, count=2, magnitude=20.0, seed=0)]
    images = to_levels(inputs, values).numpy()

    def pillow() -> None:
        for image, operations, amounts, places in zip(images, *draws):
            changed = Image.fromarray(image)
            for operation, amount, place in zip(operations, amounts.tolist(), places):
                changed = apply(changed, names[operation], amount, place)
            np.asarray(changed)

    ours, forward, loop = best_seconds(
        lambda: list(contrastive_batches(data, values, sampling)),
        lambda: accuracy(chain, data),
        pillow,
    )
    per_image = 1e6 / EXAMPLES
    print(f"contrastive examples (N = 2, M = 20) of {EXAMPLES} images of 32 x 32 x 3")
    print(f"  in the graph        {per_image * ours:7.1f} us per image")
    print(f"  Pillow in a loop    {per_image * loop:7.1f} us  {loop / ours:.1f}x as long")
    share = 100 * ours / forward
    print(f"  VGG forward passes  {per_image * forward:7.1f} us  ours is {share:.1f} % of them")


if __name__ == "__main__":
    main()
