"""Curves of perturbed images: what networks that ignore a perturbation show, and that users' own
perturbations work everywhere."""

from __future__ import annotations

import sys
from types import ModuleType

import numpy as np
import pytest
import tensorflow as tf
from corpora import dataset, examples, write_task

from ingestion.corpus import find_corpus
from ingestion.run.executors.measuring import Measuring
from ingestion.run.plan import Job
from pgdl_measures import MeasureError, complexity
from pgdl_measures.base import Subject
from pgdl_measures.errors import PgdlError, UnknownNameError
from pgdl_measures.own_perturbations import register_perturbation
from pgdl_measures.perturbations.catalogue import perturbation
from pgdl_measures.perturbations.value_range import value_range
from pgdl_measures.response_curves.invariance import response_curve
from pgdl_measures.response_curves.perturbation_curves import perturbation_curve

pytestmark = pytest.mark.keras2

QUICK = {"batches": 2, "batch_size": 32}


def linear(kernel: np.ndarray) -> tf.keras.Model:
    """Classes whose scores are sums of pixels times a kernel [h, w, c, classes]."""
    model = tf.keras.Sequential([tf.keras.layers.Flatten(), tf.keras.layers.Dense(kernel.shape[3])])
    model.build((None, *kernel.shape[:3]))
    model.set_weights([kernel.reshape(-1, kernel.shape[3]), np.zeros(kernel.shape[3])])
    return model


def halves() -> tuple[np.ndarray, np.ndarray]:
    """Pictures of one random tint each that are brighter on the left (class 0) or on the right
    (class 1), of middle values but for two corners, which make the range of values known."""
    rng = np.random.default_rng(0)
    labels = np.arange(64, dtype=np.int32) % 2
    left = np.where(np.arange(8) < 4, 0.6, 0.4)
    grey = np.where(labels[:, None, None], left[::-1], left) + rng.uniform(-0.05, 0.05, (64, 8, 8))
    pictures = grey[..., None] * rng.uniform(0.5, 1.0, (64, 1, 1, 3))
    pictures[:, 0, 0], pictures[:, 0, 7] = 0.0, 1.0
    return pictures.astype(np.float32), labels


LEFT_OR_RIGHT = np.zeros((8, 8, 3, 2), np.float32)
LEFT_OR_RIGHT[1:, :4, :, 0] = LEFT_OR_RIGHT[1:, 4:, :, 1] = 1.0
RED_OR_BLUE = np.zeros((8, 8, 3, 2), np.float32)
RED_OR_BLUE[1:, :, 0, 0] = RED_OR_BLUE[1:, :, 2, 1] = 1.0


def test_the_curve_of_a_model_that_ignores_colour_is_flat_under_jitter():
    subject = Subject(linear(LEFT_OR_RIGHT), dataset(*halves()))
    assert (response_curve(subject, "colour_jitter", **QUICK).accuracy == 1.0).all()
    assert complexity("gi_colour_jitter", **QUICK).on(subject) == pytest.approx(0, abs=1e-12)
    # It is as blind to the order of rows, but not to left and right.
    assert (response_curve(subject, "intensity", **QUICK).accuracy == 1.0).all()
    turned = response_curve(subject, "rotation", **QUICK)
    assert turned.accuracy[0] < 0.1 and turned.accuracy[10] == 1.0
    assert complexity("gi_rotation", **QUICK).on(subject) > 0.2


def test_the_curve_of_a_model_that_sees_nothing_but_colour_falls_under_jitter():
    """More red than blue is half of the circle of hues, which jitter turns by up to a quarter."""
    pictures, _ = halves()
    red, _, blue = pictures[:, 1:].sum(axis=(1, 2)).T
    subject = Subject(linear(RED_OR_BLUE), dataset(pictures, (blue > red).astype(np.int32)))
    jittered = response_curve(subject, "colour_jitter", **QUICK).accuracy
    assert jittered[10] == 1.0
    assert jittered[[0, -1]] == pytest.approx(0.5, abs=0.2)
    assert (response_curve(subject, "intensity", **QUICK).accuracy == 1.0).all()


def test_a_curve_is_that_of_a_loop_over_magnitudes_and_examples():
    inputs, labels = examples(40, (6, 5, 3), 3)
    model = linear(np.random.default_rng(1).normal(size=(6, 5, 3, 3)).astype(np.float32))
    subject = Subject(model, dataset(inputs, labels))
    found = perturbation_curve(
        subject.network,
        subject.data,
        value_range(subject.data.inputs),
        perturbation("rotation90"),
        [-30.0, 0.0, 45.0],
        batches=99,
        batch_size=10,
    )
    low, high = inputs.min(axis=(0, 1, 2)), inputs.max(axis=(0, 1, 2))
    assert found.pairs.sum(axis=0).tolist() == [40, 40, 40]  # every example once
    for i, alpha in enumerate((-30.0, 0.0, 45.0)):
        alphas = tf.fill([40, 1, 1, 1], alpha)
        turned = perturbation("rotation").function((inputs - low) / (high - low), alphas, None)
        outputs = model(turned * (high - low) + low).numpy()
        assert found.correct[:, i].sum() == (outputs.argmax(axis=1) == labels).sum()


