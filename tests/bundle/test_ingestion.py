"""The ingestion program runs anybody's submission by the kit's rules and hides the answers."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import tensorflow as tf
from live_processes import PATIENCE

from ingestion.corpus import Task, find_corpus
from ingestion.datasets.array_forms import make_data
from ingestion.zoo.add import add
from starting_kit_adapter.ingestion import main, run_task
from starting_kit_adapter.submission.stage import environment, stage
from starting_kit_adapter.submission.worker import as_number, import_complexity

ROOT = Path(__file__).resolve().parents[2]


def ingest(corpus: Path, folder: Path, submission: str) -> subprocess.CompletedProcess[str]:
    """Runs the program as it is in the repository, from elsewhere, on a submission's source."""
    for name in ("submission", "program", "elsewhere"):
        (folder / name).mkdir()
    (folder / "submission" / "complexity.py").write_text(submission)
    arguments = [corpus, folder / "output", folder / "program", folder / "submission"]
    variables = {**os.environ, "PYTHONPATH": str(ROOT), "CORPUS": str(corpus / "reference_data")}
    return subprocess.run(
        [sys.executable, "-m", "starting_kit_adapter.ingestion", *map(str, arguments)],
        cwd=folder / "elsewhere",
        env=variables,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )


# Uses what the kit adds to Keras, and then looks for the answers wherever it is told to look.
CURIOUS = """
import os, sys
import tensorflow as tf

def complexity(model, dataset, program_dir):
    assert os.path.isdir(program_dir) and program_dir in sys.path
    assert len(model.initial_weights) == len(model.get_weights())
    for x, _ in dataset.batch(4).take(1):
        with tf.GradientTape(persistent=True) as tape:
            outputs = model(x, tape=tape)
        for layer in model.layers:
            jacobian = tape.gradient(outputs, layer._last_seen_input)
            assert jacobian.shape == layer._last_seen_input.shape
        assert (outputs.numpy() == model(x).numpy()).all()

    told = [os.getcwd(), *sys.argv, *sys.path]
    told += [part for value in os.environ.values() for part in value.split(os.pathsep)]
    seen = set()
    for path in told:
        assert "reference_data" not in path and "input_data" not in path, path
        if "pgdl_" in path and os.path.isdir(path):
            seen |= {name for _, _, names in os.walk(path) for name in names}
            seen |= {name for _, names, _ in os.walk(path) for name in names}
    assert {"config.json", "weights.hdf5", "train", "task_a"} <= seen, seen
    assert not seen & {"model_configs.json", "test"}, seen
    return tf.constant([1.5])
"""


@pytest.mark.keras2
def test_a_submission_gets_what_the_kit_gives_and_not_the_answers(corpus, tmp_path):
    done = ingest(corpus, tmp_path, CURIOUS)
    assert done.returncode == 0, done.stderr
    for task, models in (("task_a", 6), ("task_b", 3)):
        values = json.loads((tmp_path / "output" / f"{task}.predict").read_text())
        assert values == {f"model_{i}": 1.5 for i in range(models)}
    assert {path.name for path in (tmp_path / "output").iterdir()} == {
        "task_a.predict",
        "task_b.predict",
    }


# The mean output on the training data; each layer has the inputs that Keras gave it.
OF_ANY_NETWORK = """
import tensorflow as tf

def complexity(model, dataset):
    images = tf.stack([image for image, _ in dataset])
    with tf.GradientTape(persistent=True) as tape:
        outputs = model(images, tape=tape)
    for layer in model.layers:
        if not isinstance(layer, tf.keras.layers.InputLayer):
            seen = tf.nest.flatten(layer._last_seen_input)
            assert all(g.shape == x.shape for g, x in zip(tape.gradient(outputs, seen), seen))
    return tf.reduce_mean(outputs)
"""


@pytest.mark.keras2
def test_a_submission_gets_networks_with_branches(tmp_path):
    rng = np.random.default_rng(0)
    images, labels = rng.random((12, 8, 8, 3)).astype(np.float32), np.arange(12) % 3
    layers = tf.keras.layers
    inputs = tf.keras.Input((8, 8, 3))
    x = layers.ReLU()(layers.BatchNormalization()(layers.Conv2D(4, 3, padding="same")(inputs)))
    x = layers.Add()([x, layers.Conv2D(4, 3, padding="same")(x)])
    x = layers.Concatenate()([x, 2.0 * x])  # Keras' own configuration of an operation
    outputs = layers.Dense(3)(layers.GlobalAveragePooling2D()(x))
    model = tf.keras.Model(inputs, outputs)
    model.save(tmp_path / "mine.keras")
    data = make_data(images, labels, images, labels)
    add(tmp_path / "zoo", "t", tmp_path / "mine.keras", data, {})
    done = ingest(tmp_path / "zoo", tmp_path, OF_ANY_NETWORK)
    assert done.returncode == 0, done.stderr
    values = json.loads((tmp_path / "output" / "t.predict").read_text())
    expected = np.mean(model(images, training=False))
    assert values == {"model_0": pytest.approx(expected, rel=1e-4, abs=1e-6)}


