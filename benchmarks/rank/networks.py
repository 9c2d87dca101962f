"""Networks to rank: five architectures, two of them also augmented, saved early and late.

    python benchmarks/rank/networks.py cifar10.npz -o networks

writes `data.npz` (4,000 training images and the whole test set) and 16 `.keras` files. About 5
minutes on one core.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import tensorflow as tf

L = tf.keras.layers
EPOCHS = (8, 30)  # after which a network is saved


def _conv(x: tf.Tensor, filters: int, size: int = 3, strides: int = 1) -> tf.Tensor:
    x = L.Conv2D(filters, size, strides, padding="same", use_bias=False)(x)
    return L.ReLU()(L.BatchNormalization(momentum=0.9)(x))


def mlp(x: tf.Tensor) -> tf.Tensor:
    """Two hidden layers."""
    x = L.Flatten()(x)
    for _ in range(2):
        x = L.Dense(256, activation="relu")(x)
    return x


def convnet(x: tf.Tensor) -> tf.Tensor:
    """Three convolutions with pooling and a hidden layer, no normalization."""
    for filters in (16, 32, 64):
        x = L.MaxPooling2D()(L.Conv2D(filters, 3, padding="same", activation="relu")(x))
    return L.Dense(128, activation="relu")(L.Flatten()(x))


def convnet_dropout(x: tf.Tensor) -> tf.Tensor:
    """The same with dropout before the classifier."""
    return L.Dropout(0.5)(convnet(x))


def vgg(x: tf.Tensor) -> tf.Tensor:
    """Pairs of convolutions with batch norm."""
    for filters in (16, 32, 64):
        x = L.MaxPooling2D()(_conv(_conv(x, filters), filters))
    return L.Flatten()(x)


def nin(x: tf.Tensor) -> tf.Tensor:
    """Network in network: 1x1 convolutions, no hidden dense layer."""
    for filters in (32, 64, 96):
        x = _conv(_conv(x, filters, strides=2), filters, size=1)
    return L.GlobalAveragePooling2D()(x)


def resnet(x: tf.Tensor) -> tf.Tensor:
    """Four residual blocks."""
    x = _conv(x, 16)
    for filters, strides in ((16, 1), (32, 2), (64, 2), (64, 1)):
        straight = L.Conv2D(filters, 3, padding="same", use_bias=False)(
            _conv(x, filters, 3, strides)
        )
        straight = L.BatchNormalization(momentum=0.9)(straight)
        if strides > 1 or x.shape[-1] != filters:
            x = L.Conv2D(filters, 1, strides, use_bias=False)(x)
        x = L.ReLU()(L.Add()([straight, x]))
    return L.GlobalAveragePooling2D()(x)


NETWORKS: dict[str, tuple[Callable[[tf.Tensor], tf.Tensor], bool]] = {  # and whether to augment
    "mlp": (mlp, False),
    "convnet": (convnet, False),
    "convnet_dropout": (convnet_dropout, False),
    "convnet_flips": (convnet, True),
    "vgg": (vgg, False),
    "vgg_flips": (vgg, True),
    "nin": (nin, False),
    "resnet": (resnet, False),
}


def build(
    body: Callable[[tf.Tensor], tf.Tensor], shape: tuple[int, ...], classes: int
) -> tf.keras.Model:
    """A compiled classifier of images of this shape."""
    inputs = tf.keras.Input(shape)
    model = tf.keras.Model(inputs, L.Dense(classes)(body(inputs)))
    loss = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(tf.keras.optimizers.Adam(0.001), loss, metrics=["accuracy"])
    return model


def examples(images: np.ndarray, labels: np.ndarray, augment: bool) -> tf.data.Dataset:
    """Shuffled batches, mirrored and shifted at random where `augment` says so."""
    data = tf.data.Dataset.from_tensor_slices((images, labels)).shuffle(len(labels), seed=0)
    if augment:

        def shift(image: tf.Tensor, label: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
            image = tf.image.random_flip_left_right(image, seed=1)
            padded = tf.pad(image, [[3, 3], [3, 3], [0, 0]], "REFLECT")
            return tf.image.random_crop(padded, images.shape[1:], seed=2), label

        data = data.map(shift)
    return data.batch(64)


def main() -> None:
    """Trains and saves all of them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path, help="an npz of images: bytes")
    parser.add_argument("--examples", type=int, default=4000, help="training images to use")
    parser.add_argument("--epochs", type=int, nargs="+", default=EPOCHS, help="save after these")
    parser.add_argument("--seed", type=int, default=0, help="of the weights")
    parser.add_argument("--networks", nargs="+", default=list(NETWORKS), help="only these")
    parser.add_argument("-o", "--output", type=Path, required=True)
    args = parser.parse_args()
    args.output.mkdir(parents=True, exist_ok=True)
    with np.load(args.data) as file:
        arrays = {name: file[name] for name in ("x_train", "y_train", "x_test", "y_test")}
    for name in ("x_train", "y_train"):
        arrays[name] = arrays[name][: args.examples]
    for name in ("x_train", "x_test"):
        if arrays[name].ndim == 3:
            arrays[name] = arrays[name][..., None]
    np.savez(args.output / "data.npz", **arrays)
    images = arrays["x_train"].astype("float32") / 255
    classes = int(arrays["y_train"].max()) + 1
    for name in args.networks:
        body, augment = NETWORKS[name]
        started = time.process_time()
        tf.keras.utils.set_random_seed(args.seed)
        model = build(body, images.shape[1:], classes)
        data = examples(images, arrays["y_train"], augment)
        for first, last in zip((0, *args.epochs), args.epochs):
            path = args.output / f"{name}_{last:02d}.keras"
            model.fit(data, initial_epoch=first, epochs=last, verbose=0)
            model.save(path)
        print(f"{name}: {time.process_time() - started:.0f} CPU-seconds", flush=True)


if __name__ == "__main__":
    main()
