"""Small networks of every kind that a user may bring, with weights that are not neutral."""

from __future__ import annotations

import warnings
from collections.abc import Callable

import numpy as np
import tensorflow as tf

layers = tf.keras.layers
SHAPE, CLASSES = (8, 8, 3), 4
IS_KERAS3 = hasattr(tf.keras, "ops")


def filled(model: tf.keras.Model, seed: int = 0) -> tf.keras.Model:
    """The model with random weights: positive where they may be variances."""
    rng = np.random.default_rng(seed)
    values = []
    for array in model.get_weights():
        low = -0.5 if array.ndim > 1 else 0.1
        values.append(rng.uniform(low, 0.5, array.shape).astype(array.dtype))
    model.set_weights(values)
    for layer in model.layers:
        if hasattr(layer, "finalize_state"):
            layer.finalize_state()
    return model


def chain() -> tf.keras.Model:
    return tf.keras.Sequential(
        [
            layers.Input(SHAPE),
            layers.Conv2D(4, 3, activation="relu"),
            layers.BatchNormalization(),
            layers.Flatten(),
            layers.Dense(CLASSES),
        ]
    )


def residual() -> tf.keras.Model:
    """Operators between tensors, as Keras 2 and 3 write them."""
    inputs = tf.keras.Input(SHAPE)
    x = layers.Conv2D(4, 3, padding="same", use_bias=False)(inputs / 127.5 - 1.0)
    start = layers.ReLU()(layers.BatchNormalization()(x))
    y = layers.DepthwiseConv2D(3, padding="same")(start)
    y = layers.SeparableConv2D(4, 3, padding="same", activation="swish")(y)
    x = start + y * 0.5
    gate = layers.Dense(4, activation="sigmoid")(layers.GlobalAveragePooling2D(keepdims=True)(x))
    x = layers.Concatenate()([layers.Multiply()([x, gate]), inputs])
    return tf.keras.Model(inputs, layers.Dense(CLASSES)(layers.GlobalMaxPooling2D()(x)))


def first_layer_with_shape() -> tf.keras.Model:
    """As most tutorials of Keras 2 begin a model."""
    with_shape = {"input_shape": SHAPE}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Keras 3 prefers an Input
        first = layers.Conv2D(4, 3, **with_shape)
    model = [first, layers.Conv2DTranspose(4, 3), layers.ELU(), layers.UpSampling2D()]
    return tf.keras.Sequential([*model, layers.GlobalAveragePooling2D(), layers.Dense(CLASSES)])


def named_with_slashes() -> tf.keras.Model:
    """Keras 2 allows slashes in names, and DenseNet has them there."""
    slash = "_" if IS_KERAS3 else "/"
    inputs = tf.keras.Input(SHAPE)
    x = layers.Conv2D(4, 3, name=f"conv1{slash}conv")(inputs)
    x = layers.BatchNormalization(name=f"conv1{slash}bn")(x)
    x = layers.Add(name=f"conv1{slash}add")([x, layers.Conv2D(4, 1, name=f"conv2{slash}conv")(x)])
    return tf.keras.Model(inputs, layers.Dense(CLASSES)(layers.GlobalAveragePooling2D()(x)))


def nested() -> tf.keras.Model:
    """A frozen base in a model, another model in that, augmentation in front."""
    inner = tf.keras.Sequential([layers.Input((8, 8, 4)), layers.Conv2D(4, 1), layers.PReLU()])
    start = tf.keras.Input((8, 8, 4))
    x = layers.BatchNormalization()(inner(start))
    base = tf.keras.Model(start, layers.Add()([layers.Conv2D(4, 3, padding="same")(x), x]))
    base.trainable = False
    inputs = tf.keras.Input(SHAPE)
    x = layers.RandomFlip("horizontal")(layers.Rescaling(2.0, offset=-1.0)(inputs))
    x = layers.Normalization()(x)
    x = base(layers.Conv2D(4, 3, padding="same")(x), training=False)
    x = layers.BatchNormalization()(x)
    return tf.keras.Model(inputs, layers.Dense(CLASSES)(layers.Flatten()(layers.Dropout(0.5)(x))))


def shared() -> tf.keras.Model:
    """A layer and a model that are called twice."""
    inputs = tf.keras.Input(SHAPE)
    dense = layers.Dense(6, activation="gelu")
    twice = tf.keras.Sequential([layers.Input((8, 8, 6)), layers.Dense(6), layers.LeakyReLU()])
    x = dense(layers.Conv2D(6, 1)(inputs))
    x = layers.Average()([twice(x), twice(dense(x)), x])
    return tf.keras.Model(inputs, layers.Dense(CLASSES)(layers.GlobalAveragePooling2D()(x)))


def transformer() -> tf.keras.Model:
    """Patches by a convolution, a position embedding, one encoder block, the mean of the tokens."""
    inputs = tf.keras.Input(SHAPE)
    x = layers.Reshape((16, 8))(layers.Conv2D(8, 2, strides=2)(inputs))
    positions = layers.Embedding(16, 8)(layers.Flatten()(tf.range(16)[None]))
    x = x + positions
    y = layers.LayerNormalization(epsilon=1e-6)(x)
    x = layers.Add()([layers.MultiHeadAttention(2, 4)(y, y), x])
    y = layers.Dense(16, activation="gelu")(layers.LayerNormalization(epsilon=1e-6)(x))
    x = layers.Add()([layers.Dense(8)(y), x])
    return tf.keras.Model(inputs, layers.Dense(CLASSES)(x[:, 0]))


def recurrent() -> tf.keras.Model:
    """Layers that hold others: wrappers, cells."""
    inputs = tf.keras.Input(SHAPE)
    x = layers.TimeDistributed(layers.Dense(4))(layers.Reshape((8, 24))(inputs))
    x = layers.Bidirectional(layers.LSTM(3, return_sequences=True))(x)
    x = layers.GRU(5)(x)
    return tf.keras.Model(inputs, layers.Dense(CLASSES, activation="softmax")(x))


def mixed() -> tf.keras.Model:
    """Half precision with logits in single, as the guide of Keras says."""
    inputs = tf.keras.Input(SHAPE)
    x = layers.Conv2D(4, 3, activation="relu", dtype="mixed_float16")(inputs)
    x = layers.BatchNormalization(dtype="mixed_float16")(x)
    x = layers.GlobalAveragePooling2D(dtype="mixed_float16")(x)
    return tf.keras.Model(inputs, layers.Dense(CLASSES, dtype="float32")(x))


def double() -> tf.keras.Model:
    inputs = tf.keras.Input(SHAPE, dtype="float64")
    x = layers.GlobalAveragePooling2D(dtype="float64")(inputs)
    return tf.keras.Model(inputs, layers.Dense(CLASSES, dtype="float64")(x))


NETWORKS: dict[str, Callable[[], tf.keras.Model]] = {
    "chain": chain,
    "residual": residual,
    "first layer with shape": first_layer_with_shape,
    "named with slashes": named_with_slashes,
    "nested": nested,
    "shared": shared,
    "transformer": transformer,
    "recurrent": recurrent,
    "mixed": mixed,
    "double": double,
}
