"""What a response curve costs, as ratios measured in one run.

    python benchmarks/curves.py [--batches 8]

The unit is the bare forward pass: the same number of examples as the curve sees - pairs times
magnitudes - through the same network, in one compiled loop, without any perturbation. There are as
many images to a batch as when the papers' 180 batches are drawn from 4,096, so that an example
occurs as often. Processor seconds of one thread, which depend little on what else the machine does:
best of three, taken in turns.
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
from pgdl_measures.data import training_data
from pgdl_measures.network.compiled import Network, network
from pgdl_measures.response_curves.curves import Curve, mixup_curve
from pgdl_measures.response_curves.measures import MAGNITUDES

SHAPE, CLASSES = (32, 32, 3), 10
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
        spare = tf.shape(inputs)[0] - net.forward_batch
        for start in tf.range(0, count, net.forward_batch):
            tf.autograph.experimental.set_loop_options(parallel_iterations=1)
            size = tf.minimum(net.forward_batch, count - start)
            at = start % spare
            total += tf.reduce_sum(tf.argmax(net.run(inputs[at : at + size]), axis=-1))
        return total

    return lambda inputs, count: bare(inputs, tf.constant(count)).numpy()


def eager_algorithm_1(model: tf.keras.Model, dataset: tf.data.Dataset, batches: int) -> None:
    """The paper's loops as they are printed: shuffle the dataset for each magnitude, then batch by
    batch in eager mode sort by label, pair, drop, mix, predict."""
    for i, alpha in enumerate(MAGNITUDES["intra"]):
        shuffled = dataset.shuffle(4096, seed=i).repeat().batch(128).take(batches)
        for inputs, labels in shuffled:
            order = tf.argsort(labels, stable=True)
            x, y = tf.gather(inputs, order), tf.gather(labels, order)
            same = y[::2] == y[1::2]
            x1, x2, y1 = (tf.boolean_mask(part, same) for part in (x[::2], x[1::2], y[::2]))
            outputs = model((1 - alpha) * x1 + alpha * x2, training=False)
            hits = tf.argmax(outputs, axis=-1, output_type=tf.int32) == y1
            float(tf.reduce_mean(tf.cast(hits, tf.float32)))


def best(*actions: Callable[[], object], repeats: int = 3) -> list[float]:
    """The least seconds of each action, taken in turns so that all see the same machine."""
    times = np.full((repeats, len(actions)), np.inf)
    for repeat in range(repeats):
        for i, action in enumerate(actions):
            start = time.process_time()
            action()
            times[repeat, i] = time.process_time() - start
    return times.min(axis=0).tolist()


def compare(name: str, dataset: tf.data.Dataset, batches: int, reading: float) -> None:
    """Prints the ratios of one network."""
    data, model = training_data(dataset), build(name)
    net = network(model, SHAPE)
    bare = forward(net)

    def curve(layer: int, hoist: bool) -> Curve:
        settings = {"pairing": "intra", "layer": layer, "batches": batches, "hoist": hoist}
        return mixup_curve(net, data, MAGNITUDES["intra"], **settings)

    start = time.process_time()
    pairs = int(curve(0, True).pairs[:, 0].sum())
    first = time.process_time() - start
    count = pairs * len(MAGNITUDES["intra"])
    for layer, hoist in ((0, False), (1, True), (1, False)):
        curve(layer, hoist)  # traced before it is timed
    bare(data.inputs, count)
    four = ("gi_intra_l0", "pal_intra_l0", "mean_accuracy_intra_l0", "mixup")
    unit, h0, d0, h1, d1, together, alone, eager = best(
        lambda: bare(data.inputs, count),
        lambda: curve(0, True),
        lambda: curve(0, False),
        lambda: curve(1, True),
        lambda: curve(1, False),
        lambda: complexities(four, batches=batches)(model, dataset),
        lambda: complexities(four[:1], batches=batches)(model, dataset),
        lambda: eager_algorithm_1(model, dataset, batches),
    )
    print(f"\n{name}: {count} forward passes, {unit:.2f} s bare")
    print(f"  curve / forward passes, l = 0     {h0 / unit:.2f}   (not hoisted {d0 / unit:.2f})")
    print(f"  curve / forward passes, l = 1     {h1 / unit:.2f}   (not hoisted {d1 / unit:.2f})")
    print(f"  eager Algorithm 1 / curve, l = 0  {eager / h0:.1f}")
    print(f"  four measures / one               {together / alone:.2f}")
    print(f"  tracing, once per architecture    {first - h0:.2f} s")
    print(f"  reading all data / curve          {reading / h0:.2f}   (once per task)")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--batches", type=int, default=8)
    batches = parser.parse_args().batches
    tf.config.threading.set_intra_op_parallelism_threads(1)
    tf.config.threading.set_inter_op_parallelism_threads(1)
    rng = np.random.default_rng(0)
    examples = 4096 * batches // 180
    labels = rng.integers(0, CLASSES, examples).astype(np.int32)
    inputs = rng.normal(size=(examples, *SHAPE)).astype(np.float32)
    serialized = tf.data.Dataset.from_tensor_slices(
        ([tf.io.serialize_tensor(x).numpy() for x in inputs], labels)
    )
    dataset = serialized.map(lambda x, y: (tf.io.parse_tensor(x, tf.float32), y))
    (reading,) = best(lambda: training_data(dataset.take(examples)))  # a new object every time
    print(f"curves of 11 magnitudes, {batches} batches of 128, {examples} images of 32x32x3")
    for name in NETS:
        compare(name, dataset, batches, reading)


if __name__ == "__main__":
    main()
