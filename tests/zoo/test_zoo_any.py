"""Any architecture, any data set of a task: the user's function, Keras' networks, several data."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import tensorflow as tf
from zoos import pgdl_zoo

from ingestion.corpus import find_corpus
from ingestion.datasets.data import load_dataset
from ingestion.errors import CorpusError, ZooError
from ingestion.model_files.models import build_model, load_model
from ingestion.run.plan import Request, make_plan
from ingestion.zoo.architectures import network_config
from ingestion.zoo.prepare import Order, prepare
from pgdl_measures import complexity
from pgdl_measures.errors import PgdlError
from scoring.robust.precision import examples_behind_gaps
from starting_kit_adapter.diagnose.check import check_task
from starting_kit_adapter.submission.stage import visible_files

OWN = """
import keras


def branched(input_shape, classes, width=4):
    inputs = keras.Input(input_shape)
    x = keras.layers.Conv2D(width, 3, padding="same", activation="relu")(inputs)
    y = keras.layers.Dropout(0.5)(keras.layers.Conv2D(width, 3, padding="same")(x))
    x = keras.layers.GlobalAveragePooling2D()(keras.layers.Add()([x, y]))
    return keras.Model(inputs, keras.layers.Dense(classes)(x))


def no_model(input_shape, classes):
    return [input_shape, classes]


def broken(input_shape, classes, width=4):
    raise RuntimeError(f"width {width} is unlucky")


def probabilities(input_shape, classes):
    layers = [keras.Input(input_shape), keras.layers.Flatten()]
    return keras.Sequential([*layers, keras.layers.Dense(classes, activation="softmax")])


def one_class(input_shape, classes):
    return keras.Sequential([keras.Input(input_shape), keras.layers.Flatten(),
                             keras.layers.Dense(1)])


def no_classes(input_shape):
    pass
"""
RNG = np.random.default_rng(0)


def _write(path: Path, n: int, shape: tuple[int, ...], offset: float = 0.0) -> str:
    labels = np.arange(n) % 3
    images = RNG.random((n, *shape)) + np.eye(8)[labels * 2][:, : shape[0], None, None] + offset
    arrays = images.astype(np.float32), labels
    np.savez(path, x_train=arrays[0], y_train=labels, x_test=arrays[0][:30], y_test=labels[:30])
    return f"npz:{path}"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("any")
    (folder / "mynets.py").write_text(OWN)
    return folder


@pytest.fixture
def _here(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)


def _grid(folder: Path, **entries: object) -> Path:
    path = folder / "grid.json"
    base = {"hparams": {"width": [2, 4]}, "max_epochs": 1, "fixed": {}}
    path.write_text(json.dumps({**base, **entries}))
    return path


@pytest.fixture(scope="module")
def several(folder: Path) -> Path:
    """A zoo over two data sets and two sizes, of the user's own branched architecture."""
    big, grey = _write(folder / "a.npz", 90, (8, 8, 3)), _write(folder / "b.npz", 60, (6, 6, 1), 1)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        grid = _grid(
            folder,
            architecture="mynets:branched",
            hparams={"train_examples": [30, 60], "width": [2]},
            repeats=2,
        )
        code = pgdl_zoo(
            *("build", "--data", f"big={big}", "--data", f"grey={grey}", "--grid", grid),
            *("-o", folder / "zoo", "--task", "t", "--workers", 1),
        )
    assert code == 0
    return folder / "zoo"


def test_data_and_sizes_are_hyperparameters_of_one_reference(several: Path) -> None:
    entries = json.loads((several / "reference_data/t/model_configs.json").read_text())
    assert len(entries) == 8
    cells = {
        tuple(e["hparams"][name]["current_value"] for name in ("data", "train_examples"))
        for e in entries.values()
    }
    assert cells == {("big", 30), ("big", 60), ("grey", 30), ("grey", 60)}
    assert entries["0"]["architecture"] == "mynets:branched"


def test_each_model_is_given_its_own_data(several: Path) -> None:
    task = find_corpus(several).task("t")
    assert task.datasets == ("dataset_1", "dataset_2", "dataset_3", "dataset_4")
    entries = json.loads((several / "reference_data/t/model_configs.json").read_text())
    for model, entry in entries.items():
        dataset = task.dataset_of(model)
        assert dataset == entry["dataset"]
        data = load_dataset(task.shards("train", dataset)).batch(100)
        images, labels = next(data.as_numpy_iterator())
        assert images.shape == (entry["hparams"]["train_examples"]["current_value"], 8, 8, 3)
        is_grey = entry["hparams"]["data"]["current_value"] == "grey"
        assert is_grey == np.allclose(images[..., 0], images[..., 2])
        logits = load_model(task.model_folder(model)).predict(images, verbose=0)
        assert np.mean(logits.argmax(-1) == labels) == pytest.approx(entry["metrics"]["train_acc"])
    assert {name.split("/")[1] for name in visible_files(task)} >= set(task.datasets)


