"""The registry: every measure is documented, found by filters, by its layer and by its negation."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import tensorflow as tf
from corpora import dataset, fit_last_layer, write_task

from ingestion.run.chosen import choose_measures
from pgdl_measures import complexities, complexity, measures
from pgdl_measures.base import COSTS
from pgdl_measures.errors import UnknownNameError
from starting_kit_adapter.bundle.submission import submission_files
from starting_kit_adapter.terminal.measures import markdown, measure_page
from starting_kit_adapter.terminal.negation import join_negated

ROOT = Path(__file__).resolve().parents[1]
QUICK = {"batches": 5, "batch_size": 32}


def pgdl(*arguments: object, cwd: Path = ROOT) -> subprocess.CompletedProcess:
    command = [sys.executable, "-m", "starting_kit_adapter.cli.main", *map(str, arguments)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.run(
        command, capture_output=True, text=True, cwd=cwd, env=environment, check=False
    )


@pytest.mark.parametrize("measure", measures(), ids=lambda m: m.name)
def test_every_entry_is_complete(measure):
    for text in (measure.summary, measure.family, measure.definition, measure.source, measure.use):
        assert text and "\n" not in text and len(text) < 200
    assert measure.cost in COSTS
    assert re.search(r"\b(19|20)\d\d\b", measure.source)


def test_the_page_of_measures_is_what_the_registry_says():
    written = (ROOT / "docs" / "measures.md").read_text()
    assert written == markdown(measures()), "run: pgdl ls measures --markdown > docs/measures.md"


def test_a_page_has_the_options_with_their_defaults():
    page = measure_page(complexity("gi_intra_l3"))
    assert "batches=180, batch_size=128" in page and "Schiff et al. 2021, Alg. 1-3" in page


def test_filters_keep_what_they_say():
    norms = measures(family="norms")
    assert len(norms) == 24  # as many as the paper evaluates
    assert {m.name for m in measures("gi_*", without="images")} == {
        f"gi_{pairing}_l{layer}" for pairing in ("intra", "inter") for layer in (0, 1)
    }
    assert {m.name for m in measures(needs="initial weights", max_cost="weights")} == {
        *("fro_dist", "dist_spec_init", "distance_from_init")
    }
    assert [len(measures(max_cost=cost)) for cost in COSTS] == sorted(
        len(measures(max_cost=cost)) for cost in COSTS
    )
    with pytest.raises(UnknownNameError, match=r"unknown family 'norm'; did you mean norms\?"):
        measures(family="norm")


def test_the_list_can_be_filtered_on_the_line():
    shown = pgdl("ls", "measures", "*_l0", "--without", "initial weights").stdout
    assert "pal_inter_l0" in shown and "pal_inter_l1" not in shown and "7 of" not in shown
    assert "6 of" in shown
    assert pgdl("ls", "measures", "nothing_*").returncode == 1


def test_names_that_are_near_are_offered_at_the_layer_and_with_the_sign_that_was_asked_for():
    for name, near in (("-gi_intr_l4", "-gi_intra_l4"), ("-mixap", "-mixup")):
        with pytest.raises(
            UnknownNameError, match=f"unknown measure '{name}'; did you mean {near}"
        ):
            complexity(name)
    for name in ("gi_intra_l01", "gi_intra_l-1", "--mixup", "-", "gi_area", "mixup_l2"):
        with pytest.raises(UnknownNameError):
            complexity(name)


@pytest.fixture(scope="module")
def network() -> tuple[tf.keras.Model, np.ndarray, np.ndarray]:
    """Three dense layers and a classifier that fits two examples of each of 32 classes."""
    tf.keras.utils.set_random_seed(0)
    layers = [tf.keras.layers.Dense(64, activation="tanh") for _ in range(3)]
    model = tf.keras.Sequential([*layers, tf.keras.layers.Dense(32)])
    model.build((None, 5))
    rng = np.random.default_rng(0)
    labels = np.arange(64, dtype=np.int32) // 2
    inputs = 3 * rng.normal(size=(32, 5))[labels] + 1.5 * rng.normal(size=(64, 5))
    inputs = inputs.astype(np.float32)
    fit_last_layer(model, inputs, labels)
    return model, inputs, labels


def test_the_layer_in_a_name_is_where_inputs_are_mixed(network):
    """Against pairs mixed by hand between two halves of the network: each class has one pair."""
    model, inputs, labels = network
    expected = {}
    for layer in range(4):
        hidden = inputs
        for step in model.layers[:layer]:
            hidden = step(hidden)
        mixed = (hidden[::2] + hidden[1::2]) / 2
        for step in model.layers[layer:]:
            mixed = step(mixed)
        right = np.argmax(mixed, axis=1) == labels[::2]
        expected[f"manifold_mixup_l{layer}"] = pytest.approx(-float(right.mean()))
    compute = complexities(list(expected), batches=1, batch_size=64)
    found = compute(model, dataset(inputs, labels))
    assert found == expected
    assert len(set(found.values())) == 4


def test_variants_of_a_statistic_are_measures(network):
    model, inputs, labels = network
    names = ["gi_inter_l2", "gi_area_inter_l2", "pal_algorithm4_intra_l0"]
    found = complexities(names, **QUICK)(model, dataset(inputs, labels))
    # 0.45 is the largest magnitude between classes; the normalization is half its square.
    assert found["gi_area_inter_l2"] == pytest.approx(found["gi_inter_l2"] * 0.45**2 / 2)
    accuracy = {
        a: complexity("mean_accuracy_intra_l0", magnitudes=(a,), **QUICK)(
            model, dataset(inputs, labels)
        )
        for a in (0.0, 0.05, 0.25, 0.3)
    }
    printed = (accuracy[0.25] + accuracy[0.3]) / (accuracy[0.0] + accuracy[0.05])
    assert found["pal_algorithm4_intra_l0"] == pytest.approx(-printed)


def test_a_layer_past_the_end_is_named(network):
    model, inputs, labels = network
    with pytest.raises(Exception, match="9"):
        complexity("gi_intra_l9", **QUICK)(model, dataset(inputs, labels))


def test_a_minus_negates_and_keeps_the_options(network):
    model, inputs, labels = network
    found = complexities(["mixup", "-mixup", "-gi_intra_l2"], **QUICK)(
        model, dataset(inputs, labels)
    )
    assert found["-mixup"] == -found["mixup"] > 0
    assert found["-gi_intra_l2"] < 0
    assert complexity("-mixup", batches=3).options == {"batches": 3}


@pytest.mark.parametrize(
    ("typed", "read"),
    [
        (["-m", "-mixup"], ["--measures=-mixup"]),
        (["--measures", "-mixup,gi_intra_l0"], ["--measures=-mixup,gi_intra_l0"]),
        (["-m", "-mine:own"], ["--measures=-mine:own"]),
        (["-m", "mixup", "-o", "out"], ["-m", "mixup", "-o", "out"]),
        (["-m", "-o", "out"], ["-m", "-o", "out"]),
        (["-m", "--set", "a=1"], ["-m", "--set", "a=1"]),
    ],
)
def test_a_negated_name_is_no_option(typed, read):
    assert join_negated(typed) == read


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("corpus")
    write_task(folder / "images", count=60)
    return folder


def test_run_and_bundle_take_layers_and_negations(corpus, tmp_path):
    own = tmp_path / "own"
    own.mkdir()
    (own / "mine.py").write_text("def two(subject):\n    return 2.0\n")
    names = "-mixup,mixup,gi_intra_l2,-mine:two"
    quick = ("--set", "batches=2", "--max-models", 1, "--workers", 1)
    ran = pgdl("run", corpus, "-m", names, "-o", tmp_path / "out", *quick, cwd=own)
    assert ran.returncode == 0, ran.stderr
    (tmp_path / "run.json").write_text(json.dumps({"measures": ["-mixup"]}))
    again = pgdl(
        *("run", corpus, "--config", tmp_path / "run.json", "-o", tmp_path / "again", *quick)
    )
    assert again.returncode == 0, again.stderr

    def value(folder: str, measure: str) -> float:
        path = tmp_path / folder / measure / "images.predict"
        (found,) = json.loads(path.read_text()).values()
        return found

    assert value("out", "-mixup") == -value("out", "mixup") == value("again", "-mixup")
    assert value("out", "-two") == -2.0
    assert 0 <= value("out", "gi_intra_l2") <= 1
    program = submission_files(choose_measures(["-mixup"], {"batches": 2}))["complexity.py"]
    assert b"sign=-1" in program and b"'batches': 2" in program
