"""Optimizers as plain TensorFlow operations: the same numbers under every version of Keras.

Each has the state of one training, which `reset` sets to zero, and changes all variables by
`apply`, inside a traced function.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

import tensorflow as tf

BETA_1, BETA_2, EPSILON = 0.9, 0.999, 1e-7


class Optimizer(Protocol):
    """Changes variables by their gradients."""

    def reset(self) -> None: ...

    def apply(
        self, gradients: Sequence[tf.Tensor], step: tf.Tensor, settings: Mapping[str, tf.Tensor]
    ) -> None:
        """One step; `settings` has `learning_rate` and `momentum`, and steps count from 0."""


class Adam:
    """Kingma and Ba 2015, with the constants of Keras; it has no use for the momentum."""

    def __init__(self, variables: Sequence[tf.Variable]) -> None:
        self._variables = variables
        self._first, self._second = (_zeros(variables) for _ in range(2))

    def reset(self) -> None:
        _clear([*self._first, *self._second])

    def apply(
        self, gradients: Sequence[tf.Tensor], step: tf.Tensor, settings: Mapping[str, tf.Tensor]
    ) -> None:
        time = tf.cast(step + 1, tf.float32)
        for variable, m, v, gradient in zip(self._variables, self._first, self._second, gradients):
            tf.raw_ops.ResourceApplyAdam(
                var=variable.handle,
                m=m.handle,
                v=v.handle,
                beta1_power=tf.pow(BETA_1, time),
                beta2_power=tf.pow(BETA_2, time),
                lr=settings["learning_rate"],
                beta1=BETA_1,
                beta2=BETA_2,
                epsilon=EPSILON,
                grad=gradient,
            )


class Sgd:
    """Gradient descent with momentum in the form of PyTorch: v = m v + g, w = w - rate v."""

    def __init__(self, variables: Sequence[tf.Variable]) -> None:
        self._variables, self._velocity = variables, _zeros(variables)

    def reset(self) -> None:
        _clear(self._velocity)

    def apply(
        self, gradients: Sequence[tf.Tensor], step: tf.Tensor, settings: Mapping[str, tf.Tensor]
    ) -> None:
        for variable, velocity, gradient in zip(self._variables, self._velocity, gradients):
            tf.raw_ops.ResourceApplyMomentum(
                var=variable.handle,
                accum=velocity.handle,
                lr=settings["learning_rate"],
                grad=gradient,
                momentum=settings["momentum"],
            )


OPTIMIZERS: Mapping[str, Callable[[Sequence[tf.Variable]], Optimizer]] = {"adam": Adam, "sgd": Sgd}


def _zeros(variables: Sequence[tf.Variable]) -> list[tf.Variable]:
    return [tf.Variable(tf.zeros_like(variable)) for variable in variables]


def _clear(variables: Sequence[tf.Variable]) -> None:
    for variable in variables:
        variable.assign(tf.zeros_like(variable))
