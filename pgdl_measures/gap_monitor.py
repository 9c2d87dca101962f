"""A Keras callback that follows measures during training, without a validation set.

The values join the logs of an epoch, where TensorBoard, CSVLogger, ModelCheckpoint and
EarlyStopping find them. Give it to `fit` before those callbacks: Keras calls them in order.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import tensorflow as tf

from pgdl_measures.accuracy import accuracy
from pgdl_measures.base import Dataset, Subject, input_rank
from pgdl_measures.data import DEFAULT_MAX_BYTES, TrainingData, training_data
from pgdl_measures.errors import MeasureError
from pgdl_measures.network.compiled import Network
from pgdl_measures.ranking.predictions import MIDDLE, changed_accuracy
from pgdl_measures.ranking.recommended import limited
from pgdl_measures.registry import complexity
from pgdl_measures.several import measured, with_shared_options

PREDICTED = "predicted_accuracy"


class GapMonitor(tf.keras.callbacks.Callback):
    """Puts measures of the model into the logs at the end of every `every`-th epoch.

    `dataset` is the training data as the model takes them, in any form that `complexity` takes. A
    random sample of `examples` of them is used, which bounds the cost: `mixup` takes about one
    forward pass over as many. In epochs between two measurements the last values are repeated.
    The seconds of each measurement are in `seconds`, and are printed at the end of the training.
    `options` go to the measures that have them.

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

    def on_train_begin(self, logs: dict[str, Any] | None = None) -> None:
        """Forgets another training."""
        self._network, self._last, self.seconds = None, {}, []

    def on_epoch_end(self, epoch: int, logs: dict[str, Any] | None = None) -> None:
        """Measures the model, or repeats what was measured last."""
        if not self._last or epoch % self._every == 0:
            self._measure()
        if logs is not None:
            logs.update(self._last)

    def on_train_end(self, logs: dict[str, Any] | None = None) -> None:
        """Says what the measurements took, unless `fit` was told to be quiet."""
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
        subject = Subject(self.model, self.data, known=self._network)
        self._network = subject.network
        found = measured(self.measures, subject)
        for name, reason in found.refusals.items():
            raise MeasureError(f"{name} cannot be followed: {reason}")
        self._last = dict(found)
        with_unit = [measure for measure in self.measures if measure.unit]
        if with_unit:
            training = np.array(accuracy(subject.network, subject.data))
            changed = [
                changed_accuracy(m.unit, np.array(found[m.name]), training) for m in with_unit
            ]
            self._last[PREDICTED] = float(training - MIDDLE * np.mean(training - changed))
        self.seconds.append(time.perf_counter() - start)


def _sample(data: TrainingData, examples: int) -> TrainingData:
    """A uniform sample without replacement, always the same."""
    if len(data) <= examples:
        return data
    rows = np.sort(np.random.default_rng(0).permutation(len(data))[:examples])
    inputs, labels = tf.gather(data.inputs, rows), tf.gather(data.labels, rows)
    return replace(data, inputs=inputs, labels=labels)
