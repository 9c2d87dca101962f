"""The measure contract, for every registered measure."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
import tensorflow as tf
from corpora import (
    ARCHITECTURES,
    dataset,
    examples,
    fit_last_layer,
    write_model,
    write_task,
)
from kit import kit_model
from shared_data import SHARED, needs_shared

from ingestion.corpus import find_corpus
from ingestion.datasets.data import load_dataset
from ingestion.model_files.models import build_model, load_model
from ingestion.zoo.architectures import resnet
from pgdl_measures import MeasureError, complexities, complexity, measures, register
from pgdl_measures.base import IMAGES, INITIAL, Measure, Subject
from pgdl_measures.errors import PgdlError, UnknownNameError

pytestmark = pytest.mark.keras2

NAMES = [measure.name for measure in measures()]
OF_ANY_DATA = [measure.name for measure in measures() if not {IMAGES, INITIAL} & {*measure.needs}]
OF_IMAGES = [measure.name for measure in measures() if IMAGES in measure.needs]
OF_MIXUP = [measure.name for measure in measures() if measure.target.endswith("measures:response")]
QUICK = {"batches": 5, "batch_size": 32}
MODELS = ("model_1", "model_4")  # of one architecture, with batch norm: traced once


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


@pytest.fixture(scope="module")
def values(task, data):
    """All measures of two models, one after the other."""
    return {m: _measured(load_model(task.model_folder(m)), data) for m in MODELS}


def _measured(model: tf.keras.Model, data: tf.data.Dataset, **options: int) -> dict[str, float]:
    """All measures, which must leave the model as it was."""
    before = [weight.copy() for weight in model.get_weights()]
    measured = complexities(NAMES, **QUICK, **options)(model, data)
    for got, expected in zip(model.get_weights(), before):
        np.testing.assert_array_equal(got, expected)
    return measured


def test_every_measure_is_a_finite_number(values):
    for measured in values.values():
        assert set(measured) == set(NAMES)
        assert all(type(value) is float and math.isfinite(value) for value in measured.values())


def test_every_measure_is_the_same_in_the_kits_own_convention_and_after_other_models(
    task, data, values
):
    tf.keras.backend.clear_session()
    assert _measured(kit_model(task.model_folder(MODELS[0])), data) == values[MODELS[0]]


@pytest.mark.parametrize("name", NAMES)
def test_a_measure_asked_for_alone_has_the_value_it_has_among_others(name, task, data, values):
    options = {k: v for k, v in QUICK.items() if k in complexity(name).defaults()}
    model = load_model(task.model_folder(MODELS[0]))
    assert complexity(name, **options)(model, data) == values[MODELS[0]][name]


def test_the_seed_decides(task, data):
    model = load_model(task.model_folder(MODELS[0]))
    first, other = (complexities(OF_MIXUP, **QUICK, seed=seed)(model, data) for seed in (0, 1))
    assert first != other


@pytest.mark.parametrize(
    "names",
    [
        OF_MIXUP,
        pytest.param([*OF_ANY_DATA, *OF_IMAGES], marks=pytest.mark.slow, id="all measures"),
    ],
)
@pytest.mark.parametrize("shape", [(3,), (8, 8, 1), (9, 7, 3)])
def test_measures_work_on_vectors_and_on_one_and_three_channels(names, shape, tmp_path):
    for name, architecture in ARCHITECTURES.items():
        if len(shape) == 1 and name != "vgg":
            continue  # only the end of that one is dense layers
        layers = architecture(4) if len(shape) > 1 else architecture(4)[-2:]
        config = {"model_config": layers, "input_shape": list(shape)}
        train = examples(100, shape, 4)
        model = write_model(tmp_path / name, config, seed=0, data=train)
        apply = [n for n in names if len(shape) > 1 or n in OF_ANY_DATA]
        measured = complexities(apply, **QUICK)(model, dataset(*train))
        assert measured.refusals == {}
        assert all(map(math.isfinite, measured.values()))


def test_larger_predicts_a_larger_gap():
    """A network whose classes are far apart against one with another's labels mixed in: the second
    is less certain between its points, and every measure of mixup must say so."""
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
    robust, fragile = (complexities(OF_MIXUP, **QUICK)(model(noise), data) for noise in (0.0, 0.8))
    for name in OF_MIXUP:
        if not name.startswith("pal"):  # a ratio: blind to a lost offset
            assert robust[name] < fragile[name], name


def test_a_measure_that_is_not_a_number_is_an_error():
    # A network that is wrong everywhere has no Pal-score: the bottom area is zero.
    model = tf.keras.Sequential([tf.keras.layers.Dense(3)])
    model.build((None, 2))
    model.set_weights([np.zeros((2, 3)), np.array([0.0, 0.0, 1.0])])
    data = dataset(*examples(50, (2,), 2))
    with pytest.raises(MeasureError, match="the accuracy is 0; gi of the same"):
        complexity("pal_intra_l0", **QUICK)(model, data)


def test_one_refusal_does_not_cost_the_other_measures():
    model = tf.keras.Sequential([tf.keras.layers.Dense(3)])
    model.build((None, 4))
    data = dataset(*examples(80, (4,), 3))
    found = complexities(["gi_rotation", "mixup", "distance_from_init"], batches=3)(model, data)
    assert found == {"mixup": complexity("mixup", batches=3)(model, data)}
    assert set(found.refusals) == {"gi_rotation", "distance_from_init"}
    assert "this measure needs images" in found.refusals["gi_rotation"]
    with pytest.raises(MeasureError, match="gi_rotation has no value: the inputs have shape"):
        found["gi_rotation"]
    with pytest.raises(KeyError):
        found["vpm"]


def test_a_measure_with_a_bug_does_not_cost_the_others(monkeypatch):
    model = tf.keras.Sequential([tf.keras.layers.Dense(3)])
    model.build((None, 4))
    monkeypatch.setattr("pgdl_measures.norms.output.params", lambda subject: 1 / 0)
    found = complexities(["params", "parameter_count"])(model, dataset(*examples(80, (4,), 3)))
    assert found == {"parameter_count": 15.0}
    assert found.refusals == {"params": "ZeroDivisionError: division by zero"}


def test_names_and_options_that_do_not_exist_are_answered_with_the_nearest():
    with pytest.raises(UnknownNameError, match=r"unknown measure 'gi_intra'; did you mean gi_intr"):
        complexity("gi_intra")
    with pytest.raises(UnknownNameError, match=r"option of mixup 'batchs'; did you mean batches"):
        complexity("mixup", batchs=3)
    with pytest.raises(UnknownNameError, match="unknown option 'colour'"):
        complexities(["mixup"], colour=3)
    with pytest.raises(PgdlError, match="there is a measure named 'mixup' already"):
        register(Measure("mixup", "", "math:sqrt"))


@pytest.fixture(scope="module")
def residual(data):
    """A network with shortcuts, and what every measure says of it or raises."""
    layers = resnet((8, 8, 4), 37, width=4, depth=8)
    model = build_model({"model_config": layers, "input_shape": [8, 8, 4]})
    model.initial_weights = [0.5 * weight for weight in model.get_weights()]
    fit_last_layer(model, *examples(400, (8, 8, 4), 37))
    subject = Subject(model, data)

    def result(measure: Measure) -> float | MeasureError:
        options = {k: v for k, v in QUICK.items() if k in measure.defaults()}
        try:
            return measure.with_options(**options).on(subject)
        except MeasureError as error:
            return error

    return {measure.name: result(measure) for measure in measures()}


@pytest.mark.parametrize("measure", measures(), ids=lambda m: m.name)
def test_a_network_with_shortcuts_has_every_measure(measure, residual):
    found = residual[measure.name]
    assert isinstance(found, float) and math.isfinite(found)


@pytest.mark.parametrize(
    "measure", [m for m in measures() if {IMAGES, INITIAL} & {*m.needs}], ids=lambda m: m.name
)
def test_a_measure_says_what_it_needs_and_does_not_find(measure):
    model = tf.keras.Sequential([tf.keras.layers.Dense(3)])
    model.build((None, 4))
    with pytest.raises(MeasureError, match=measure.needs[0]):
        measure(model, dataset(*examples(20, (4,), 3)))


@pytest.mark.parametrize("labels", [(-1, 2), (0, 3)])
def test_labels_outside_the_outputs_are_named(labels):
    model = tf.keras.Sequential([tf.keras.layers.Flatten(), tf.keras.layers.Dense(3)])
    model.build((None, 4))
    inputs = examples(20, (4,), 3)[0]
    found = dataset(inputs, np.resize(np.array(labels, np.int32), 20))
    expected = rf"labels go from {labels[0]} to {labels[1]}; the model is of 3 classes"
    for name in ("params", "vpm", "dbi", "mixup"):
        with pytest.raises(MeasureError, match=expected):
            complexity(name)(model, found)


@pytest.mark.parametrize(
    "name",
    ["mixup", "gi_noise", "contre_gap", "inverse_margin", "pacbayes_flatness", "sharpness"],
)
def test_outputs_that_are_no_numbers_are_said(name):
    layers = [tf.keras.layers.Flatten(), tf.keras.layers.Dense(2), tf.keras.layers.Dense(3)]
    model = tf.keras.Sequential(layers)
    model.build((None, 8, 8, 1))
    huge = [np.full(w.shape, 3e38, np.float32) for w in model.get_weights()]
    huge[2][1] *= -1  # inf - inf
    model.set_weights(huge)
    inputs, labels = examples(200, (8, 8, 1), 3)
    with pytest.raises(MeasureError, match=r"nan|NaN"):
        complexity(name)(model, dataset(np.abs(inputs), labels))


def _anything() -> tuple[tf.keras.Model, np.ndarray, np.ndarray]:
    model = tf.keras.Sequential([tf.keras.layers.Dense(3)])
    model.build((None, 4))
    return model, *examples(700, (4,), 3)


def test_inputs_that_are_no_numbers_are_named():
    model, inputs, labels = _anything()
    inputs[600, 2] = np.nan
    with pytest.raises(MeasureError, match="inputs of example 600 are NaN or infinite"):
        complexity("mixup")(model, dataset(inputs, labels))


@pytest.mark.parametrize(
    ("inputs", "labels", "message"),
    [
        (1e300, 0, "inputs of example 600 are NaN or infinite, or too large for a float32"),
        (0.0, 2**32, "labels have values such as 4294967296; expected classes 0, 1"),
        (0.0, -(2**32), "labels have values such as -4294967296; expected classes"),
        (0.0, np.datetime64("2026-01-01"), "labels have type datetime64"),
        (np.datetime64("2026-01-01"), 0, "inputs have type datetime64"),
    ],
)
def test_what_a_float32_or_an_int32_does_not_hold_is_told_and_not_made_another_number(
    inputs, labels, message
):
    model, x, y = _anything()
    x, y = x.astype(np.asarray(inputs).dtype), y.astype(np.asarray(labels).dtype)
    x[600], y[600] = inputs, labels
    with pytest.raises(MeasureError, match=message):
        complexity("mixup")(model, (x, y))


def test_what_is_no_model_is_said():
    _, inputs, labels = _anything()
    with pytest.raises(
        MeasureError, match=r"model is of <class 'str'>; expected a built tf.keras.Model"
    ):
        complexity("mixup")("model.keras", dataset(inputs, labels))


@pytest.mark.parametrize("value", [np.float32(0.5), tf.constant(0.5), np.array(0.5)])
def test_a_users_measure_may_return_any_kind_of_number(value, monkeypatch):
    measure = Measure("mine", "", "test_measures:returned")
    monkeypatch.setattr("test_measures.returned", lambda subject: value, raising=False)
    model, inputs, labels = _anything()
    assert measure(model, dataset(inputs, labels)) == 0.5


@needs_shared
@pytest.mark.parametrize(
    "names", [OF_MIXUP, pytest.param(OF_ANY_DATA, marks=pytest.mark.slow, id="all measures")]
)
def test_measures_run_on_all_toy_models(names):
    (toy,) = find_corpus(Path(SHARED / "data" / "pgdl" / "toy_data")).tasks
    data = load_dataset(toy.shards())
    for model_id in toy.model_ids:
        values = complexities(names, batches=20)(kit_model(toy.model_folder(model_id)), data)
        assert values.refusals == {}
        assert all(map(math.isfinite, values.values()))
