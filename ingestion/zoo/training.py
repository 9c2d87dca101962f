"""Training of one network until it fits its training data, compiled and the same every time.

The competition's models fit their training data almost perfectly, and measures are compared only
among such models: training ends at the first epoch after which the network, as it will be used
(no dropout, moving averages), meets the target on the whole training set.

Everything random - initial weights, order of the data, dropout, augmentation - is drawn from the
model's seed by stateless generators, so a model does not depend on what was trained before it.
Weight decay is the gradient of `decay / 2 * |w|^2` on the kernels.
"""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import tensorflow as tf

from ingestion.errors import ZooError
from ingestion.model_files.models import build_model
from ingestion.zoo.augment import Augmentation
from ingestion.zoo.dropout import SeededDropout
from ingestion.zoo.optimizers import OPTIMIZERS, Optimizer
from ingestion.zoo.schedules import LearningRate, Schedule

_EVALUATION_BATCH = 500

Weights = list[np.ndarray]


@dataclass(frozen=True)
class Target:
    """What ends the training: at least this accuracy and at most this mean cross-entropy."""

    accuracy: float = 0.0
    loss: float = math.inf


@dataclass(frozen=True)
class Recipe:
    """How one network is trained."""

    seed: int
    learning_rate: float
    weight_decay: float
    max_epochs: int
    target: Target
    momentum: float = 0.9  # of the optimizer that has one
    schedule: Schedule = field(default_factory=Schedule)


@dataclass(frozen=True)
class Fit:
    """How well a network fits some data."""

    accuracy: float
    loss: float


@dataclass(frozen=True)
class Trained:
    """A trained network: its weights before and after, and how it came to them."""

    initial: Weights
    final: Weights
    train: Fit
    epochs: int
    reached: bool
    seconds: float


