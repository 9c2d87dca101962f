"""`batches="enough"` and curves that grow batch by batch."""

from __future__ import annotations

import time

import numpy as np
import pytest
import tensorflow as tf

from pgdl_measures import complexity
from pgdl_measures.base import Subject
from pgdl_measures.errors import MeasureError
from pgdl_measures.response_curves.shared import computed_curves

pytestmark = pytest.mark.keras2

RNG = np.random.default_rng(0)
INPUTS = RNG.normal(size=(600, 6, 6, 1)).astype(np.float32)
LABELS = (INPUTS.mean(axis=(1, 2, 3)) > 0).astype(np.int32)


def model(noise: float) -> tf.keras.Model:
    """A network that is right about the labels where its weights have little noise."""
    layers = tf.keras.layers
    parts = [layers.Input((6, 6, 1)), layers.Flatten(), layers.Dense(36), layers.Dense(2)]
    net = tf.keras.Sequential(parts)
    weights = np.stack([-np.ones(36), np.ones(36)], axis=1)
    last = weights + noise * RNG.normal(size=(36, 2))
    net.set_weights([np.eye(36), np.zeros(36), last, np.zeros(2)])
    return net


@pytest.mark.parametrize("name", ["gi_intra_l0", "gi_inter_l0", "gi_noise", "gi_noise_l1"])
def test_a_curve_that_grew_is_the_curve_of_all_batches(name):
    dataset = (INPUTS.copy(), LABELS)
    grown = Subject(model(0.5), dataset)
    measure = complexity(name, batch_size=32)
    for batches in (2, 5, 9):
        measure.with_options(batches=batches).on(grown)
    nine = measure.with_options(batches=9)
    assert nine.on(grown) == nine(grown.model, dataset)


@pytest.mark.parametrize("name", ["gi_intra_l0", "mixup", "dbi_mixup", "mean_accuracy_intensity"])
def test_networks_that_differ_much_need_fewer_batches(name):
    dataset = (INPUTS.copy(), LABELS)
    measure = complexity(name, batch_size=16)
    used, errors = [], []
    # The first four set the spread.
    for noise in (0.0, 4.0, 0.5, 8.0, 1.0, 2.0):
        subject = Subject(model(noise), dataset)
        value = measure.with_options(batches="enough").on(subject)
        errors.append(value - measure(subject.model, dataset))
        used.append(subject.batches)
    most = 37 if name == "mean_accuracy_intensity" else 180
    assert used[:4] == [most] * 4
    assert min(used[4:]) < most
    assert np.all(np.array(errors[:4]) == 0)


def test_networks_that_are_alike_get_all_batches():
    dataset, same = (INPUTS.copy(), LABELS), model(0.5)
    measure = complexity("gi_intra_l0", batch_size=16, batches="enough")
    used = []
    for shift in range(6):  # of both outputs, which changes no prediction
        same.set_weights([*same.get_weights()[:3], np.full(2, float(shift))])
        subject = Subject(same, dataset)
        measure.on(subject)
        used.append(subject.batches)
    assert used == [180] * 6


def test_the_seconds_of_a_measure_are_not_counted_twice():
    dataset = (INPUTS.copy(), LABELS)
    measure = complexity("gi_intra_l0", batch_size=16, batches="enough")
    for noise in (0.0, 4.0, 0.5, 8.0, 1.0):
        subject = Subject(model(noise), dataset)
        start = time.perf_counter()
        measure.on(subject)
        # Counted twice they would be all of it; clocks of a busy machine differ a little.
        assert subject.reused_seconds < 0.5 * (time.perf_counter() - start)


def test_a_model_counts_once_whichever_measures_share_its_curve():
    dataset = (INPUTS.copy(), LABELS)
    names = ("mixup", "-mixup", "dbi_mixup")
    for count, noise in enumerate((0.0, 4.0, 0.5), 1):
        subject = Subject(model(noise), dataset)
        for name in names:
            complexity(name, batch_size=16, batches="enough").on(subject)
        assert {len(values) for values in subject.data.seen.values()} == {count}


def test_a_refused_curve_costs_no_other_curve():
    subject = Subject(model(0.5), (INPUTS.copy(), LABELS))
    with pytest.raises(MeasureError):
        complexity("gi_intra_l9", batches=2).on(subject)
    complexity("gi_intra_l0", batches=2).on(subject)
    ((settings, curve),) = computed_curves(subject)
    assert settings["layer"] == 0 and len(curve.magnitudes) == 11


def test_of_a_curve_that_has_more_batches_at_some_magnitudes_these_are_recorded():
    subject = Subject(model(0.5), (INPUTS.copy(), LABELS))
    complexity("gi_intra_l0", batches=2).on(subject)
    complexity("mixup", batches=5).on(subject)
    ((_, curve),) = computed_curves(subject)
    assert curve.magnitudes.tolist() == [0.5] and len(curve.pairs) == 5


def test_another_word_is_refused():
    with pytest.raises(MeasureError, match="batches is 'plenty'; expected"):
        complexity("gi_intra_l0", batches="plenty")
