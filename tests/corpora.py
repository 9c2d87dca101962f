"""Small corpora in the competition's layout: random networks whose last layer is fitted."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import tensorflow as tf

from ingestion.model_files.models import build_model
from ingestion.model_files.weights import write_weights


def conv(filters: int, activation: str | None = "relu", **kwargs: object) -> dict:
    return {
        "layer_name": "Conv2D",
        "filters": float(filters),  # as in the real corpus
        "kernel_size": [3.0, 3.0],
        "padding": "same",
        "activation": activation,
        **kwargs,
    }


def layer(layer_name: str, **kwargs: object) -> dict:
    return {"layer_name": layer_name, **kwargs}


def vgg(classes: int) -> list[dict]:
    return [
        conv(4),
        layer("MaxPooling2D", pool_size=2.0),
        conv(6),
        layer("Dropout", rate=0.5),
        layer("Flatten"),
        layer("Dense", units=8.0, activation="relu"),
        layer("Dense", units=float(classes)),
    ]


def vgg_batch_norm(classes: int) -> list[dict]:
    return [
        conv(4, activation=None),
        layer("BatchNormalization"),
        layer("Activation", activation="relu"),
        conv(6, activation=None, use_bias=False),
        layer("BatchNormalization", axis=[3]),
        layer("ReLU"),
        layer("AveragePooling2D"),
        layer("Flatten"),
        layer("Dense", units=float(classes)),
    ]


def nin(classes: int) -> list[dict]:
    return [
        conv(4),
        layer("Conv2D", filters=4.0, kernel_size=1.0, activation="relu"),
        layer("MaxPooling2D"),
        layer("Conv2D", filters=float(classes), kernel_size=1.0),
        layer("GlobalAveragePooling2D"),
    ]


ARCHITECTURES = {"vgg": vgg, "vgg_batch_norm": vgg_batch_norm, "nin": nin}


def weight_names(keras_layer: tf.keras.layers.Layer) -> list[str]:
    return [f"{weight.name.split('/')[-1].split(':')[0]}:0" for weight in keras_layer.weights]


def write_model(
    folder: Path,
    config: dict,
    seed: int,
    initial: bool = True,
    data: tuple[np.ndarray, np.ndarray] | None = None,
) -> tf.keras.Model:
    """A model folder with random weights - of batch norm too, so that nothing is neutral - and, if
    there is data, a last layer that was fitted to it."""
    folder.mkdir(parents=True)
    (folder / "config.json").write_text(json.dumps(config))
    model = build_model(config)
    rng = np.random.default_rng(seed)
    for name in ("weights_init.hdf5", "weights.hdf5") if initial else ("weights.hdf5",):
        for keras_layer in model.layers:
            # Positive where it may be a variance, around zero where it is a kernel.
            shapes = [tuple(weight.shape) for weight in keras_layer.weights]
            values = [rng.uniform(0.2, 1.0, shape) - 0.6 * (len(shape) > 1) for shape in shapes]
            keras_layer.set_weights(values)
        if data and name == "weights.hdf5":
            fit_last_layer(model, *data)
        layers = [
            (layer.name, list(zip(weight_names(layer), layer.get_weights())))
            for layer in model.layers
        ]
        write_weights(folder / name, layers)
    return model


def fit_last_layer(model: tf.keras.Model, inputs: np.ndarray, labels: np.ndarray) -> None:
    """Least squares from the features to the classes; a global mean after it changes nothing."""
    last = [layer for layer in model.layers if layer.weights][-1]
    features = tf.keras.Model(model.inputs[0], last.input)(inputs)
    features = np.asarray(features).reshape(len(labels), -1, features.shape[-1]).mean(axis=1)
    kernel, bias = last.get_weights()
    padded = np.concatenate([features, np.ones((len(labels), 1))], axis=1)
    solution, *_ = np.linalg.lstsq(padded, np.eye(len(bias))[labels], rcond=None)
    last.set_weights([solution[:-1].reshape(kernel.shape), solution[-1]])


def examples(
    count: int, shape: tuple[int, ...], classes: int, seed: int = 0
) -> tuple[np.ndarray, np.ndarray]:
    """Noise around a pattern per class."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, classes, count).astype(np.int32)
    patterns = rng.normal(size=(classes, *shape))
    return (patterns[labels] + rng.normal(size=(count, *shape))).astype(np.float32), labels


def write_shards(folder: Path, inputs: np.ndarray, labels: np.ndarray, shards: int = 3) -> None:
    folder.mkdir(parents=True)
    for i in range(shards):
        with tf.io.TFRecordWriter(str(folder / f"shard_{i}.tfrecord")) as writer:
            for x, y in zip(inputs[i::shards], labels[i::shards]):
                feature = {
                    "inputs": _bytes(tf.io.serialize_tensor(tf.constant(x, tf.float32))),
                    "output": _bytes(tf.io.serialize_tensor(tf.constant(y, tf.int32))),
                }
                example = tf.train.Example(features=tf.train.Features(feature=feature))
                writer.write(example.SerializeToString())


def _bytes(tensor: tf.Tensor) -> tf.train.Feature:
    return tf.train.Feature(bytes_list=tf.train.BytesList(value=[tensor.numpy()]))


def write_task(
    folder: Path, *, shape: tuple[int, ...] = (8, 8, 3), classes: int = 5, count: int = 120
) -> Path:
    """A task of one model per architecture, in two widths of a made-up hyperparameter."""
    train = examples(count, shape, classes)
    write_shards(folder / "dataset_1" / "train", *train)
    write_shards(folder / "dataset_1" / "test", *examples(count // 3, shape, classes, seed=1))
    reference = {}
    names = list(ARCHITECTURES)
    for model_id in range(2 * len(names)):
        name = names[model_id % len(names)]
        config = {"model_config": ARCHITECTURES[name](classes), "input_shape": [*map(float, shape)]}
        write_model(folder / f"model_{model_id}", config, seed=model_id, data=train)
        reference[str(model_id)] = {
            "hparams": {
                "architecture": {"possible_values": names, "current_value": name},
                "run": {"possible_values": [0, 1], "current_value": model_id // len(names)},
            },
            "metrics": {"train_acc": 1.0, "test_acc": 0.9 - 0.01 * model_id},
        }
    (folder / "model_configs.json").write_text(json.dumps(reference))
    return folder


def dataset(inputs: np.ndarray, labels: np.ndarray) -> tf.data.Dataset:
    """The contract's dataset: unbatched, in order, of unknown static shapes."""
    serialized = tf.data.Dataset.from_tensor_slices(
        (
            [tf.io.serialize_tensor(tf.constant(x, tf.float32)).numpy() for x in inputs],
            [tf.io.serialize_tensor(tf.constant(y, tf.int32)).numpy() for y in labels],
        )
    )
    return serialized.map(
        lambda x, y: (tf.io.parse_tensor(x, tf.float32), tf.io.parse_tensor(y, tf.int32))
    )
