"""GapMonitor: measures in the logs of every epoch, where other callbacks find them."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest
import tensorflow as tf

import pgdl_measures
from pgdl_measures.errors import MeasureError
from pgdl_measures.network.compiled import Network

pytestmark = pytest.mark.keras2

RNG = np.random.default_rng(0)
LABELS = np.arange(200) % 2
INPUTS = (RNG.standard_normal((200, 5)) + LABELS[:, None]).astype(np.float32)


def compiled() -> tf.keras.Model:
    tf.keras.utils.set_random_seed(0)
    layers = [tf.keras.Input((5,)), tf.keras.layers.Dense(8, "relu"), tf.keras.layers.Dense(2)]
    model = tf.keras.Sequential(layers)
    loss = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile("adam", loss, metrics=["accuracy"])
    return model


def fit(model: tf.keras.Model, *callbacks: tf.keras.callbacks.Callback, epochs: int = 3):
    return model.fit(
        INPUTS, LABELS, epochs=epochs, batch_size=50, verbose=0, callbacks=list(callbacks)
    )


def test_other_callbacks_find_the_measures_and_their_values_are_those_of_the_model(tmp_path: Path):
    model = compiled()
    monitor = pgdl_measures.GapMonitor((INPUTS, LABELS), ("mixup", "path_norm"), batches=2)
    save = tf.keras.callbacks.ModelCheckpoint(
        str(tmp_path / "best.h5"),
        monitor="predicted_accuracy",
        mode="max",
        save_best_only=True,
        save_weights_only=False,
    )
    log = tf.keras.callbacks.CSVLogger(str(tmp_path / "log.csv"))
    history = fit(model, monitor, save, log).history
    assert len(history["mixup"]) == len(history["predicted_accuracy"]) == 3
    mixup = pgdl_measures.complexity("mixup", batches=2)(model, (INPUTS, LABELS))
    assert history["mixup"][-1] == mixup
    assert history["predicted_accuracy"][-1] == pytest.approx(-mixup)
    rows = list(csv.DictReader((tmp_path / "log.csv").open()))
    assert [float(row["mixup"]) for row in rows] == pytest.approx(history["mixup"])
    assert (tmp_path / "best.h5").exists()
    assert len(monitor.seconds) == 4


def test_tensorboard_writes_them_whatever_they_are(tmp_path: Path):
    pytest.importorskip("tensorboard")
    from tensorflow.core.util.event_pb2 import Event

    monitor = pgdl_measures.GapMonitor((INPUTS, LABELS), batches=1)
    fit(compiled(), Spoil(), monitor, tf.keras.callbacks.TensorBoard(str(tmp_path)))
    (path,) = (tmp_path / "train").glob("*.tfevents*")
    records = tf.data.TFRecordDataset(str(path)).as_numpy_iterator()
    tags = [value.tag for r in records for value in Event.FromString(r).summary.value]
    assert tags.count("epoch_mixup") == tags.count("epoch_predicted_accuracy") == 3


class Spoil(tf.keras.callbacks.Callback):
    """A training that diverges in its second epoch."""

    def on_epoch_begin(self, epoch, logs=None):
        if epoch == 1:
            self.model.set_weights([np.full_like(w, np.nan) for w in self.model.get_weights()])


def test_weights_that_become_nan_are_nan_in_the_logs_and_do_not_end_the_training(tmp_path, caplog):
    monitor = pgdl_measures.GapMonitor((INPUTS, LABELS), ("mixup", "path_norm"), batches=1)
    log = tf.keras.callbacks.CSVLogger(str(tmp_path / "log.csv"))
    history = fit(compiled(), Spoil(), monitor, log).history
    for name in ("mixup", "path_norm", "predicted_accuracy"):
        assert np.isnan(history[name]).tolist() == [False, True, True]
    assert len(list(csv.DictReader((tmp_path / "log.csv").open()))) == 3
    assert caplog.text.count("GapMonitor: the model's weights") == 1


def test_training_is_the_same_with_and_without_it():
    watched = compiled()
    fit(watched, pgdl_measures.GapMonitor((INPUTS, LABELS), batches=1))
    alone = compiled()
    fit(alone)
    for a, b in zip(alone.get_weights(), watched.get_weights()):
        np.testing.assert_array_equal(a, b)


def test_its_cost_is_said_unless_the_training_is_quiet(capsys):
    for verbose in (2, 0):
        monitor = pgdl_measures.GapMonitor((INPUTS, LABELS), batches=1)
        compiled().fit(INPUTS, LABELS, epochs=2, callbacks=[monitor], verbose=verbose)
        said = "GapMonitor: 3 measurements;" in capsys.readouterr().out
        assert said == bool(verbose)


def test_it_measures_every_so_many_epochs_and_repeats_the_last_value_between():
    monitor = pgdl_measures.GapMonitor((INPUTS, LABELS), every=2, batches=1)
    values = fit(compiled(), monitor, epochs=5).history["mixup"]
    assert len(monitor.seconds) == 4  # one before the first epoch
    assert values[0] == values[1] and values[2] == values[3]


def test_early_stopping_stops_by_it():
    monitor = pgdl_measures.GapMonitor((INPUTS, LABELS), batches=1)
    stop = tf.keras.callbacks.EarlyStopping(
        monitor="predicted_accuracy", mode="max", patience=1, restore_best_weights=True
    )
    assert len(fit(compiled(), monitor, stop, epochs=60).history["mixup"]) < 60


def test_the_cost_is_bounded_by_the_number_of_examples():
    model = compiled()
    monitor = pgdl_measures.GapMonitor((INPUTS, LABELS), examples=128, batch_size=16)
    fit(model, monitor, epochs=1)
    assert [len(monitor.data), monitor.measures[0].options["batches"]] == [128, 8]


class Scaled(tf.keras.layers.Layer):
    """A layer that runs as it is: it has weights that no layer of Keras' tells."""

    def build(self, input_shape):
        self.scale = self.add_weight(
            shape=(int(input_shape[-1]),), initializer="ones", name="scale"
        )

    def call(self, x):
        return x * self.scale


