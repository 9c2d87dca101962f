"""The measure contract (design, section 3), for every registered measure."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
import tensorflow as tf
from corpora import ARCHITECTURES, dataset, examples, write_model, write_task
from kit import kit_model
from shared_data import SHARED, needs_shared

from ingestion.corpus import find_corpus
from ingestion.data import load_dataset
from ingestion.models import load_model
from pgdl_measures import MeasureError, complexities, complexity, measures, register
from pgdl_measures.base import Measure
from pgdl_measures.errors import PgdlError, UnknownNameError

pytestmark = pytest.mark.keras2

NAMES = [measure.name for measure in measures()]
OF_ANY_DATA = [measure.name for measure in measures() if not measure.needs]
QUICK = {"batches": 5, "batch_size": 32}


@pytest.fixture(scope="module")
def task(tmp_path_factory: pytest.TempPathFactory):
    """Images of four channels in 37 classes, and networks with and without batch norm."""
    folder = tmp_path_factory.mktemp("corpus") / "pets"
    return find_corpus(write_task(folder, shape=(8, 8, 4), classes=37, count=400)).tasks[0]


@pytest.fixture(scope="module")
def data(task):
    return load_dataset(task.shards())


def test_the_measures_of_the_paper_are_registered():
    curves = [
        f"{statistic}_{pairing}_l{layer}"
        for statistic in ("gi", "pal", "mean_accuracy")
        for pairing in ("intra", "inter")
        for layer in (0, 1)
    ]
    assert {*curves, "mixup", "manifold_mixup"} <= set(NAMES)


def test_every_measure_is_a_finite_number_and_leaves_the_model_as_it_was(task, data):
    for model_id in task.model_ids:
        model = load_model(task.model_folder(model_id))
        before = [w.copy() for w in model.get_weights()]
        values = complexities(NAMES, **QUICK)(model, data)
        assert set(values) == set(NAMES)
        assert all(type(value) is float and math.isfinite(value) for value in values.values())
        for got, expected in zip(model.get_weights(), before):
            np.testing.assert_array_equal(got, expected)


def test_every_measure_runs_in_the_kits_own_calling_convention(task, data):
    measure = complexities(NAMES, **QUICK)
    for model_id in task.model_ids:
        tf.keras.backend.clear_session()
        plain = measure(load_model(task.model_folder(model_id)), data)
        tf.keras.backend.clear_session()
        assert measure(kit_model(task.model_folder(model_id)), data) == plain


@pytest.fixture(scope="module")
def together(task, data):
    return complexities(NAMES[::-1], **QUICK)(load_model(task.model_folder("0")), data)


@pytest.mark.parametrize("name", NAMES)
def test_a_measure_asked_for_alone_has_the_value_it_has_among_others(name, task, data, together):
    options = {k: v for k, v in QUICK.items() if k in complexity(name).defaults()}
    model = load_model(task.model_folder("0"))
    assert complexity(name, **options)(model, data) == together[name]


def test_the_same_seed_gives_the_same_number_after_other_models(task, data):
    measure = complexities(NAMES, **QUICK)
    first = [measure(load_model(task.model_folder(m)), data) for m in task.model_ids]
    again = [measure(load_model(task.model_folder(m)), data) for m in reversed(task.model_ids)]
    assert again[::-1] == first
    other = complexities(NAMES, **QUICK, seed=1)(load_model(task.model_folder("0")), data)
    assert other != first[0]


def test_a_measure_works_on_vectors_and_on_one_and_three_channels(tmp_path):
    for shape in ((3,), (8, 8, 1), (9, 7, 3)):
        for name, architecture in ARCHITECTURES.items():
            layers = architecture(4) if len(shape) > 1 else architecture(4)[-2:]
            if len(shape) == 1 and name != "vgg":
                continue  # only the end of that one is dense layers
            config = {"model_config": layers, "input_shape": list(shape)}
            train = examples(100, shape, 4)
            model = write_model(tmp_path / f"{name}_{shape}", config, seed=0, data=train)
            names = OF_ANY_DATA if len(shape) == 1 else NAMES
            values = complexities(names, **QUICK)(model, dataset(*train))
            assert all(map(math.isfinite, values.values()))


def test_larger_predicts_a_larger_gap_for_every_measure():
    """A network whose classes are far apart against one with another's labels mixed in: the second
    is less certain between its points, and every measure must say so."""
    rng = np.random.default_rng(0)
    labels = np.arange(400, dtype=np.int32) % 4
    centres = np.eye(4, 8)
    inputs = (centres[labels] + 0.1 * rng.normal(size=(400, 8))).astype(np.float32)

    def model(noise: float) -> tf.keras.Model:
        built = tf.keras.Sequential(
            [tf.keras.layers.Dense(8, activation="relu"), tf.keras.layers.Dense(4)]
        )
        built.build((None, 8))
        first = np.eye(8) + noise * rng.normal(size=(8, 8))
        built.set_weights([first, np.zeros(8), centres.T, np.zeros(4)])
        return built

    data = dataset(inputs, labels)
    names = OF_ANY_DATA
    robust, fragile = (complexities(names, **QUICK)(model(noise), data) for noise in (0.0, 0.8))
    pal = [name for name in names if name.startswith("pal")]  # a ratio: blind to a lost offset
    for name in set(names) - set(pal):
        assert robust[name] < fragile[name], name


def test_a_measure_that_is_not_a_number_is_an_error():
    # A network that is wrong everywhere has no Pal-score: the bottom area is zero.
    model = tf.keras.Sequential([tf.keras.layers.Dense(3)])
    model.build((None, 2))
    model.set_weights([np.zeros((2, 3)), np.array([0.0, 0.0, 1.0])])
    data = dataset(*examples(50, (2,), 2))
    with pytest.raises(MeasureError, match="pal_intra_l0 is nan"):
        complexity("pal_intra_l0", **QUICK)(model, data)


def test_names_and_options_that_do_not_exist_are_answered_with_the_nearest():
    with pytest.raises(UnknownNameError, match=r"unknown measure 'gi_intra'; did you mean gi_intr"):
        complexity("gi_intra")
    with pytest.raises(UnknownNameError, match=r"option of mixup 'batchs'; did you mean batches"):
        complexity("mixup", batchs=3)
    with pytest.raises(UnknownNameError, match="unknown option 'colour'"):
        complexities(["mixup"], colour=3)
    with pytest.raises(PgdlError, match="there is a measure named 'mixup' already"):
        register(Measure("mixup", "", "math:sqrt"))


def test_a_functional_model_has_measures_of_its_input_and_says_why_not_of_layer_1():
    inputs = tf.keras.Input((6,))
    hidden = tf.keras.layers.Dense(6, activation="relu")(inputs)
    skip = tf.keras.layers.add([hidden, inputs])
    model = tf.keras.Model(inputs, tf.keras.layers.Dense(3)(skip))
    data = dataset(*examples(80, (6,), 3))
    assert math.isfinite(complexity("gi_intra_l0", **QUICK)(model, data))
    with pytest.raises(MeasureError, match="not a plain chain"):
        complexity("gi_intra_l1", **QUICK)(model, data)


@pytest.mark.parametrize("name", sorted(set(NAMES) - set(OF_ANY_DATA)))
def test_a_measure_of_images_refuses_other_data(name):
    model = tf.keras.Sequential([tf.keras.layers.Dense(3)])
    model.build((None, 4))
    with pytest.raises(MeasureError, match=r"images; the inputs have shape \[4\]"):
        complexity(name)(model, dataset(*examples(20, (4,), 3)))


@needs_shared
def test_every_measure_runs_on_all_toy_models():
    (toy,) = find_corpus(Path(SHARED / "data" / "pgdl" / "toy_data")).tasks
    data = load_dataset(toy.shards())
    for model_id in toy.model_ids:
        measure = complexities(OF_ANY_DATA, batches=20)  # the toy inputs are vectors
        values = measure(kit_model(toy.model_folder(model_id)), data)
        assert all(map(math.isfinite, values.values()))