class Trainer:
    """Networks of one configuration on one training set: compiled once, trained many times."""

    def __init__(
        self,
        config: Mapping[str, Any],
        images: np.ndarray,
        labels: np.ndarray,
        batch_size: int,
        augmentation: Augmentation | None = None,
        optimizer: str = "adam",
    ) -> None:
        self.model = build_model(config)
        self._dropout = SeededDropout(self.model)
        self._augmentation = augmentation
        self._images, self._labels = tf.constant(images), tf.constant(labels, tf.int32)
        self._batch = min(batch_size, len(images))
        self._variables = [_variable(w) for w in self.model.trainable_weights]
        self._optimizer: Optimizer = OPTIMIZERS[optimizer](self._variables)
        self._fresh = self.model.get_weights()
        self._compiled_epoch = tf.function(self._epoch)
        self._compiled_evaluate = tf.function(
            self._evaluate,
            input_signature=[
                tf.TensorSpec([None, *images.shape[1:]], tf.float32),
                tf.TensorSpec([None], tf.int32),
                tf.TensorSpec([], tf.int32),
                tf.TensorSpec([], tf.float32),
            ],
        )

    def train(self, recipe: Recipe) -> Trained:
        """Trains from new initial weights; the model is left with the final ones."""
        start = time.monotonic()
        initial = _initial_weights(self.model, self._fresh, recipe.seed)
        self.model.set_weights(initial)
        self._optimizer.reset()
        rate = LearningRate(recipe.learning_rate, recipe.schedule, recipe.max_epochs)
        for epoch in range(recipe.max_epochs):
            order = np.random.default_rng((recipe.seed, epoch)).permutation(len(self._images))
            settings = {
                "learning_rate": rate.of(epoch),
                "momentum": recipe.momentum,
                "weight_decay": recipe.weight_decay,
            }
            loss = self._compiled_epoch(
                tf.constant(order, tf.int32),
                tf.constant(epoch),
                tf.constant(recipe.seed),
                {name: tf.constant(value, tf.float32) for name, value in settings.items()},
            )
            rate.after(float(loss))
            fit = self._fit_within(recipe.target)
            if fit is not None:
                return self._trained(initial, fit, epoch + 1, True, start)
        fit = self.fit(self._images, self._labels)
        return self._trained(initial, fit, recipe.max_epochs, False, start)

    def fit(self, images: np.ndarray, labels: np.ndarray) -> Fit:
        """Accuracy and mean cross-entropy of the network as it is now."""
        seen, correct, loss = self._counts(images, labels, len(images), math.inf)
        return Fit(correct / seen, loss / seen)

    def _fit_within(self, target: Target) -> Fit | None:
        """The fit to the training data if it meets the target.

        The pass over the data ends as soon as the target is out of reach, so asking after every
        epoch costs little.
        """
        n = len(self._images)
        errors = n - math.ceil(target.accuracy * n - 1e-9)
        seen, correct, loss = self._counts(self._images, self._labels, errors, target.loss * n)
        if seen < n or n - correct > errors or loss > target.loss * n:
            return None
        return Fit(correct / n, loss / n)

    def _counts(
        self, images: np.ndarray, labels: np.ndarray, max_errors: int, max_loss: float
    ) -> tuple[int, int, float]:
        seen, correct, loss = self._compiled_evaluate(images, labels, max_errors, max_loss)
        if not math.isfinite(float(loss)):
            raise ZooError(
                f"training diverged: the loss is {float(loss)}; try a smaller learning rate"
            )
        return int(seen), int(correct), float(loss)

    def _trained(
        self, initial: Weights, fit: Fit, epochs: int, reached: bool, start: float
    ) -> Trained:
        seconds, final = time.monotonic() - start, self.model.get_weights()
        # On some processors a relu makes zeros of NaNs, and the loss stays finite.
        if not all(np.isfinite(weight).all() for weight in final):
            raise ZooError("training diverged: weights are NaN; try a smaller learning rate")
        return Trained(initial, final, fit, epochs, reached, seconds)

    def _epoch(
        self,
        order: tf.Tensor,
        epoch: tf.Tensor,
        seed: tf.Tensor,
        settings: Mapping[str, tf.Tensor],
    ) -> tf.Tensor:
        """One pass over the data in the given order, and the mean loss of its batches; the last,
        smaller batch is left out."""
        steps = len(self._images) // self._batch
        total = 0.0
        for i in tf.range(steps):
            rows = tf.slice(order, [i * self._batch], [self._batch])
            step = epoch * steps + i
            images = tf.gather(self._images, rows)
            if self._augmentation is not None:
                images = self._augmentation(images, tf.stack([seed, step]))
            self._dropout.seed, self._dropout.step = seed, step
            with tf.GradientTape() as tape:
                logits = self.model(images, training=True)
                losses = tf.nn.sparse_softmax_cross_entropy_with_logits(
                    tf.gather(self._labels, rows), logits
                )
                loss = tf.reduce_mean(losses)
            gradients = tape.gradient(loss, self._variables)
            decayed = [
                gradient + settings["weight_decay"] * variable
                if variable.shape.rank > 1
                else gradient
                for variable, gradient in zip(self._variables, gradients)
            ]
            self._optimizer.apply(decayed, step, settings)
            total += loss
        return total / tf.cast(steps, tf.float32)

    def _evaluate(
        self, images: tf.Tensor, labels: tf.Tensor, max_errors: tf.Tensor, max_loss: tf.Tensor
    ) -> tuple[tf.Tensor, tf.Tensor, tf.Tensor]:
        """Examples seen, correct ones and the sum of losses, until one limit is passed."""
        n = tf.shape(images)[0]
        seen, correct, loss = 0, 0, 0.0
        while seen < n and seen - correct <= max_errors and loss <= max_loss:
            stop = tf.minimum(n, seen + _EVALUATION_BATCH)
            logits = self.model(images[seen:stop], training=False)
            losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels[seen:stop], logits)
            hits = tf.argmax(logits, axis=-1, output_type=tf.int32) == labels[seen:stop]
            correct += tf.reduce_sum(tf.cast(hits, tf.int32))
            loss += tf.reduce_sum(losses)
            seen = stop
        return seen, correct, loss


def _initial_weights(model: tf.keras.Model, fresh: Weights, seed: int) -> Weights:
    """He-normal kernels; biases and batch normalization as Keras makes them."""
    rng = np.random.default_rng(seed)
    return [
        rng.normal(0.0, math.sqrt(2 / fan), w.shape).astype(np.float32) if fan else w
        for w, fan in zip(fresh, _fans(model))
    ]


def _fans(model: tf.keras.Model) -> list[int]:
    """The inputs of one output for each weight, and 0 for what is no kernel. The weights of a
    depthwise convolution see one channel each."""
    depthwise = {
        id(layer.weights[0])
        for layer in model.layers
        if isinstance(layer, tf.keras.layers.DepthwiseConv2D)
    }
    return [
        math.prod(w.shape[:2] if id(w) in depthwise else w.shape[:-1]) if len(w.shape) > 1 else 0
        for w in model.weights
    ]


def _variable(weight: Any) -> tf.Variable:
    return weight if isinstance(weight, tf.Variable) else weight.value  # Keras 2, Keras 3