@pytest.mark.parametrize(
    ("end", "message"),
    [
        ("raise KeyError('lost')", "failed at task_b model_0: KeyError: 'lost'"),
        ("os._exit(7)", "failed at task_b model_0: the worker ended with exit code 7"),
    ],
)
def test_a_submission_that_fails_is_named_and_finished_tasks_stay(end, message, corpus, tmp_path):
    source = "import os\ncalls = []\ndef complexity(model, dataset):\n    calls.append(1)\n"
    source += f"    if len(calls) > 6:\n        {end}\n    return len(calls)\n"
    done = ingest(corpus, tmp_path, source)
    assert done.returncode == 1
    assert message in done.stderr
    assert str(tmp_path / "submission") in done.stderr
    (finished,) = (tmp_path / "output").iterdir()
    values = json.loads(finished.read_text())
    assert finished.name == "task_a.predict"
    assert values == {f"model_{i}": i + 1.0 for i in range(6)}


@pytest.mark.parametrize("value", [None, "much", [1, 2], float("nan"), float("inf")])
def test_what_is_not_a_number_is_refused(value):
    with pytest.raises((TypeError, ValueError), match="complexity returned"):
        as_number(value)


def test_an_installed_complexity_is_not_taken_for_the_submission(tmp_path, monkeypatch):
    for name in ("installed", "submission"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "complexity.py").write_text("def complexity(model, dataset): return 1\n")
    monkeypatch.setattr(sys, "path", [str(tmp_path / "installed"), *sys.path])
    monkeypatch.delitem(sys.modules, "complexity", raising=False)
    with pytest.raises(ImportError, match="not in the submission"):
        import_complexity(str(tmp_path), str(tmp_path / "submission"))
    monkeypatch.delitem(sys.modules, "complexity", raising=False)


def test_models_after_the_budget_are_exceeded():
    task = Task("t", Path(), None, tuple(f"model_{i}" for i in range(4)))
    now = [0.0]

    def measure(name: str, model_id: str, seconds: float) -> float:
        now[0] += 500.0  # of 300 per model: the budget of 1,200 ends during the third
        return 1.0

    values = run_task(task, measure, clock=lambda: now[0])
    assert values == {"model_0": 1.0, "model_1": 1.0, "model_2": 1.0, "model_3": "EXCEEDED"}


def test_a_slow_model_may_use_the_time_of_the_others():
    task = Task("t", Path(), None, ("model_0", "model_1"))
    now = [0.0]

    def measure(name: str, model_id: str, seconds: float) -> float:
        now[0] += 590.0 if model_id == "model_0" else 1.0
        return now[0]

    assert run_task(task, measure, clock=lambda: now[0]) == {"model_0": 590.0, "model_1": 591.0}


def test_only_models_and_training_data_are_staged(corpus, tmp_path):
    stage(find_corpus(corpus).tasks, tmp_path)
    names = {
        path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*") if path.is_file()
    }
    assert not any("model_configs.json" in name or "test" in name for name in names)
    assert "task_a/dataset_1/train/shard_0.tfrecord" in names
    assert "task_b/model_2/weights_init.hdf5" in names
    staged = find_corpus(tmp_path)
    assert [task.reference for task in staged.tasks] == [None, None]
    assert [task.model_ids for task in staged.tasks] == [
        task.model_ids for task in find_corpus(corpus).tasks
    ]


def test_variables_that_tell_of_the_corpus_are_not_passed_on(tmp_path, monkeypatch):
    monkeypatch.setenv("DATA", str(tmp_path / "zoo" / "input_data"))
    monkeypatch.setenv("ANSWERS", "/elsewhere/reference_data/task")
    monkeypatch.setenv("ROOT_OF_ALL", str(tmp_path / "zoo"))
    monkeypatch.setenv("HARMLESS", "yes")
    passed = environment(tmp_path / "zoo" / "input_data")
    assert passed["HARMLESS"] == "yes"
    assert not {"DATA", "ANSWERS", "ROOT_OF_ALL", "PWD"} & set(passed)


def test_wrong_arguments(capsys):
    with pytest.raises(SystemExit, match="2"):
        main(["only", "three", "words"])
    assert "usage: " in capsys.readouterr().err
    assert main(["nowhere", "out", "program", "submission"]) == 1
    assert "nowhere: is not a folder" in capsys.readouterr().err


def test_a_zip_with_a_top_folder_is_explained(corpus, tmp_path, capsys):
    (tmp_path / "top" / "inner").mkdir(parents=True)
    assert main([str(corpus), str(tmp_path / "out"), str(tmp_path), str(tmp_path / "top")]) == 1
    assert "has no complexity.py at its top" in capsys.readouterr().err
