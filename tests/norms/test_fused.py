"""Fusing batch norm changes no output, and what cannot be fused is said."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow as tf
from corpora import ARCHITECTURES, dataset, examples, write_model
from kit import kit_model
from nets import conv_net, dense_net, layers, randomized, subject

from pgdl_measures import MeasureError, complexity
from pgdl_measures.base import Subject
from pgdl_measures.norms.fused import FusedNetwork, fused_network

pytestmark = pytest.mark.keras2


def outputs(fused: FusedNetwork, x: np.ndarray) -> np.ndarray:
    return fused.run(tf.constant(x), *fused.tensors()).numpy()


def test_fused_batch_norm_leaves_outputs_unchanged():
    model = conv_net()
    x = examples(10, (7, 8, 2), 3)[0]
    fused = fused_network(subject(model))
    np.testing.assert_allclose(outputs(fused, x), model(x, training=False), rtol=1e-4, atol=1e-4)
    # Two convolutions with their batch norms, the batch norm after an activation, the dense layer.
    assert [kernel.ndim for kernel in fused.kernels] == [4, 4, 1, 2]


@pytest.mark.parametrize(
    "between",
    [
        layers.Activation("linear"),
        layers.ActivityRegularization(l2=0.1),
        layers.SpatialDropout1D(0.5),
        *([layers.AlphaDropout(0.5)] if hasattr(layers, "AlphaDropout") else []),
    ],
    ids=lambda layer: type(layer).__name__,
)
def test_what_does_nothing_at_inference_does_not_stand_in_the_way(between):
    chain = [layers.Conv1D(4, 3), between, layers.BatchNormalization(), layers.Flatten()]
    model = randomized(tf.keras.Sequential([*chain, layers.Dense(3)]), (6, 2))
    x = examples(10, (6, 2), 3)[0]
    fused = fused_network(subject(model))
    np.testing.assert_allclose(outputs(fused, x), model(x, training=False), rtol=1e-4, atol=1e-4)
    assert [kernel.ndim for kernel in fused.kernels] == [3, 2]


@pytest.mark.parametrize("axis", [1, 2, 3])
@pytest.mark.parametrize("before", [0, 1])
def test_batch_norm_over_any_axis_leaves_outputs_unchanged(before, axis):
    chain = [layers.Conv2D(4, 3, padding="same")][:before]
    chain += [layers.BatchNormalization(axis=axis), layers.Flatten(), layers.Dense(3)]
    model = randomized(tf.keras.Sequential(chain), (4, 4, 4))
    x = examples(10, (4, 4, 4), 3)[0]
    fused = fused_network(subject(model))
    np.testing.assert_allclose(outputs(fused, x), model(x, training=False), rtol=1e-4, atol=1e-4)
    assert complexity("param_norm").on(subject(model)) > 0


@pytest.mark.parametrize(
    "layer",
    [layers.SeparableConv2D(3, 3), layers.DepthwiseConv2D(3, use_bias=False)],
    ids=lambda layer: type(layer).__name__,
)
def test_a_depthwise_kernel_needs_no_bias(layer):
    chain = [layer, layers.ReLU(), layers.Flatten(), layers.Dense(3)]
    model = randomized(tf.keras.Sequential(chain), (5, 5, 2))
    x = examples(10, (5, 5, 2), 3)[0]
    fused = fused_network(subject(model))
    np.testing.assert_allclose(outputs(fused, x), model(x, training=False), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("name", ARCHITECTURES)
def test_the_kits_wrapped_layers_are_fused_like_plain_ones(name, tmp_path):
    config = {"model_config": ARCHITECTURES[name](5), "input_shape": [8, 8, 3]}
    write_model(tmp_path / "model_0", config, seed=1)
    train = examples(20, (8, 8, 3), 5)
    model = kit_model(tmp_path / "model_0")
    fused = fused_network(Subject(model, dataset(*train)))
    expected = tf.keras.Sequential.__call__(model, train[0], training=False)
    np.testing.assert_allclose(outputs(fused, train[0]), expected, rtol=1e-3, atol=1e-3)


def test_initial_kernels_are_fused_like_the_trained_ones():
    model = conv_net()
    expected = fused_network(subject(model)).initial_kernels()
    model.set_weights(model.initial_weights)
    for got, kernel in zip(expected, fused_network(subject(model)).kernels):
        np.testing.assert_allclose(got, kernel, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("softmax", ["fused", "layer"])
def test_a_softmax_at_the_end_is_left_out(softmax):
    plain = dense_net()
    if softmax == "fused":
        model = dense_net(activation="softmax")
    else:
        chain = [layers.Dense(5, activation="relu"), layers.Dense(3), layers.Softmax()]
        model = randomized(tf.keras.Sequential(chain), (4,))
    x = examples(10, (4,), 3)[0]
    np.testing.assert_allclose(outputs(fused_network(subject(model)), x), plain(x), rtol=1e-5)
    measures = ("inverse_margin", "path_norm")
    for name in measures:
        ours = complexity(name).on(subject(model))
        assert ours == pytest.approx(complexity(name).on(subject(plain)), rel=1e-4)


def test_models_without_norms_are_told_why():
    inputs = tf.keras.Input((6,))
    without = tf.keras.Model(inputs, layers.add([inputs, inputs]))
    with pytest.raises(MeasureError, match="the model has no kernels"):
        complexity("param_norm").on(subject(without))


def test_measures_of_the_distance_from_initialization_say_that_they_need_it():
    model = dense_net()
    del model.initial_weights
    for name in ("fro_dist", "dist_spec_init", "log_spec_init_main", "pacbayes_mag_orig"):
        with pytest.raises(
            MeasureError, match=r"needs the initial weights, .* set model.initial_weights"
        ):
            complexity(name).on(subject(model))
    model.initial_weights = [np.zeros((2, 2))]
    with pytest.raises(MeasureError, match=r"the initial weights have shapes \[\(2, 2\)\]"):
        complexity("fro_dist").on(subject(model))