class Own(tf.keras.Model):
    """A user's model, which tells no input shape."""

    def __init__(self):
        super().__init__()
        self.scaled, self.classify = Scaled(), tf.keras.layers.Dense(2)

    def call(self, x):
        return self.classify(self.scaled(x))


def test_a_model_of_ones_own_is_followed_and_traced_once(monkeypatch):
    traced, graph = [], Network.graph

    def counted(self, key, build):
        return graph(self, key, lambda: traced.append(key) or build())

    monkeypatch.setattr(Network, "graph", counted)
    model, monitor = Own(), pgdl_measures.GapMonitor((INPUTS, LABELS), batches=2)
    model.compile("adam", tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    values = fit(model, monitor).history["mixup"]
    assert len(traced) == len(set(traced)) > 0
    assert values[-1] == pgdl_measures.complexity("mixup", batches=2)(model, (INPUTS, LABELS))


def test_a_measure_that_does_not_apply_says_so_before_the_first_batch():
    monitor = pgdl_measures.GapMonitor((INPUTS, LABELS), ("contre_gap",))
    batches = []
    count = tf.keras.callbacks.LambdaCallback(on_train_batch_begin=lambda *_: batches.append(1))
    with pytest.raises(MeasureError, match="contre_gap cannot be followed: the inputs have shape"):
        fit(compiled(), monitor, count, epochs=1)
    assert not batches


def test_a_measurement_that_takes_longer_than_an_epoch_is_said_once(monkeypatch, caplog):
    clock = iter(range(0, 10**6, 1000))  # every look at the clock is as long after the last one
    monkeypatch.setattr("time.perf_counter", lambda: float(next(clock)))
    fit(compiled(), pgdl_measures.GapMonitor((INPUTS, LABELS), batches=1))
    assert caplog.text.count("a measurement takes") == 1
