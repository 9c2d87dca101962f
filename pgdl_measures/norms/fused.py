"""A network with each batch norm fused into the kernel before it (Dziugaite et al. 2020, C.5).

`fusion` says which batch norms are fused into which kernels, and what else is a kernel.

`run` takes the weights as arguments. So perturbed or squared weights never touch a variable, and a
graph traced for one model serves all models of its architecture. A softmax or sigmoid at the end is
left out: `run` returns logits.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from pgdl_measures.base import Subject
from pgdl_measures.errors import MeasureError
from pgdl_measures.network.graph import Call
from pgdl_measures.network.substitution import with_weights
from pgdl_measures.norms.fusion import Plan
from pgdl_measures.norms.initial import initial_weights

_layers = tf.keras.layers
_PREPROCESSING = (_layers.Normalization, _layers.Rescaling)

Weights = list[np.ndarray]


class FusedNetwork:
    """The network of a subject: `kernels`, `biases`, `geometries` in graph order, and `run`.

    Every kernel has a bias here; if the layer has none, `has_bias` is false and the bias is zero.
    """

    def __init__(self, subject: Subject) -> None:
        self._model, self._network = subject.model, subject.network
        plan = Plan(self._network)
        self._entries, self._runs, self._ending = plan.entries, plan.runs, plan.ending
        if not self._entries:
            raise MeasureError("the model has no kernels; its norms are not defined")
        self.geometries = [entry.geometry for entry in self._entries]
        self.has_bias = [
            entry.layer is None or bool(entry.batch_norms) or entry.bias is not None
            for entry in self._entries
        ]
        self.kernels, self.biases = self._fuse([la.get_weights() for la in self._network.sources])

    def initial_kernels(self) -> Weights:
        """The kernels before training, fused in the same way."""
        initial = initial_weights(self._model)
        by_layer = [[initial[n] for n in numbers] for numbers in self._network.weight_numbers]
        return self._fuse(by_layer)[0]

    def run(
        self,
        x: tf.Tensor,
        kernels: Sequence[tf.Tensor],
        biases: Sequence[tf.Tensor],
        *,
        preprocess: bool = True,
    ) -> tf.Tensor:
        """The logits of inputs x with these weights in place of the model's.

        Without `preprocess`, rescaling and normalization layers are skipped.
        """
        values: dict[int, Any] = {0: x}
        for run in self._runs:
            layer = run.call.layer
            if run.skipped or (not preprocess and isinstance(layer, _PREPROCESSING)):
                values[run.call.outputs[0]] = values[run.call.inputs[0]]
            elif run.by_layer:
                weights: dict[int, tf.Tensor] = {}
                for number in run.entries:
                    entry = self._entries[number]
                    weights[entry.kernel] = kernels[number]
                    if entry.bias is not None:
                        weights[entry.bias] = biases[number]
                with_weights(functools.partial(run.call.run, values), layer, weights)
            elif run.entries:
                y = values[run.call.inputs[0]]
                if layer is not None:
                    y = tf.cast(y, layer.compute_dtype)
                for number in run.entries:
                    y = self._entries[number].geometry.apply(y, kernels[number], biases[number])
                values[run.call.outputs[0]] = run.activation(y) if run.activation else y
            else:
                run.call.run(values)
        return self._ending.scores(values[self._runs[-1].call.outputs[0]])

    @property
    def gives_probabilities(self) -> bool:
        """Whether the softmax or sigmoid at the end could not be left out."""
        return self._ending.probabilities

    def calls_beside_kernels(self) -> list[Call]:
        """The calls that `run` leaves to the model's own layers."""
        return [run.call for run in self._runs if run.by_layer or not (run.entries or run.skipped)]

    def signature(self) -> list[list[tf.TensorSpec]]:
        """The specifications of `kernels` and `biases` as arguments of a graph."""
        return [
            [tf.TensorSpec(array.shape, tf.float32) for array in arrays]
            for arrays in (self.kernels, self.biases)
        ]

    def tensors(self) -> list[list[tf.Tensor]]:
        """`kernels` and `biases` as arguments of that graph."""
        return [
            [tf.constant(array, tf.float32) for array in arrays]
            for arrays in (self.kernels, self.biases)
        ]

    def _fuse(self, weights: Sequence[Sequence[np.ndarray]]) -> tuple[Weights, Weights]:
        kernels, biases = [], []
        for entry in self._entries:
            geometry = entry.geometry
            if entry.layer is None:
                kernel, bias = np.ones(geometry.input_shape[-1]), np.zeros(1)
            else:
                arrays = weights[entry.layer]
                kernel = np.asarray(arrays[entry.kernel], np.float64)
                if entry.bias is not None:
                    bias = np.asarray(arrays[entry.bias], np.float64)
                elif geometry.matrix is not None or geometry.depthwise:
                    bias = np.zeros(1)
                else:
                    bias = np.zeros(geometry.output_channels(kernel))
            for number in entry.batch_norms:
                layer = self._network.sources[number]
                scale, shift = _scale_and_shift(layer, weights[number])
                kernel, bias = geometry.scaled(kernel, scale), bias * scale + shift
            kernels.append(kernel)
            biases.append(bias)
        return kernels, biases


def fused_network(subject: Subject) -> FusedNetwork:
    """The fused network of a subject."""
    return subject.share("fused_network", lambda: FusedNetwork(subject))


def _scale_and_shift(
    layer: tf.keras.layers.Layer, weights: Sequence[np.ndarray]
) -> tuple[np.ndarray, np.ndarray]:
    """A batch norm at inference: gamma (x - mean) / sqrt(variance + epsilon) + beta."""
    arrays = [np.asarray(w, np.float64) for w in weights]
    gamma = arrays.pop(0) if layer.scale else 1.0
    beta = arrays.pop(0) if layer.center else 0.0
    mean, variance = arrays
    scale = gamma / np.sqrt(variance + layer.epsilon)
    return scale, beta - mean * scale
