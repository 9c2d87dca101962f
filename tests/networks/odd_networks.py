"""Classifiers that Keras allows and few people write."""

from __future__ import annotations

from collections.abc import Callable

import tensorflow as tf

layers = tf.keras.layers
CLASSES, IMAGE, TOKENS = 4, (8, 8, 3), (12,)


def _model(inputs, x) -> tf.keras.Model:
    return tf.keras.Model(inputs, layers.Dense(CLASSES)(x))


def shared() -> tf.keras.Model:
    inputs = tf.keras.Input(IMAGE)
    conv, norm = layers.Conv2D(3, 3, padding="same", activation="relu"), layers.BatchNormalization()
    return _model(inputs, layers.Flatten()(norm(conv(norm(conv(inputs))))))


def three_branches() -> tf.keras.Model:
    inputs = tf.keras.Input(IMAGE)
    x = layers.Conv2D(6, 3, padding="same", activation="relu")(inputs)
    y = layers.BatchNormalization()(layers.Conv2D(6, 1)(x))
    z = tf.keras.Sequential([layers.Conv2D(6, 3, padding="same"), layers.BatchNormalization()])(x)
    return _model(inputs, layers.GlobalAveragePooling2D()(layers.ReLU()(layers.Add()([x, y, z]))))


def mixer() -> tf.keras.Model:
    """Dense layers over tokens and over channels, in turn."""
    inputs = tf.keras.Input(IMAGE)
    x = layers.Dense(8)(layers.Reshape((64, 3))(inputs))
    y = layers.Dense(64, activation="gelu")(layers.Permute((2, 1))(layers.LayerNormalization()(x)))
    x = layers.Add()([x, layers.Permute((2, 1))(y)])
    return _model(inputs, layers.GlobalAveragePooling1D()(layers.Dense(8, activation="silu")(x)))


def text() -> tf.keras.Model:
    inputs = tf.keras.Input(TOKENS, dtype="int32")
    x = layers.Embedding(20, 8)(inputs)
    return _model(
        inputs, layers.GRU(6)(layers.Bidirectional(layers.LSTM(4, return_sequences=True))(x))
    )


def masked_text() -> tf.keras.Model:
    inputs = tf.keras.Input(TOKENS, dtype="int32")
    return _model(inputs, layers.GRU(6)(layers.Embedding(20, 8, mask_zero=True)(inputs)))


def text_transformer() -> tf.keras.Model:
    inputs = tf.keras.Input(TOKENS, dtype="int32")
    x = layers.Embedding(20, 8)(inputs)
    y = layers.LayerNormalization()(x)
    x = layers.Add()([x, layers.MultiHeadAttention(2, 4)(y, y)])
    return _model(inputs, layers.GlobalAveragePooling1D()(x))


def film() -> tf.keras.Model:
    inputs = tf.keras.Input((5, 8, 8, 1))
    x = layers.TimeDistributed(layers.Conv2D(3, 3, activation="relu"))(inputs)
    return _model(inputs, layers.LSTM(5)(layers.TimeDistributed(layers.Flatten())(x)))


def volume() -> tf.keras.Model:
    inputs = tf.keras.Input((6, 6, 6, 2))
    x = layers.BatchNormalization()(layers.Conv3D(4, 3, activation="relu", padding="same")(inputs))
    return _model(inputs, layers.GlobalAveragePooling3D()(layers.MaxPooling3D(2)(x)))


def signal() -> tf.keras.Model:
    inputs = tf.keras.Input((16, 3))
    x = layers.MaxPooling1D(2)(layers.Conv1D(6, 3, activation="relu")(inputs))
    x = layers.Conv1D(4, 3, dilation_rate=2, padding="causal")(
        layers.SeparableConv1D(5, 3, activation="relu")(x)
    )
    return _model(inputs, layers.UnitNormalization()(layers.GlobalMaxPooling1D()(x)))


def unused_output() -> tf.keras.Model:
    inputs = tf.keras.Input((8, 5))
    _, state, _ = layers.LSTM(6, return_state=True, return_sequences=True)(inputs)
    return _model(inputs, state)


def noisy() -> tf.keras.Model:
    inputs = tf.keras.Input(IMAGE)
    x = layers.SpectralNormalization(layers.Conv2D(6, 3, activation="relu"))(
        layers.GaussianNoise(0.1)(inputs)
    )
    x = layers.SpectralNormalization(layers.Dense(8))(layers.Flatten()(layers.Dropout(0.3)(x)))
    return _model(inputs, x)


def preprocessed() -> tf.keras.Model:
    """Rescaling and augmentation in front, the activation of the output apart."""
    return tf.keras.Sequential(
        [
            tf.keras.Input(IMAGE),
            *(layers.Rescaling(2.0, -1.0), layers.RandomFlip(), layers.RandomRotation(0.1)),
            *(layers.Conv2D(6, 3), layers.BatchNormalization(), layers.Activation("swish")),
            *(layers.GlobalMaxPooling2D(), layers.Dense(CLASSES), layers.Activation("softmax")),
        ]
    )


def log_probabilities() -> tf.keras.Model:
    inputs = tf.keras.Input(IMAGE)
    x = layers.Flatten()(layers.Conv2D(4, 3, activation="elu")(inputs))
    return tf.keras.Model(inputs, layers.Dense(CLASSES, activation="log_softmax")(x))


def mean_of_two() -> tf.keras.Model:
    """An ensemble: its softmax is not its last layer."""
    inputs = tf.keras.Input(IMAGE)
    x = layers.Flatten()(layers.Conv2D(4, 3, activation="relu")(inputs))
    heads = [layers.Dense(CLASSES, activation="softmax")(x) for _ in range(2)]
    return tf.keras.Model(inputs, layers.Average()(heads))


def convolutional(data_format: str) -> tf.keras.Model:
    """The same network for images with the channels first or last."""
    first = data_format == "channels_first"
    axis = 1 if first else -1
    return tf.keras.Sequential(
        [
            tf.keras.Input((3, 8, 8) if first else IMAGE),
            layers.Conv2D(6, 3, data_format=data_format),
            layers.BatchNormalization(axis=axis),
            layers.ReLU(),
            layers.BatchNormalization(axis=axis),
            layers.SeparableConv2D(5, 3, data_format=data_format, activation="relu"),
            layers.GlobalAveragePooling2D(data_format=data_format),
            layers.Dense(CLASSES),
        ]
    )


def channels_first() -> tf.keras.Model:
    return convolutional("channels_first")


ODD: dict[str, Callable[[], tf.keras.Model]] = {
    make.__name__: make
    for make in (
        *(shared, three_branches, mixer, text, masked_text, text_transformer, film, volume),
        *(signal, unused_output, noisy, preprocessed, log_probabilities, mean_of_two),
        channels_first,
    )
}
