"""A Keras callback that follows measures during training, without a validation set.

The values join the logs of an epoch, where TensorBoard, CSVLogger, ModelCheckpoint and
EarlyStopping find them. Give it to `fit` before those callbacks: Keras calls them in order.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import tensorflow as tf
from absl import logging

from pgdl_measures.accuracy import accuracy
from pgdl_measures.base import Dataset, Measure, Subject, input_rank
from pgdl_measures.data import DEFAULT_MAX_BYTES, TrainingData, training_data
from pgdl_measures.errors import MeasureError, NotFiniteError
from pgdl_measures.network.compiled import Network
from pgdl_measures.ranking.predictions import MIDDLE, changed_accuracy
from pgdl_measures.ranking.recommended import limited
from pgdl_measures.registry import complexity
from pgdl_measures.several import with_shared_options

PREDICTED = "predicted_accuracy"
_SHORT = 1.0  # seconds that are not worth a warning


class GapMonitor(tf.keras.callbacks.Callback):
    """Puts measures of the model into the logs at the end of every `every`-th epoch.

    `dataset` is the training data as the model takes them, in any form that `complexity` takes. A
    random sample of `examples` of them is used, which bounds the cost: `mixup` takes about one
    forward pass over as many. In epochs between two measurements the last values are repeated.
    The seconds of each measurement are in `seconds`, and are printed at the end of the training;
    one that takes longer than an epoch is warned of at once. `options` go to the measures that have
    them.

    The model is measured before the first epoch, too, where it is built by then: a measure that
    does not apply is an error there. Afterwards nothing ends the training: weights that became NaN,
    or a measure that fails, are NaN in the logs.

    Beside the measures themselves, which are larger for a larger predicted gap, the logs have
    `predicted_accuracy`, larger is better: the training accuracy less what the measures in accuracy
    units predict of the gap, as in `rank`. That is what to stop by:

        monitor = pgdl_measures.GapMonitor((x_train, y_train))
        stop = keras.callbacks.EarlyStopping(
            monitor="predicted_accuracy", mode="max", patience=5, restore_best_weights=True
        )
        model.fit(x_train, y_train, epochs=100, callbacks=[monitor, stop])
    """

    def __init__(
        self,
        dataset: Dataset,
        measures: Sequence[str] = ("mixup",),
        every: int = 1,
        examples: int = 2048,
        **options: Any,
    ) -> None:
        super().__init__()
        if every < 1 or examples < 1:
            raise MeasureError(f"every={every}, examples={examples}; expected positive numbers")
        chosen = with_shared_options([complexity(name) for name in measures], options)
        self.measures = [limited(measure, examples) for measure in chosen]
        self._dataset, self._every, self._examples = dataset, every, examples
        self._max_bytes = options.get("max_bytes") or DEFAULT_MAX_BYTES
        self.data: TrainingData | None = None
        self._network: Network | None = None
        self._last: dict[str, float] = {}
        self.seconds: list[float] = []  # of each measurement; the first one traces the graphs
        self._epoch_start = 0.0
        self._said: set[str] = set()

    def on_train_begin(self, logs: dict[str, Any] | None = None) -> None:
        """Clears the values of an earlier training and measures the model as it is."""
        self._network, self._last, self.seconds, self._said = None, {}, [], set()
        if getattr(self.model, "built", False):
            self._measure()

    def on_epoch_begin(self, epoch: int, logs: dict[str, Any] | None = None) -> None:
        """Notes when the epoch began."""
        self._epoch_start = time.perf_counter()

    def on_epoch_end(self, epoch: int, logs: dict[str, Any] | None = None) -> None:
        """Measures the model, or repeats what was measured last."""
        if not self._last or epoch % self._every == 0:
            epoch_seconds = time.perf_counter() - self._epoch_start
            self._measure()
            taken = self.seconds[-1]
            if len(self.seconds) > 1 and taken > max(epoch_seconds, _SHORT):
                times = f"{taken:.2g} s after an epoch of {epoch_seconds:.2g} s"
                self._say(
                    "seconds",
                    f"a measurement takes {times}; fewer examples, or every=10, cost less",
                )
        if logs is not None:
            logs.update(self._last)

    def on_train_end(self, logs: dict[str, Any] | None = None) -> None:
        """Prints what the measurements took, unless `fit` has verbose=0."""
        if self.seconds and (self.params or {}).get("verbose"):
            first, *others = self.seconds
            later = f", then {np.mean(others):.2g} s each" if others else ""
            print(f"GapMonitor: {len(self.seconds)} measurements; {first:.2g} s the first{later}")

    def _measure(self) -> None:
        start = time.perf_counter()
        if self.data is None:
            rank = input_rank(self.model)
            data = training_data(self._dataset, max_bytes=self._max_bytes, example_rank=rank)
            self.data = _sample(data, self._examples)
        with_unit = [measure for measure in self.measures if measure.unit]
        self._last = dict.fromkeys([m.name for m in self.measures], math.nan)
        if with_unit:
            self._last[PREDICTED] = math.nan
        try:
            subject = Subject(self.model, self.data, known=self._network)
            self._last.update({m.name: self._value(m, subject) for m in self.measures})
            self._network = subject.network
            if with_unit:
                training = np.array(accuracy(subject.network, subject.data))
                changed = [
                    changed_accuracy(m.unit, np.array(self._last[m.name]), training)
                    for m in with_unit
                ]
                self._last[PREDICTED] = float(training - MIDDLE * np.mean(training - changed))
        except NotFiniteError as error:
            self._say("model", str(error))
        self.seconds.append(time.perf_counter() - start)

    def _value(self, measure: Measure, subject: Subject) -> float:
        """NaN where there is none; an error if that is so before anything was measured."""
        try:
            return measure.on(subject)
        except NotFiniteError as error:
            reason = str(error)
        except Exception as error:  # of a measure: it must not cost the training
            if self._network is None:
                raise MeasureError(f"{measure.name} cannot be followed: {error}") from error
            reason = f"{measure.name}: {error}"
        self._say(measure.name, reason)
        return math.nan

    def _say(self, about: str, text: str) -> None:
        """A warning, one about the same in a training."""
        if about not in self._said:
            self._said.add(about)
            logging.warning("GapMonitor: %s", text)


def _sample(data: TrainingData, examples: int) -> TrainingData:
    """A uniform sample without replacement, always the same."""
    if len(data) <= examples:
        return data
    rows = np.sort(np.random.default_rng(0).permutation(len(data))[:examples])
    inputs, labels = tf.gather(data.inputs, rows), tf.gather(data.labels, rows)
    return replace(data, inputs=inputs, labels=labels)
