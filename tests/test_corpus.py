"""A corpus is found with every irregularity of the real ones, and every fault of it is named."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import h5py
import numpy as np
import pytest
import tensorflow as tf
from corpora import (
    ARCHITECTURES,
    examples,
    layer,
    weight_names,
    write_model,
    write_shards,
    write_task,
)
from shared_data import SHARED, needs_shared

from ingestion.corpus import find_corpus
from ingestion.datasets.data import load_dataset
from ingestion.errors import CorpusError
from ingestion.model_files.models import build_model, load_model
from ingestion.model_files.weights import write_weights
from pgdl_measures.errors import UnknownNameError

pytestmark = pytest.mark.keras2


@pytest.fixture(scope="module")
def task_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_task(tmp_path_factory.mktemp("corpus") / "images")


@pytest.fixture()
def copy(task_folder: Path, tmp_path: Path) -> Path:
    """A copy of the task that a test may damage."""
    return Path(shutil.copytree(task_folder, tmp_path / "images"))


def test_tasks_are_found_with_and_without_input_data_and_among_junk(copy, tmp_path):
    (tmp_path / ".DS_Store").touch()
    (tmp_path / "__MACOSX").mkdir()
    (copy / ".DS_Store").touch()
    (copy / "dataset_1" / "train" / "._shard_0.tfrecord").touch()
    (tmp_path / "notes").mkdir()
    assert [t.name for t in find_corpus(tmp_path).tasks] == ["images"]
    assert find_corpus(copy).tasks == find_corpus(tmp_path).tasks
    assert len(find_corpus(copy).tasks[0].shards()) == 3

    (tmp_path / "zoo").mkdir()
    shutil.move(copy, tmp_path / "zoo" / "input_data" / "images")
    (tmp_path / "zoo" / "input_data" / "__MACOSX").mkdir()
    (task,) = find_corpus(tmp_path / "zoo").tasks
    assert task.model_ids == tuple(f"model_{i}" for i in range(6))
    assert find_corpus(tmp_path / "zoo" / "input_data").tasks[0].model_ids == task.model_ids


def test_the_reference_beside_input_data_wins(copy, tmp_path):
    inside = copy / "model_configs.json"
    assert find_corpus(tmp_path).tasks[0].reference == inside
    beside = tmp_path / "reference_data" / "images" / "model_configs.json"
    beside.parent.mkdir(parents=True)
    shutil.copy(inside, beside)
    assert find_corpus(tmp_path).tasks[0].reference == beside
    beside.unlink()
    inside.unlink()
    assert find_corpus(tmp_path).tasks[0].reference is None


def test_models_are_in_the_order_of_their_numbers_and_known_by_number(tmp_path):
    for number in (10, 9, 100):
        (tmp_path / "t" / f"model_{number}").mkdir(parents=True)
    task = find_corpus(tmp_path).task("t")
    assert task.model_ids == ("model_9", "model_10", "model_100")
    assert task.model_folder("9") == task.model_folder("model_9")
    with pytest.raises(UnknownNameError, match="model_10"):
        task.model_folder("11")
    with pytest.raises(UnknownNameError, match="unknown task 'u'"):
        find_corpus(tmp_path).task("u")


def test_a_link_that_leads_nowhere_is_a_model_and_not_overlooked(tmp_path):
    task = tmp_path / "t"
    (task / "model_0").mkdir(parents=True)
    (task / "model_1").symlink_to(tmp_path / "disk_that_is_away")
    (task / "model_2").symlink_to("model_2")
    (task / "model_configs.json").symlink_to("away")
    assert find_corpus(tmp_path).task("t").model_ids == ("model_0", "model_1", "model_2")
    for name in ("model_1", "model_2"):
        with pytest.raises(CorpusError, match=f"{name}/config.json: .*(missing|symbolic links)"):
            load_model(task / name)


def test_an_empty_task_and_an_empty_corpus_are_errors(tmp_path):
    with pytest.raises(CorpusError, match="has no task"):
        find_corpus(tmp_path)
    with pytest.raises(CorpusError, match="not a folder"):
        find_corpus(tmp_path / "nowhere")
    (tmp_path / "input_data" / "task9").mkdir(parents=True)
    with pytest.raises(CorpusError, match=r"task9: is an empty task"):
        find_corpus(tmp_path)


def test_the_dataset_has_unknown_shapes_and_all_examples_in_order(tmp_path):
    inputs, labels = examples(20, (4, 5, 4), 37)
    write_shards(tmp_path / "train", inputs, labels, shards=2)
    folder = (tmp_path / "train").rename(tmp_path / os.fsdecode(b"caf\xe9 \xe6\xa8\xa1"))
    data = load_dataset(sorted(folder.iterdir()))
    assert all(spec.shape.rank is None for spec in data.element_spec)
    assert [spec.dtype for spec in data.element_spec] == [tf.float32, tf.int32]
    read = list(data.as_numpy_iterator())
    np.testing.assert_array_equal([y for _, y in read], [*labels[::2], *labels[1::2]])
    np.testing.assert_array_equal(read[1][0], inputs[2])


@pytest.mark.parametrize("name", ARCHITECTURES)
def test_a_loaded_model_computes_what_the_saved_one_did(name, tmp_path):
    config = {"model_config": ARCHITECTURES[name](37), "input_shape": [9.0, 8.0, 4.0]}
    saved = write_model(tmp_path / "model_0", config, seed=3)
    loaded = load_model(tmp_path / "model_0")
    x = tf.random.stateless_normal([5, 9, 8, 4], [0, 1])
    np.testing.assert_allclose(loaded(x, training=False), saved(x, training=False), rtol=1e-5)
    with h5py.File(tmp_path / "model_0" / "weights_init.hdf5") as file:
        groups = [file[name] for name in file.attrs["layer_names"]]
        initial = [np.asarray(group[w]) for group in groups for w in group.attrs["weight_names"]]
    assert len(initial) == len(loaded.initial_weights)
    for got, expected in zip(loaded.initial_weights, initial):
        np.testing.assert_array_equal(got, expected)


BRANCHES = [
    layer("Conv2D", filters=3, kernel_size=1, name="stem"),
    layer("Conv2D", filters=3, kernel_size=3, padding="same", inputs=["stem"], name="branch"),
    layer("Add", inputs=["branch", "stem"]),
    layer("Concatenate", inputs=["layer_2", "input"]),
    layer("GlobalAveragePooling2D"),
    layer("Dense", units=5),
]


def test_layers_that_name_what_they_take_are_a_network_with_branches(tmp_path):
    saved = write_model(tmp_path / "m", {"model_config": BRANCHES, "input_shape": [6, 6, 2]}, 3)
    loaded = load_model(tmp_path / "m")
    x = tf.random.stateless_normal([5, 6, 6, 2], [0, 1])
    weights = {layer.name: layer for layer in saved.layers}
    stem = weights["stem"](x)
    merged = tf.concat([stem + weights["branch"](stem), x], axis=-1)
    expected = weights["layer_5"](tf.reduce_mean(merged, axis=[1, 2]))
    np.testing.assert_allclose(loaded(x, training=False), expected, rtol=1e-4)


def test_weights_of_branches_are_found_by_name_whatever_their_order(tmp_path):
    config = {"model_config": BRANCHES, "input_shape": [6, 6, 2]}
    saved = write_model(tmp_path / "m", config, seed=3, initial=False)
    layers = [
        (layer.name, list(zip(weight_names(layer), layer.get_weights()))) for layer in saved.layers
    ]
    write_weights(tmp_path / "m" / "weights.hdf5", layers[::-1])
    for got, expected in zip(load_model(tmp_path / "m").get_weights(), saved.get_weights()):
        np.testing.assert_array_equal(got, expected)
    renamed = [(name.replace("stem", "root"), weights) for name, weights in layers]
    write_weights(tmp_path / "m" / "weights.hdf5", renamed)
    with pytest.raises(CorpusError, match="has no weights of the layers stem"):
        load_model(tmp_path / "m")


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        (
            layer("Add", inputs=["stem", "leaf"]),
            r"layer 2 takes \['stem', 'leaf'\]; expected names",
        ),
        (layer("Add", inputs="stem"), "layer 2 takes 'stem'; expected names of layers before it"),
        (layer("Add", inputs=["stem", "input"]), "does not build on inputs of shape"),
        (layer("ReLU", name="stem"), "layer 2 has the name of an earlier layer, 'stem'"),
        (layer("ReLU", inputs=["stem"]), "layers do not lead to the output: branch"),
        (layer("Lambda", inputs=["stem"]), "layer 2 is a 'Lambda', which is not supported"),
    ],
)
def test_what_is_wrong_with_branches_is_named(entry, message):
    config = {"model_config": [*BRANCHES[:2], entry], "input_shape": [6, 6, 2]}
    with pytest.raises(CorpusError, match=message):
        build_model(config)


def test_a_model_without_initial_weights_has_none(tmp_path):
    config = {"model_config": [layer("Dense", units=2)], "input_shape": [3]}
    write_model(tmp_path / "model_0", config, seed=0, initial=False)
    assert not hasattr(load_model(tmp_path / "model_0"), "initial_weights")


def test_keras_2_reads_the_weights_that_are_written(tmp_path):
    if hasattr(tf.keras, "ops"):
        pytest.skip("needs Keras 2, whose own loader is the reference here")
    config = {"model_config": ARCHITECTURES["vgg_batch_norm"](5), "input_shape": [8, 8, 3]}
    saved = write_model(tmp_path / "model_0", config, seed=3)
    loaded = build_model(config)
    loaded.load_weights(str(tmp_path / "model_0" / "weights.hdf5"))
    for got, expected in zip(loaded.get_weights(), saved.get_weights()):
        np.testing.assert_array_equal(got, expected)


def _edit_config(folder: Path, edit) -> None:
    config = json.loads((folder / "config.json").read_text())
    edit(config)
    (folder / "config.json").write_text(json.dumps(config))


def _truncate(path: Path, keep: float) -> None:
    content = path.read_bytes()
    path.write_bytes(content[: int(keep * len(content))])


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda f: (f / "config.json").unlink(), r"config\.json: is missing"),
        (lambda f: _truncate(f / "config.json", 0.5), r"config\.json: is not JSON"),
        (lambda f: (f / "config.json").write_text("[]"), "has no `model_config`"),
        (lambda f: (f / "weights.hdf5").unlink(), r"weights\.hdf5: is missing"),
        (lambda f: _truncate(f / "weights.hdf5", 0.6), r"weights\.hdf5: is not a whole hdf5"),
        (lambda f: _truncate(f / "weights_init.hdf5", 0.1), r"weights_init\.hdf5: is not a whole"),
        (lambda f: write_weights(f / "weights.hdf5", []), "has weights of 0 layers"),
        (
            lambda f: _edit_config(f, lambda c: c["model_config"][0].update(filters=5)),
            r"weights_init\.hdf5: layer .* has shapes \[\(3, 3, 3, 4\)",
        ),
        (
            lambda f: _edit_config(f, lambda c: c["model_config"].insert(0, layer("Lambda"))),
            r"config\.json: layer 0 is a 'Lambda', which is not supported",
        ),
        (
            lambda f: _edit_config(f, lambda c: c["model_config"].insert(1, layer("TFOpLambda"))),
            "layer 1 is a 'TFOpLambda'",
        ),
        (
            lambda f: _edit_config(
                f,
                lambda c: c["model_config"][0].update(
                    kernel_initializer={"module": "os", "class_name": "system", "config": {}}
                ),
            ),
            "kernel_initializer=.* is not a number, text or list",
        ),
        (
            lambda f: _edit_config(f, lambda c: c["model_config"][0].update(wings=2)),
            r"layer 0 \(Conv2D\): .*wings",
        ),
        (
            lambda f: _edit_config(f, lambda c: c["model_config"][0].pop("layer_name")),
            "layer 0 has no `layer_name`",
        ),
        (lambda f: _edit_config(f, lambda c: c.update(input_shape=[8, "x", 3])), "input_shape"),
        (
            lambda f: _edit_config(f, lambda c: c.update(input_shape=[8])),
            "does not build on inputs",
        ),
        (lambda f: _edit_config(f, lambda c: c.update(model_config=[])), "has no layers"),
    ],
)
def test_what_is_wrong_with_a_model_is_named(damage, message, copy):
    damage(copy / "model_0")
    with pytest.raises(CorpusError, match=message):
        load_model(copy / "model_0")


def test_weights_that_are_not_finite_are_refused(tmp_path):
    config = {"model_config": [layer("Dense", units=2)], "input_shape": [3]}
    write_model(tmp_path / "m", config, seed=0)
    nan = [("dense", [("kernel:0", np.full((3, 2), np.nan)), ("bias:0", np.zeros(2))])]
    write_weights(tmp_path / "m" / "weights.hdf5", nan)
    with pytest.raises(CorpusError, match="NaN or infinite"):
        load_model(tmp_path / "m")


def test_what_is_wrong_with_the_data_is_named(tmp_path):
    folder = tmp_path / "train"
    write_shards(folder, *examples(10, (3,), 2), shards=2)
    shards = sorted(folder.iterdir())
    _truncate(shards[1], 0.9)
    with pytest.raises(CorpusError, match=r"shard_1\.tfrecord: is cut off or damaged in record 4"):
        load_dataset(shards)
    shards[1].write_bytes(b"")
    with pytest.raises(CorpusError, match=r"shard_1\.tfrecord: has no record"):
        load_dataset(shards)
    with tf.io.TFRecordWriter(str(shards[1])) as writer:
        writer.write(b"not an example")
    with pytest.raises(CorpusError, match="is not data of the competition"):
        load_dataset(shards)


@needs_shared
def test_the_kits_toy_models_have_their_recorded_accuracy():
    (task,) = find_corpus(SHARED / "data" / "pgdl" / "toy_data").tasks
    inputs, labels = next(load_dataset(task.shards()).batch(1000).as_numpy_iterator())
    recorded = json.loads(task.reference.read_text())
    assert len(task.model_ids) == 18
    for model_id in task.model_ids:
        outputs = load_model(task.model_folder(model_id))(inputs, training=False)
        accuracy = np.mean(np.argmax(outputs, axis=1) == labels)
        metrics = recorded[model_id.removeprefix("model_")]["metrics"]
        assert accuracy == pytest.approx(metrics["train_acc"], abs=1e-6)
