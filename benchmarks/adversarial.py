"""What the lazy evaluation of translations saves over evaluating all of them within 3 eps.

    python benchmarks/adversarial.py [--examples 400]

A network is first trained on random windows of textures with spare pixels. Both ways give the same
T_i, which is checked. Times are of one run each, after both graphs have been traced. The exit code
is 1 if a quarter of all forward passes is not enough at eps = 2.
"""

from __future__ import annotations

import argparse
import os
import sys
import time

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import numpy as np
import tensorflow as tf

from pgdl_measures.adversarial.generators import GENERATORS
from pgdl_measures.adversarial.independence import Outcome
from pgdl_measures.adversarial.translations import translations
from pgdl_measures.adversarial.windows import Windows
from pgdl_measures.network.compiled import Network, network

WINDOW, CANVAS, CLASSES = (28, 28, 1), 28 + 6 * 5, 10
REQUIRED = 4  # times fewer forward passes at eps = 2
L = tf.keras.layers


def textures(count: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Images of a smooth pattern per class in noise."""
    patterns = np.random.default_rng(0).normal(size=(CLASSES, 8, 8, 1))
    patterns = tf.image.resize(patterns, [CANVAS, CANVAS], method="bicubic").numpy()
    rng = np.random.default_rng(seed)
    labels = rng.integers(CLASSES, size=count).astype(np.int32)
    noise = 0.7 * rng.normal(size=(count, CANVAS, CANVAS, 1))
    return (patterns[labels] + noise).astype(np.float32), labels


def trained(seed: int = 1) -> tf.keras.Model:
    """A small network that has seen random windows."""
    tf.keras.utils.set_random_seed(seed)
    model = tf.keras.Sequential(
        [
            *(L.Conv2D(8, 5, strides=2, activation="relu"), L.MaxPooling2D()),
            L.Conv2D(16, 3, activation="relu"),
            *(L.Flatten(), L.Dense(64, activation="relu"), L.Dense(CLASSES)),
        ]
    )
    model.build((None, *WINDOW))
    model.compile("adam", tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    images, labels = textures(4000, seed=seed)
    moves = translations(images.shape[1:], WINDOW, 5)
    rng = np.random.default_rng(seed)
    for _ in range(20):
        shifts = tf.constant(rng.integers(-15, 16, size=(len(labels), 2)), tf.int32)
        windows = moves.apply(tf.constant(images), tf.range(len(labels)), shifts)
        model.fit(windows, labels, batch_size=32, epochs=1, verbose=0)
    return model


def run(net: Network, data: tuple, eps: int, everything: bool) -> tuple[Outcome, int, float]:
    """The outcome of the strongest generator, forward passes and seconds."""
    images, labels = data
    moves = translations(images.shape[1:], WINDOW, eps)
    start = time.perf_counter()
    windows = Windows(net, images, labels, moves)
    if everything:
        span = np.arange(-3 * eps, 3 * eps + 1)
        shifts = np.stack(np.meshgrid(span, span, indexing="ij"), axis=-1).reshape(-1, 2)
        windows.request(np.arange(len(labels)), np.tile(shifts, (len(labels), 1, 1)))
        windows.evaluate()
    outcome = GENERATORS["strongest"].outcome(windows)
    return outcome, windows.evaluated, time.perf_counter() - start


def main() -> int:
    """Prints passes and seconds at eps = 2 and 5; the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--examples", type=int, default=400)
    count = parser.parse_args().examples
    net = network(trained(), WINDOW)
    saved = {}
    for eps, examples in ((2, count), (5, count // 4)):
        images, labels = textures(examples, seed=99)
        data = tf.constant(images), tf.constant(labels)
        run(net, (data[0][:1], data[1][:1]), eps, True)  # traces
        lazy, passes, seconds = run(net, data, eps, False)
        full, all_passes, all_seconds = run(net, data, eps, True)
        np.testing.assert_array_equal(lazy.differences, full.differences)
        errors = f"error {lazy.loss.mean():.3f}, adversarial {lazy.adversarial_loss.mean():.3f}"
        print(f"eps = {eps}: {examples} images, {errors}, the same T_i")
        print(f"  all within 3 eps  {all_passes:7d} forward passes  {all_seconds:6.2f} s")
        saved[eps] = all_passes / passes
        ratios = f"{saved[eps]:.1f}x fewer, {all_seconds / seconds:.1f}x faster"
        print(f"  as needed         {passes:7d} forward passes  {seconds:6.2f} s  {ratios}")
    if saved[2] < REQUIRED:
        print(
            f"eps = 2: {saved[2]:.1f}x fewer forward passes, expected {REQUIRED}x", file=sys.stderr
        )
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