def test_measures_and_check_read_the_models_own_data(several: Path) -> None:
    task = find_corpus(several).task("t")
    checked = check_task(task, with_accuracy=True, step=lambda text: None)
    assert not checked.problems
    assert checked.examples == "30/30, 60/30, 30/30, 60/30"
    assert examples_behind_gaps(several) == {"t": 30}
    plan = make_plan(Request([task], [complexity("params")]), [])
    assert {job.model: job.shards[0].parent.parent.name for job in plan.jobs} == {
        model: task.dataset_of(model) for model in task.model_ids
    }
    assert len({job.architecture for job in plan.jobs}) == 4  # a worker reads its data once


def test_a_model_without_a_data_set_is_named(several: Path, tmp_path: Path) -> None:
    task = find_corpus(several).task("t")
    path = task.model_folder("0") / "config.json"
    kept = path.read_text()
    path.write_text(json.dumps({**json.loads(kept), "dataset": "dataset_9"}))
    try:
        with pytest.raises(CorpusError, match=r"names no data set of its task .*'dataset_9'"):
            task.dataset_of("model_0")
    finally:
        path.write_text(kept)


@pytest.mark.usefixtures("_here")
@pytest.mark.parametrize(
    ("entries", "data", "message"),
    [
        ({"architecture": "mynets:no_model", "hparams": {"batch_size": [4]}}, None,
         "returns list; expected a built Keras model"),
        ({"architecture": "mynets:broken"}, None,
         "raises RuntimeError with width=2, .*: width 2 is unlucky"),
        ({"architecture": "mynets:probabilities", "hparams": {"batch_size": [4]}}, None,
         "returns probabilities .* expected logits"),
        ({"architecture": "mynets:one_class", "hparams": {"batch_size": [4]}}, None,
         r"returns a model from \(8, 8, 3\) to \(1,\); the data needs one .* to \(3,\)"),
        ({"architecture": "mynets:no_classes"}, None, "takes no classes; expected a function"),
        ({"architecture": "mynets:absent"}, None, "mynets has no 'absent'"),
        ({"architecture": "mynets:branched", "hparams": {"widht": [2]}}, None,
         "did you mean width"),
        ({"architecture": "mynets:branched"}, "npz:absent.npz", "absent.npz: no such file"),
        ({"architecture": "mynets:branched"}, "cifar", "unknown data 'cifar'"),
        ({"architecture": "mynets:branched", "hparams": {"data": ["cifar"]}}, "",
         "unknown data 'cifar'"),
        ({"architecture": "mynets:branched", "hparams": {"train_examples": [100]}}, None,
         "train_examples is 100; the data a has 90"),
    ],
)  # fmt: skip
def test_a_bad_grid_is_refused_before_anything_is_trained(
    entries: dict, data: str | None, message: str, folder: Path, several: Path, capsys
) -> None:
    source = f"npz:{folder / 'a.npz'}" if data is None else data
    given = ("--data", source) if source else ()
    with pytest.raises(PgdlError, match=message):
        pgdl_zoo("build", *given, "--grid", _grid(folder, **entries), "-o", folder / "bad")
    assert not (folder / "bad").exists()
    assert capsys.readouterr().err == ""  # the error is all that is said


def test_fewer_examples_than_asked_for_are_said(folder: Path, several: Path) -> None:
    grid = _grid(folder, architecture="vgg", fixed={"blocks": 1}, train_examples=100)
    order = Order(str(grid), data=[f"npz:{folder / 'a.npz'}"])
    _, notes = prepare(order, folder / "none")
    assert "a has 90 training examples; 100 are asked for" in notes


def test_a_network_of_keras_is_the_original() -> None:
    config = network_config("keras.applications:MobileNetV2", (32, 32, 3), 7, {"alpha": 0.35})
    theirs = tf.keras.applications.MobileNetV2(
        (32, 32, 3), 0.35, weights=None, classes=7, classifier_activation=None
    )
    assert build_model(config).count_params() == theirs.count_params()


def test_data_of_other_channels_is_not_bent(folder: Path, tmp_path: Path) -> None:
    four, three = (
        _write(tmp_path / "a.npz", 30, (8, 8, 4)),
        _write(tmp_path / "b.npz", 30, (8, 8, 3)),
    )
    grid = _grid(folder, architecture="mynets:branched")
    with pytest.raises(ZooError, match="images of b have 3 channels, others 4"):
        pgdl_zoo("build", "--data", four, "--data", three, "--grid", grid, "-o", tmp_path / "z")
