"""The features of a network: the inputs of its layers, for some of the examples."""

from __future__ import annotations

from typing import Any

import numpy as np
import tensorflow as tf

from pgdl_measures.base import Subject
from pgdl_measures.network.compiled import Network


def layer_inputs(subject: Subject) -> list[int]:
    """The steps of the network at which its layers begin."""
    return [subject.network.entry(number) for number in range(len(subject.network.layers))]


def first_output(subject: Subject, *options: str) -> int | None:
    """The step after the first layer of which some part has one of these options (None: the
    network's end).

    Where no layer has them, it is the first layer of all.
    """
    layers = subject.network.layer_configs()
    having = [i for i, parts in enumerate(layers) if any(set(options) & set(p) for p in parts)]
    after = (having[0] if having else 0) + 1
    return subject.network.entry(after) if after < len(layers) else None


def features(
    subject: Subject, inputs: tf.Tensor, steps: tuple[int | None, ...], pool: int = 1
) -> list[np.ndarray]:
    """What enters each of these steps, for inputs [n, ...]: arrays [n, features].

    Maps of features are reduced to the maxima of `pool` x `pool` squares.
    """
    network = subject.network
    graph = network.graph(("features", steps, pool), lambda: _build(network, steps, pool))
    batches = [
        graph(inputs[start : start + network.forward_batch])
        for start in range(0, int(inputs.shape[0]), network.forward_batch)
    ]
    return [np.concatenate(parts) for parts in zip(*batches)]


def _build(network: Network, steps: tuple[int | None, ...], pool: int) -> Any:
    @tf.function(input_signature=[tf.TensorSpec([None, *network.input_shape], tf.float32)])
    def compute(x: tf.Tensor) -> list[tf.Tensor]:
        found: list[tf.Tensor] = []
        before = 0
        for step in steps:
            x = network.run(x, before, step)
            before = step if step is not None else before
            single = tf.cast(x, tf.float32)
            pooled = _pooled(single, pool) if pool > 1 and len(x.shape) == 4 else single
            found.append(tf.reshape(pooled, [tf.shape(x)[0], -1]))
        return found

    return compute


def _pooled(x: tf.Tensor, pool: int) -> tf.Tensor:
    size = [min(pool, x.shape[1]), min(pool, x.shape[2])]
    return tf.nn.max_pool2d(x, size, size, "VALID")
