"""A bundle's values are those of `pgdl run`, bit for bit, in the kit and in our ingestion."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import keras
import pytest
from shared_data import SHARED, needs_shared

from ingestion.run.chosen import choose_measures
from pgdl_measures import complexity, measures
from pgdl_measures.base import Measure
from scoring.combine import combine_one
from scoring.predictor import Predictor
from starting_kit_adapter.bundle.archive import write_zip
from starting_kit_adapter.bundle.submission import submission_files
from starting_kit_adapter.submission.unzip import unzip

ROOT = Path(__file__).resolve().parents[2]
KIT = Path(__file__).with_name("kit_loop.py")

Values = dict  # {task: {model: value}}


def pgdl(*arguments: object, cwd: Path = ROOT) -> None:
    subprocess.run(
        [sys.executable, "-m", "starting_kit_adapter.cli.main", *map(str, arguments)],
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        check=True,
        timeout=1200,
    )


def pgdl_run(corpus: Path, names: str, output: Path) -> dict[str, Values]:
    """What `pgdl run` writes, by measure, with fewer batches than the paper and another seed."""
    arguments = ["run", corpus, "-m", names, "-o", output, "--seed", 1]
    if any("batches" in measure.options for measure in chosen(*names.split(","))):
        arguments += ["--set", "batches=3"]
    pgdl(*arguments)
    return {folder.name: read(folder) for folder in output.iterdir() if folder.is_dir()}


def chosen(*names: str) -> list[Measure]:
    """The measures with the options that `pgdl_run` sets."""
    few = {"batches": 3} if any("batches" in complexity(n).defaults() for n in names) else {}
    return choose_measures(names, few, seed=1)


def run(program: Path, corpus: Path, folder: Path, files: dict, environment: dict) -> Values:
    """Bundles, unzips into an empty folder and runs from another working directory."""
    write_zip(folder / "submission.zip", files)
    submission, output, elsewhere = (
        folder / name for name in ("submission", "output", "elsewhere")
    )
    for path in (submission, output, elsewhere):
        path.mkdir()
    unzip(folder / "submission.zip", submission)
    subprocess.run(
        [sys.executable, program, corpus, output, program.parent, submission],
        cwd=elsewhere,
        env=environment,
        check=True,
        timeout=600,
    )
    return read(output)


def read(folder: Path) -> Values:
    return {path.stem: json.loads(path.read_text()) for path in folder.glob("*.predict")}


@pytest.fixture(scope="module")
def values(corpus: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Values]:
    return pgdl_run(corpus, "gi_intra_l0,pal_intra_l0", tmp_path_factory.mktemp("run"))


@pytest.mark.keras2
def test_one_measure_by_our_ingestion(values, corpus, program, clean_environment, tmp_path):
    files = submission_files(chosen("gi_intra_l0"))
    found = run(program / "ingestion.py", corpus, tmp_path, files, clean_environment)
    assert set(found) == {"task_a", "task_b"}
    assert found == values["gi_intra_l0"]


@pytest.mark.keras2
def test_a_combination_in_the_kit(values, corpus, clean_environment, tmp_path):
    names, rule = ("gi_intra_l0", "pal_intra_l0"), "prod_avg"
    files = submission_files(chosen(*names), rule)
    found = run(KIT, corpus, tmp_path, files, clean_environment)
    for task in ("task_a", "task_b"):
        models = values[names[0]][task]
        assert found[task] == {
            model: combine_one(rule, [values[name][task][model] for name in names])
            for model in models
        }


def test_a_learned_predictor_by_our_ingestion(values, corpus, program, clean_environment, tmp_path):
    names, weights = ("gi_intra_l0", "pal_intra_l0"), (0.5, 0.001)
    options = {name: {"batches": 3, "seed": 1} for name in names}
    ends = {"smallest": (0.0, 0.0), "largest": (1.0, 1.0)}
    predictor = Predictor(names, weights, 0.1, 0.01, 0.05, 0.9, **ends, tasks={}, options=options)
    (tmp_path / "predictor.json").write_text(json.dumps(predictor.to_json()))
    pgdl("bundle", "--predictor", tmp_path / "predictor.json", "-o", tmp_path / "learned.zip")
    with zipfile.ZipFile(tmp_path / "learned.zip") as bundle:
        files = {name: bundle.read(name) for name in bundle.namelist()}
    found = run(program / "ingestion.py", corpus, tmp_path, files, clean_environment)["task_b"]
    gi, pal = (values[name]["task_b"] for name in names)
    expected = {model: 0.1 + 0.5 * gi[model] + 0.001 * pal[model] for model in gi}
    assert found == pytest.approx(expected, rel=1e-12)


OWN_MEASURES = """
import pgdl_measures
from my_perturbations import dimmed

pgdl_measures.register_perturbation(dimmed, 0.0, 1.0)


def half_mixup(subject, *, batches=3):
    return pgdl_measures.complexity("mixup").with_options(batches=batches).on(subject) / 2
"""
OWN_PERTURBATIONS = """
def dimmed(images, magnitude, rng):
    return images * (1 - magnitude)
"""


@pytest.mark.keras2
def test_a_users_own_measure_perturbation_and_files(corpus, program, clean_environment, tmp_path):
    own = tmp_path / "own"
    own.mkdir()
    (own / "my_measures.py").write_text(OWN_MEASURES)
    (own / "my_perturbations.py").write_text(OWN_PERTURBATIONS)
    names = ("-m", "my_measures:half_mixup,my_measures:gi_dimmed", "--set", "batches=2")
    pgdl("bundle", *names, "--combine", "avg", "-o", tmp_path / "own.zip", cwd=own)
    pgdl("run", corpus, *names, "--tasks", "task_b", "-o", tmp_path / "run", cwd=own)
    with zipfile.ZipFile(tmp_path / "own.zip") as bundle:
        files = {name: bundle.read(name) for name in bundle.namelist()}
    found = run(program / "ingestion.py", corpus, tmp_path, files, clean_environment)["task_b"]
    first, second = (
        read(tmp_path / "run" / name)["task_b"] for name in ("half_mixup", "gi_dimmed")
    )
    assert found == {model: combine_one("avg", [first[model], second[model]]) for model in first}


@pytest.mark.keras2
@needs_shared
@pytest.mark.skipif(keras.__version__ >= "3", reason="the kit's calls are those of Keras 2")
def test_the_kits_own_toy_corpus_in_the_kit(clean_environment, tmp_path):
    toy = SHARED / "data" / "pgdl" / "toy_data"
    task = tmp_path / "input" / "toy_data"
    task.mkdir(parents=True)
    for name in ("dataset_1", "model_0", "model_5", "model_17"):
        (task / name).symlink_to(toy / name)
    files = submission_files(chosen("gi_intra_l0"))
    found = run(KIT, tmp_path / "input", tmp_path, files, clean_environment)
    expected = pgdl_run(tmp_path / "input", "gi_intra_l0", tmp_path / "run")
    assert found == expected["gi_intra_l0"]


@pytest.mark.slow
@pytest.mark.parametrize("name", [measure.name for measure in measures()])
def test_every_measure(name, corpus, program, clean_environment, tmp_path):
    files = submission_files(chosen(name))
    found = run(program / "ingestion.py", corpus, tmp_path, files, clean_environment)
    assert found == pgdl_run(corpus, name, tmp_path / "run")[name]
