"""The synthetic study of Werpachowski et al. 2019, Section 4: linear classifiers in 500 dimensions.

`INDEPENDENT` tests classifiers on fresh data. In `DEPENDENT`, half of the test set is the training
set, and a penalty 10^4 w_1^2 keeps the classifier from using the only feature that matters.

Training is the paper's: cross-entropy, RMSProp with learning rate 0.01, batches of 100, 50,000
steps. What the paper does not say follows TensorFlow 1: decay 0.9, epsilon 1e-10 inside the root,
squares that start at 1. Weights start at 0.

Two things that the paper does not say decide how far training points end up from the boundary, and
hence the smallest eps at which dependence is detected. Both are options:

`loss`, how the cross-entropy is computed in float32:
  probabilities  -log(sigma(z)), z = y (w.x + b): its derivative is 0 where sigma(z) is rounded to
                 1, from 1 - 2^-25 on. Training reaches a loss of "zero (up to numerical
                 precision)" and ends: further steps change only the sign of the penalized w_1,
                 which RMSProp keeps flipping between +-0.005 (10^4 * 0.005^2 is the paper's final
                 loss of 0.25).
  log_loss       TensorFlow 1's `tf.losses.log_loss` of labels 0 and 1: the derivative of a positive
                 example is 0 where sigma is rounded to 1, that of a negative one never is.
  logits         `sigmoid_cross_entropy_with_logits`, or softplus: never 0.
`batches`, how they are drawn:
  epochs         all examples in a random order, again and again
  replacement    each example at random, with replacement

None of the combinations reproduces the paper's mean, median and N-model p at eps = 6 together;
`pgdl study adversarial` prints the interval of each difference.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import tensorflow as tf

from pgdl_measures.adversarial.gradient import Mixture, Projection, project

LOSSES = ("probabilities", "log_loss", "logits")
BATCHES = ("epochs", "replacement")
_RATE, _DECAY, _EPSILON = 0.01, 0.9, 1e-10
_IDLE = 500  # training ends after this many steps in which all derivatives were 0
_PRECISION = 2.0**-25  # 1 - sigma is rounded to 0 where it is smaller
_LOG_LOSS_EPSILON = 1e-7  # what `tf.losses.log_loss` adds to probabilities


@dataclass(frozen=True)
class Experiment:
    """One of the two experiments."""

    name: str
    penalty: float  # on w_1^2
    test: int  # examples of the test set
    reuses: bool  # whether the training set is a part of the test set
    train: int = 500
    steps: int = 50_000
    batch: int = 100
    loss: str = "probabilities"
    batches: str = "epochs"
    mixture: Mixture = field(default_factory=Mixture)


INDEPENDENT = Experiment("independent", penalty=0.0, test=10_000, reuses=False)
DEPENDENT = Experiment("dependent", penalty=1e4, test=1_000, reuses=True)


@dataclass(frozen=True)
class Runs:
    """Repetitions of an experiment, each with its own data and training."""

    test: Projection  # [runs, test]: the test sets
    risk: np.ndarray  # [runs]: errors on large, independent sets
    nearest: np.ndarray  # [runs]: distance from the boundary to the nearest training point


def repeat(
    experiment: Experiment, runs: int, seed: int = 0, step: Callable[[], None] = lambda: None
) -> Runs:
    """Draws, trains and projects; `step` is called after each run."""
    mixture = experiment.mixture
    rngs = [np.random.default_rng((seed, run)) for run in range(runs)]
    training = [mixture.sample(experiment.train, rng) for rng in rngs]
    x, y = map(np.stack, zip(*training))
    weights, biases = train(experiment, x, y, seed)
    tests, risks, nearest = [], [], []
    for rng, part, w, b in zip(rngs, training, weights, biases):
        fresh = mixture.sample(experiment.test - experiment.reuses * experiment.train, rng)
        test = [np.concatenate(both) for both in zip(part, fresh)] if experiment.reuses else fresh
        tests.append(project(mixture, w, b, *test))
        risks.append((project(mixture, w, b, *mixture.sample(10_000, rng)).distance <= 0).mean())
        nearest.append(project(mixture, w, b, *part).distance.min())
        step()
    arrays = {
        name: np.stack([getattr(test, name) for test in tests])
        for name in ("distance", "along", "first", "slope")
    }
    return Runs(Projection(mixture, **arrays), np.array(risks), np.array(nearest))


def train(
    experiment: Experiment, x: np.ndarray, y: np.ndarray, seed: int = 0
) -> tuple[np.ndarray, np.ndarray]:
    """Weights [runs, d] and biases [runs] for training sets x [runs, n, d] with labels y [runs, n].

    All runs are trained in one graph.
    """
    weights, biases = _train(
        tf.constant(x * y[..., None]),
        tf.constant(y),
        tf.constant(experiment.penalty, tf.float32),
        tf.constant(experiment.steps),
        tf.constant(seed),
        experiment.batch,
        experiment.loss,
        experiment.batches,
    )
    return weights.numpy(), biases.numpy()


def derivatives(z: tf.Tensor, y: tf.Tensor, loss: str) -> tf.Tensor:
    """-dc/dz at margins z and labels y, -1 or 1, with the rounding of float32."""
    if loss == "log_loss":
        p = tf.sigmoid(y * z)  # of the label 1
        positive = p * (1 - p) / (p + _LOG_LOSS_EPSILON)
        return tf.where(y > 0, positive, p * (1 - p) / (1 - p + _LOG_LOSS_EPSILON))
    derivative = tf.sigmoid(-z)
    if loss == "probabilities":
        return tf.where(derivative < _PRECISION, 0.0, derivative)
    return derivative


@tf.function
def _train(
    yx: tf.Tensor,
    y: tf.Tensor,
    penalty: tf.Tensor,
    steps: tf.Tensor,
    seed: tf.Tensor,
    batch: int,
    loss: str,
    batches: str,
) -> tuple[tf.Tensor, tf.Tensor]:
    runs, n, dimension = yx.shape
    weights, bias = tf.zeros([runs, dimension]), tf.zeros([runs])
    squares, bias_squares = tf.ones_like(weights), tf.ones_like(bias)
    penalized = 2 * penalty * tf.one_hot(0, dimension)
    idle = step = 0
    order = tf.zeros([runs, n], tf.int32)
    per_epoch = n // batch
    while step < steps and idle < _IDLE:
        tf.autograph.experimental.set_loop_options(parallel_iterations=1)
        place = step % per_epoch
        if batches == "replacement":
            rows = tf.random.stateless_uniform(
                [runs, batch], tf.stack([seed, step]), maxval=n, dtype=tf.int32
            )
        else:
            if place == 0:
                key = tf.stack([seed, step // per_epoch])
                order = tf.argsort(tf.random.stateless_uniform([runs, n], key), axis=1)
            rows = order[:, place * batch : (place + 1) * batch]
        rows = tf.ensure_shape(rows, [runs, batch])
        yx_now = tf.gather(yx, rows, batch_dims=1)  # [runs, batch, d]
        y_now = tf.gather(y, rows, batch_dims=1)
        z = tf.linalg.matvec(yx_now, weights) + y_now * bias[:, None]
        derivative = -derivatives(z, y_now, loss) / batch
        idle = 0 if tf.reduce_any(derivative != 0) else idle + 1
        gradient = tf.linalg.matvec(yx_now, derivative, transpose_a=True)
        gradient += penalized * weights
        bias_gradient = tf.reduce_sum(derivative * y_now, axis=1)
        squares = _DECAY * squares + (1 - _DECAY) * gradient**2
        bias_squares = _DECAY * bias_squares + (1 - _DECAY) * bias_gradient**2
        weights -= _RATE * gradient / tf.sqrt(squares + _EPSILON)
        bias -= _RATE * bias_gradient / tf.sqrt(bias_squares + _EPSILON)
        step += 1
    return weights, bias
