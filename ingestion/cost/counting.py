"""A network that counts the calls of each of its steps, and the examples in them.

The counters are variables, so they are part of every graph that a measure traces: loops and
conditions are counted as they run. Other work of a measure - gradients, augmentations, NumPy - is
not counted.
"""

from __future__ import annotations

import weakref
from dataclasses import dataclass

import numpy as np
import tensorflow as tf

from ingestion.cost.work import Work, step_work
from pgdl_measures.network.blocks import Step
from pgdl_measures.network.compiled import Network


class CountedStep:
    """A step with a counter; its other attributes are those of the step."""

    def __init__(self, step: Step, counter: tf.Variable) -> None:
        self._step, self._counter = step, counter
        self.affine = getattr(step, "affine", False)
        self.layer = getattr(step, "layer", step)

    def __call__(self, x: tf.Tensor) -> tf.Tensor:
        self._counter.assign_add(tf.stack([1, tf.shape(x, tf.int64)[0]]))
        return self._step(x)


@dataclass(frozen=True)
class Passes:
    """How much of a network was run: per step, its work, calls and examples."""

    work: tuple[Work, ...]
    calls: np.ndarray
    examples: np.ndarray

    @property
    def step_flops(self) -> np.ndarray:
        return self.examples * np.array([work.flops for work in self.work])

    @property
    def step_bytes(self) -> np.ndarray:
        per_example = np.array([work.bytes for work in self.work])
        return self.examples * per_example + self.calls * [work.call_bytes for work in self.work]

    @property
    def flops(self) -> float:
        return float(self.step_flops.sum())

    @property
    def bytes(self) -> float:
        return float(self.step_bytes.sum())


class CountedNetwork:
    """A copy of a network with counters, for a measure to run in its place."""

    def __init__(self, network: Network) -> None:
        self._counters: list[tf.Variable] = []
        self.network = network.with_steps(self._counted)
        work, shape = [], network.input_shape
        for step in network.steps:
            step_is, shape = step_work(step, shape)
            work.append(step_is)
        self._work = tuple(work)

    def restart(self) -> None:
        """Sets all counters to zero."""
        for counter in self._counters:
            counter.assign([0, 0])

    def passes(self) -> Passes:
        """What was run since the restart."""
        counts = np.array([counter.numpy() for counter in self._counters])
        return Passes(self._work, counts[:, 0], counts[:, 1])

    def one_pass(self, examples: int) -> Passes:
        """What one call of the whole network on that many examples would count."""
        ones = np.ones(len(self._work), int)
        return Passes(self._work, ones, ones * examples)

    def _counted(self, step: Step) -> CountedStep:
        self._counters.append(tf.Variable(tf.zeros(2, tf.int64), trainable=False))
        return CountedStep(step, self._counters[-1])


_twins: weakref.WeakKeyDictionary[Network, CountedNetwork] = weakref.WeakKeyDictionary()


def counted(network: Network) -> CountedNetwork:
    """The network's twin: one for all models of an architecture, as the network itself."""
    if network not in _twins:
        _twins[network] = CountedNetwork(network)
    return _twins[network]
