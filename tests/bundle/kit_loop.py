"""How the starting kit runs a submission, call by call, written anew and without our packages.

    kit_loop.py INPUT OUTPUT PROGRAM SUBMISSION

Under Keras 2 these are the kit's own calls. Under Keras 3, which reads no Keras-2 weights files and
builds no batch of none, the model is built for any batch and the weights are read with h5py.
"""

from __future__ import annotations

import glob
import json
import os
import sys

import h5py
import keras
import tensorflow as tf

KERAS_2 = keras.__version__.startswith("2")


def main(input_dir: str, output_dir: str, program_dir: str, submission_dir: str) -> None:
    if os.path.isdir(os.path.join(input_dir, "input_data")):
        input_dir = os.path.join(input_dir, "input_data")
    sys.path.append(program_dir)
    sys.path.append(submission_dir)
    from complexity import complexity

    for task in sorted(os.listdir(input_dir)):
        dataset = load_dataset(os.path.join(input_dir, task, "dataset_1", "train"))
        output = {}
        for folder in sorted(glob.glob(os.path.join(input_dir, task, "model_*/"))):
            tf.keras.backend.clear_session()
            model = create_model(folder)
            before = [weights.copy() for weights in model.get_weights()]
            output[os.path.basename(folder[:-1])] = float(complexity(model, dataset))
            assert all((a == b).all() for a, b in zip(before, model.get_weights()))
        with open(os.path.join(output_dir, f"{task}.predict"), "w") as file:
            json.dump(output, file)
    imported = {name.partition(".")[0] for name in sys.modules}
    assert not imported & {"pgdl_measures", "ingestion", "scoring", "starting_kit_adapter"}


def load_dataset(folder: str) -> tf.data.Dataset:
    def parse(serialized):
        features = {
            "inputs": tf.io.FixedLenFeature([], tf.string),
            "output": tf.io.FixedLenFeature([], tf.string),
        }
        example = tf.io.parse_single_example(serialized, features)
        return (
            tf.io.parse_tensor(example["inputs"], tf.float32),
            tf.io.parse_tensor(example["output"], tf.int32),
        )

    shards = sorted(glob.glob(os.path.join(folder, "shard_*.tfrecord")))
    dataset = tf.data.TFRecordDataset(shards).map(parse)
    assert dataset.element_spec[0].shape.rank is None
    return dataset


def wrapped(stock):
    class Wrapped(stock):
        def __call__(self, x, *args, **kwargs):
            self._last_seen_input = x
            return super().__call__(x, *args, **kwargs)

    return Wrapped


class Sequential(tf.keras.Sequential):
    def __call__(self, x, tape=None):
        if tape is not None:
            tape.watch(x)
        return super().__call__(x)


def create_model(folder: str) -> tf.keras.Model:
    with open(os.path.join(folder, "config.json")) as file:
        config = json.load(file)
    model = Sequential()
    for arguments in config["model_config"]:
        arguments = {key: integers(value) for key, value in arguments.items()}
        stock = getattr(tf.keras.layers, arguments.pop("layer_name"))
        if not KERAS_2:  # which has other ideas of what must and may be said
            if "axis" in arguments:
                arguments["axis"] = arguments["axis"][0]
            if stock is tf.keras.layers.AveragePooling2D:
                arguments.setdefault("pool_size", 2)
        model.add(wrapped(stock)(**arguments))
    model.build([0 if KERAS_2 else None, *integers(config["input_shape"])])
    load_weights(model, os.path.join(folder, "weights_init.hdf5"))
    model.initial_weights = model.get_weights()
    load_weights(model, os.path.join(folder, "weights.hdf5"))
    return model


def integers(value):
    if isinstance(value, list):
        return [integers(item) for item in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


def load_weights(model: tf.keras.Model, path: str) -> None:
    if KERAS_2:
        model.load_weights(path)
        return
    with h5py.File(path) as file:
        groups = [file[name] for name in file.attrs["layer_names"]]
        arrays = [group[name][()] for group in groups for name in group.attrs["weight_names"]]
    model.set_weights(arrays)


if __name__ == "__main__":
    main(*sys.argv[1:])