def test_intensity_is_a_factor_of_the_inputs_themselves():
    """A network with a bias, on standardized inputs: scaling from the darkest value is another."""
    inputs, labels = examples(40, (6, 5, 3), 3)
    inputs = (inputs - inputs.mean()) / inputs.std()
    model = linear(np.random.default_rng(1).normal(size=(6, 5, 3, 3)).astype(np.float32))
    model.layers[-1].bias.assign([0.5, -0.5, 0.0])
    subject = Subject(model, dataset(inputs, labels))
    found = perturbation_curve(
        subject.network,
        subject.data,
        value_range(subject.data.inputs),
        perturbation("intensity"),
        [-0.5, 0.0, 0.5],
        batches=99,
        batch_size=10,
    )
    for i, alpha in enumerate((-0.5, 0.0, 0.5)):
        outputs = model(inputs * (1 + alpha)).numpy()
        assert found.correct[:, i].sum() == (outputs.argmax(axis=1) == labels).sum()


def test_the_baselines_are_the_means_over_the_range():
    subject = Subject(linear(LEFT_OR_RIGHT), dataset(*halves()))
    curve = response_curve(subject, "rotation", **QUICK)
    assert complexity("mean_accuracy_rotation", **QUICK).on(subject) == -curve.accuracy.mean()
    drawn = complexity("augmented_accuracy_rotation", **QUICK).on(subject)
    assert drawn == pytest.approx(-curve.accuracy.mean(), abs=0.15)


def test_a_standardized_copy_of_the_data_has_the_same_curve():
    """Black and white are where the data has them, not at 0 and 1."""
    inputs, labels = halves()
    plain = Subject(linear(LEFT_OR_RIGHT), dataset(inputs, labels))
    scaled = Subject(linear(LEFT_OR_RIGHT), dataset(4 * inputs - 3, labels))
    for name in ("rotation", "noise", "translation_x"):
        curves = [response_curve(s, name, **QUICK).accuracy for s in (plain, scaled)]
        np.testing.assert_allclose(curves[0], curves[1], atol=0.02)


@pytest.fixture
def own(registries, monkeypatch):
    """A user's module, with a perturbation of one line."""
    module = ModuleType("my_perturbations")

    def darker(images, magnitude, rng):
        return images * (1 - magnitude)

    darker.__module__ = module.__name__
    module.darker = darker  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, module.__name__, module)
    register_perturbation(darker, 0.0, 1.0)
    return darker


def test_a_perturbation_of_ones_own_has_a_curve_measures_and_a_place_in_the_record(own, tmp_path):
    from ingestion.run.chosen import choose_measures

    assert perturbation("my_perturbations:darker").function is own
    (measure,) = choose_measures(["my_perturbations:gi_darker"], QUICK)
    assert measure.fixed == {"perturbation": "my_perturbations:darker", "layer": 0}
    (task,) = find_corpus(write_task(tmp_path / "task")).tasks
    job = Job("task", "model_0", task.model_folder("0"), tuple(task.shards()), (measure,), "", 9.0)
    *_, measured, finished = Measuring().run(job)
    assert 0 < measured.value < 1
    (curve,) = finished.curves
    assert curve.perturbation == "darker" and curve.layer == 0
    assert curve.magnitudes[0] == 0.0 and curve.magnitudes[-1] == 1.0


def test_names_and_ranges_are_checked(own):
    with pytest.raises(UnknownNameError, match="perturbation 'rotaton'; did you mean rotation"):
        perturbation("rotaton")
    with pytest.raises(PgdlError, match="there is no module 'no_such_module' of perturbations"):
        perturbation("no_such_module:blur")
    with pytest.raises(PgdlError, match="there is a perturbation named 'darker' already"):
        register_perturbation(own, 0.0, 1.0)

    def brighter(images, magnitude, rng):
        return images * magnitude

    with pytest.raises(
        PgdlError, match=r"brighter goes from 0\.5 to 2\.0, which does not contain 0"
    ):
        register_perturbation(brighter, 0.5, 2.0)
    with pytest.raises(UnknownNameError):
        perturbation("brighter")


def test_measures_share_their_curve_and_say_what_is_wrong():
    subject = Subject(linear(LEFT_OR_RIGHT), dataset(*halves()))
    complexity("gi_noise", **QUICK).on(subject)
    assert subject.reused_seconds == 0
    complexity("mean_accuracy_noise", **QUICK).on(subject)
    assert subject.reused_seconds > 0
    with pytest.raises(MeasureError, match="batches is 0; expected an integer of at least 1"):
        complexity("augmented_accuracy_noise", batches=0).on(subject)
    with pytest.raises(MeasureError, match="points is 1; expected an integer of at least 2"):
        complexity("gi_noise", points=1)(linear(LEFT_OR_RIGHT), dataset(*halves()))
