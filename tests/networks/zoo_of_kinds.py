"""One small network of each kind of join, and well-known image classifiers, all untrained."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import tensorflow as tf

layers = tf.keras.layers
SHAPE, CLASSES = (32, 32, 3), 5


def conv(x, filters: int, size: int = 3, **kwargs):
    x = layers.Conv2D(filters, size, padding="same", use_bias=False, **kwargs)(x)
    return layers.ReLU()(layers.BatchNormalization()(x))


def _head(inputs, x) -> tf.keras.Model:
    return tf.keras.Model(inputs, layers.Dense(CLASSES)(layers.GlobalAveragePooling2D()(x)))


def chain(shape=SHAPE) -> tf.keras.Model:
    model = tf.keras.Sequential(
        [
            layers.Conv2D(8, 3, activation="relu", padding="same"),
            layers.MaxPooling2D(2),
            layers.Conv2D(8, 3, activation="relu", padding="same"),
            layers.Flatten(),
            layers.Dense(CLASSES),
        ]
    )
    model.build((None, *shape))
    return model


def functional(shape=SHAPE) -> tf.keras.Model:
    inputs = tf.keras.Input(shape)
    return _head(inputs, conv(conv(layers.Rescaling(0.5)(inputs), 8), 8, strides=2))


def residual(shape=SHAPE) -> tf.keras.Model:
    inputs = tf.keras.Input(shape)
    x = conv(inputs, 8)
    for _ in range(2):
        y = layers.BatchNormalization()(layers.Conv2D(8, 3, padding="same")(conv(x, 8)))
        x = layers.ReLU()(layers.Add()([x, y]))
    return _head(inputs, x)


def concatenated(shape=SHAPE) -> tf.keras.Model:
    inputs = tf.keras.Input(shape)
    x = conv(inputs, 6)
    for _ in range(2):
        x = layers.Concatenate()([x, conv(x, 4)])
    return _head(inputs, x)


def gated(shape=SHAPE) -> tf.keras.Model:
    """Squeeze and excitation."""
    inputs = tf.keras.Input(shape)
    x = conv(inputs, 8)
    gate = layers.GlobalAveragePooling2D(keepdims=True)(x)
    gate = layers.Conv2D(8, 1, activation="sigmoid")(layers.Conv2D(2, 1, activation="silu")(gate))
    return _head(inputs, conv(layers.Multiply()([x, gate]), 8))


def depthwise(shape=SHAPE) -> tf.keras.Model:
    """Depthwise, separable, grouped and transposed convolutions."""
    inputs = tf.keras.Input(shape)
    x = layers.DepthwiseConv2D(3, depth_multiplier=2, padding="same")(conv(inputs, 4))
    x = layers.ReLU()(layers.BatchNormalization()(x))
    x = layers.SeparableConv2D(8, 3, strides=2, padding="same", activation="relu")(x)
    x = layers.Conv2D(8, 3, groups=2, activation="relu")(x)
    x = layers.Conv2DTranspose(6, 3, strides=2, padding="same")(x)
    return _head(inputs, layers.ReLU()(layers.BatchNormalization()(x)))


class Positions(layers.Layer):
    """Adds learned positions, as Keras' own examples of transformers do."""

    def build(self, input_shape):
        self.table = self.add_weight(
            shape=tuple(input_shape[1:]), initializer="random_normal", name="positions"
        )

    def call(self, x):
        return x + self.table


def transformer(shape=SHAPE) -> tf.keras.Model:
    """A small vision transformer."""
    inputs = tf.keras.Input(shape)
    side = shape[0] // 4
    x = layers.Reshape((16, 16))(layers.Conv2D(16, side, strides=side)(inputs))
    x = Positions()(x)
    for _ in range(2):
        y = layers.LayerNormalization()(x)
        x = layers.Add()([x, layers.MultiHeadAttention(2, 8)(y, y)])
        y = layers.Dense(32, activation="gelu")(layers.LayerNormalization()(x))
        x = layers.Add()([x, layers.Dense(16)(y)])
    x = layers.GlobalAveragePooling1D()(layers.LayerNormalization()(x))
    return tf.keras.Model(inputs, layers.Dense(CLASSES, activation="softmax")(x))


def nested(shape=SHAPE) -> tf.keras.Model:
    """A backbone as one layer, as in transfer learning."""
    inner = tf.keras.Input(shape)
    backbone = tf.keras.Model(inner, conv(conv(inner, 8), 8))
    head = tf.keras.Sequential([layers.GlobalAveragePooling2D(), layers.Dense(CLASSES)])
    inputs = tf.keras.Input(shape)
    return tf.keras.Model(inputs, head(backbone(inputs)))


class Shortcut(layers.Layer):
    """A user's residual block."""

    def __init__(self):
        super().__init__()
        self.conv = layers.Conv2D(8, 3, padding="same")
        self.norm = layers.BatchNormalization()

    def call(self, x, training=False):
        return x + self.norm(self.conv(x), training=training)


class Subclassed(tf.keras.Model):
    """A user's model."""

    def __init__(self):
        super().__init__()
        self.stem = layers.Conv2D(8, 3, padding="same", activation="relu")
        self.block = Shortcut()
        self.pool = layers.GlobalAveragePooling2D()
        self.classify = layers.Dense(CLASSES)

    def call(self, x, training=False):
        return self.classify(self.pool(self.block(self.stem(x), training=training)))


def subclassed(shape=SHAPE) -> tf.keras.Model:
    model = Subclassed()
    model(np.zeros((1, *shape), np.float32))
    return model


JOINS: dict[str, Callable[..., tf.keras.Model]] = {
    "Add": residual,
    "Concatenate": concatenated,
    "Multiply": gated,
    "depthwise": depthwise,
    "attention": transformer,
    "nested": nested,
    "subclassed": subclassed,
}


def application(name: str) -> Callable[..., tf.keras.Model]:
    """One of Keras' image classifiers with few classes."""
    return lambda: getattr(tf.keras.applications, name)(
        weights=None, input_shape=SHAPE, classes=CLASSES
    )


KINDS: dict[str, Callable[..., tf.keras.Model]] = {
    "small CNN": chain,
    "CNN with batch norm": functional,
    "subclassed": subclassed,
    "ViT": transformer,
    "MobileNetV2": application("MobileNetV2"),
    "EfficientNetB0": application("EfficientNetB0"),
    "ConvNeXtTiny": application("ConvNeXtTiny"),
    "ResNet50": application("ResNet50"),
    "DenseNet121": application("DenseNet121"),
}


def initialized(model: tf.keras.Model, seed: int = 0) -> tf.keras.Model:
    """The model with other weights than those that it started from."""
    rng = np.random.default_rng(seed)
    model.initial_weights = model.get_weights()
    model.set_weights(
        [
            np.abs(w + 0.1 * rng.normal(size=w.shape)) + 0.1
            if w.ndim < 2
            else w + 0.01 * rng.normal(size=w.shape)
            for w in model.get_weights()
        ]
    )
    return model
