"""Counters see what a measure runs, inside its graphs, and change nothing."""

from __future__ import annotations

import corpora
import numpy as np
import pytest
import tensorflow as tf

from ingestion.cost.counting import counted
from ingestion.model_files.models import build_model
from pgdl_measures import complexity
from pgdl_measures.base import Subject
from pgdl_measures.perturbations.mixup import draw_batches, draw_pairs
from pgdl_measures.response_curves.curves import mixup_curve

pytestmark = pytest.mark.keras2

SHAPE, CLASSES = (8, 8, 3), 5


@pytest.fixture(scope="module")
def subject():
    inputs, labels = corpora.examples(100, SHAPE, CLASSES)
    config = {"model_config": corpora.vgg(CLASSES), "input_shape": list(SHAPE)}
    return Subject(build_model(config), corpora.dataset(inputs, labels))


def test_one_pass_is_counted_once_for_every_step(subject):
    twin = counted(subject.network)
    twin.restart()
    twin.network.run(subject.data.inputs[:7])
    passes, expected = twin.passes(), twin.one_pass(7)
    np.testing.assert_array_equal(passes.calls, expected.calls)
    np.testing.assert_array_equal(passes.examples, expected.examples)
    assert passes.flops == expected.flops == 7 * twin.one_pass(1).flops


def test_passes_in_a_loop_of_a_graph_are_counted_as_often_as_they_run(subject):
    twin = counted(subject.network)

    @tf.function
    def loop(times):
        for _ in tf.range(times):
            twin.network.run(subject.data.inputs[:3])

    twin.restart()
    loop(tf.constant(5))
    assert set(twin.passes().calls) == {5}
    assert set(twin.passes().examples) == {15}


@pytest.mark.parametrize("magnitudes", [(0.5,), (0.0, 0.25, 0.5)])
def test_a_mixup_curve_is_counted_as_pairs_times_magnitudes(subject, magnitudes):
    twin = counted(subject.network)
    twin.restart()
    mixup_curve(
        twin.network, subject.data, magnitudes, pairing="intra", layer=0, batches=4, batch_size=32
    )
    order = draw_batches(*map(tf.constant, (100, 4, 32, [0, 0])))
    pairs = draw_pairs(subject.data.labels, order, "intra")
    ends = {*pairs.first.numpy(), *pairs.second.numpy()}
    # At magnitude 0 each first end is seen once, in however many pairs it is.
    unperturbed = len(set(pairs.first.numpy())) if magnitudes[0] == 0 else 0
    first, *rest = twin.passes().examples
    # The first convolution commutes with mixing, so that each end passes it once; its activation
    # does not, and comes with all that follows.
    assert first == len(ends) + unperturbed
    mixed = sum(alpha > 0 for alpha in magnitudes)
    assert set(rest) == {mixed * len(pairs.first) + unperturbed}


def test_counting_does_not_change_a_value(subject):
    measure = complexity("gi_inter_l1", batches=4, batch_size=32)
    plain = measure.on(subject)
    other = Subject(subject.model, corpora.dataset(*corpora.examples(100, SHAPE, CLASSES)))
    other.network = counted(other.network).network
    assert measure.on(other) == plain
