"""What a response curve costs, as ratios measured in one run (design, section 7).

    python benchmarks/curves.py [--batches 8]

The unit is the bare forward pass: the same number of examples as the curve sees - pairs times
magnitudes - through the same network, in one compiled loop, without any perturbation. Best of three,
taken in turns.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import numpy as np
import tensorflow as tf

from pgdl_measures import complexities
from pgdl_measures.curves import mixup_curve
from pgdl_measures.data import training_data
from pgdl_measures.network import Network, network
from pgdl_measures.perturbations.mixup import draw_batches, draw_pairs
from pgdl_measures.response import MAGNITUDES

SHAPE, CLASSES, EXAMPLES = (32, 32, 3), 10, 4096
L = tf.keras.layers


def conv(filters: int, size: int = 3) -> tf.keras.layers.Layer:
    return L.Conv2D(filters, size, padding="same", activation="relu")


NETS: dict[str, Callable[[], list]] = {
    "VGG-like": lambda: [
        *(conv(32), conv(32), L.MaxPooling2D(), conv(64), conv(64), L.MaxPooling2D()),
        *(conv(128), L.MaxPooling2D(), L.Flatten(), L.Dense(128, activation="relu")),
        L.Dense(CLASSES),
    ],
    "NiN-like": lambda: [
        *(conv(48, 5), conv(48, 1), conv(48, 1), L.MaxPooling2D()),
        *(conv(96), conv(96, 1), L.MaxPooling2D(), conv(96), conv(CLASSES, 1)),
        L.GlobalAveragePooling2D(),
    ],
}


def build(name: str) -> tf.keras.Model:
    model = tf.keras.Sequential(NETS[name]())
    model.build((None, *SHAPE))
    return model


def forward(net: Network) -> Callable[[tf.Tensor, int], None]:
    @tf.function
    def bare(inputs: tf.Tensor, count: tf.Tensor) -> tf.Tensor:
        total = tf.constant(0, tf.int64)
        for start in tf.range(0, count, net.forward_batch):
            tf.autograph.experimental.set_loop_options(parallel_iterations=1)
            size = tf.minimum(net.forward_batch, count - start)
            at = start % (EXAMPLES - net.forward_batch)
            total += tf.reduce_sum(tf.argmax(net.run(inputs[at : at + size]), axis=-1))
        return total

    return lambda inputs, count: bare(inputs, tf.constant(count)).numpy()


def eager_algorithm_1(model: tf.keras.Model, inputs, labels, layer: int, batches: int) -> int:
    """The paper's loops, batch by batch in eager mode: shuffle, sort, pair, mix, predict."""
    seen = 0
    for i, alpha in enumerate(MAGNITUDES["intra"]):
        order = draw_batches(
            tf.constant(EXAMPLES), tf.constant(batches), tf.constant(128), tf.constant([i, 0])
        )
        for k in range(batches):
            pairs = draw_pairs(labels, order[k : k + 1], "intra")
            x1, x2 = (tf.gather(inputs, index) for index in (pairs.first, pairs.second))
            for step in model.layers[:layer]:
                x1, x2 = step(x1), step(x2)
            x = (1 - alpha) * x1 + alpha * x2
            for step in model.layers[layer:]:
                x = step(x)
            hits = tf.argmax(x, axis=-1, output_type=tf.int32) == tf.gather(labels, pairs.first)
            seen += len(hits)
    return seen


def best(*actions: Callable[[], object], repeats: int = 3) -> list[float]:
    """The best time of each action, taken in turns so that all see the same machine."""
    times = np.full((repeats, len(actions)), np.inf)
    for repeat in range(repeats):
        for i, action in enumerate(actions):
            start = time.perf_counter()
            action()
            times[repeat, i] = time.perf_counter() - start
    return times.min(axis=0).tolist()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--batches", type=int, default=8)
    batches = parser.parse_args().batches
    rng = np.random.default_rng(0)
    labels = rng.integers(0, CLASSES, EXAMPLES).astype(np.int32)
    inputs = rng.normal(size=(EXAMPLES, *SHAPE)).astype(np.float32)
    dataset = tf.data.Dataset.from_tensor_slices((inputs, labels))
    (reading,) = best(lambda: training_data(dataset.take(EXAMPLES)))  # a new object every time
    data = training_data(dataset)

    print(f"curves of 11 magnitudes, {batches} batches of 128, {EXAMPLES} images of 32x32x3")
    for name in NETS:
        model = build(name)
        net = network(model, SHAPE)
        bare = forward(net)

        def curve(layer: int, hoist: bool, net: Network = net):
            return mixup_curve(
                net,
                data,
                MAGNITUDES["intra"],
                pairing="intra",
                layer=layer,
                batches=batches,
                hoist=hoist,
            )

        def measures(names: list[str], model: tf.keras.Model = model):
            return complexities(names, batches=batches)(model, dataset)

        start = time.perf_counter()
        pairs = int(curve(0, True).pairs[:, 0].sum())
        first = time.perf_counter() - start
        count = pairs * len(MAGNITUDES["intra"])
        for layer, hoist in ((0, False), (1, True), (1, False)):
            curve(layer, hoist)  # traced before it is timed
        bare(data.inputs, count)

        one, four = (
            ["gi_intra_l0"],
            ["gi_intra_l0", "pal_intra_l0", "mean_accuracy_intra_l0", "mixup"],
        )
        unit, h0, d0, h1, d1, together, alone = best(
            lambda bare=bare, count=count: bare(data.inputs, count),
            lambda: curve(0, True),
            lambda: curve(0, False),
            lambda: curve(1, True),
            lambda: curve(1, False),
            lambda: measures(four),
            lambda: measures(one),
        )
        (eager,) = best(
            lambda model=model: eager_algorithm_1(model, data.inputs, data.labels, 0, batches),
            repeats=1,
        )
        print(f"\n{name}: {count} forward passes, {unit:.2f} s bare")
        print(
            f"  curve / forward passes, l = 0        {h0 / unit:.2f}   (not hoisted {d0 / unit:.2f})"
        )
        print(
            f"  curve / forward passes, l = 1        {h1 / unit:.2f}   (not hoisted {d1 / unit:.2f})"
        )
        print(f"  eager Algorithm 1 / curve, l = 0     {eager / h0:.1f}")
        print(f"  four measures / one                  {together / alone:.2f}")
        print(f"  tracing, once per architecture       {first - h0:.2f} s")
        print(f"  reading all data / curve             {reading / h0:.2f}   (once per task)")


if __name__ == "__main__":
    main()
