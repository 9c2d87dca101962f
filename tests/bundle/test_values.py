"""A bundle's values are those of `pgdl run`, bit for bit, in the kit and in our ingestion."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from shared_data import SHARED, needs_shared

from ingestion.corpus import find_corpus
from ingestion.data import load_dataset
from ingestion.models import load_model
from pgdl_measures import measures
from pgdl_measures.base import Measure, Subject
from starting_kit_adapter.bundle.archive import write_zip
from starting_kit_adapter.bundle.rules import RULES
from starting_kit_adapter.bundle.submission import choose, submission_files
from starting_kit_adapter.submission.unzip import unzip

FEW = {"batches": 3, "seed": 1}


def with_few(name: str) -> Measure:
    known = choose([name], {})[0].defaults()
    return choose([name], {key: value for key, value in FEW.items() if key in known})[0]


def values_of_run(corpus: Path, chosen: list[Measure]) -> dict[str, dict[str, list[float]]]:
    """What `pgdl run` computes, by task and model: measures of plain models, one subject each."""
    values: dict[str, dict[str, list[float]]] = {}
    for task in find_corpus(corpus).tasks:
        dataset = load_dataset(task.shards())
        values[task.name] = {}
        for model_id in task.model_ids:
            subject = Subject(load_model(task.model_folder(model_id)), dataset)
            values[task.name][model_id] = [measure.on(subject) for measure in chosen]
    return values


def run(program: Path, corpus: Path, folder: Path, files: dict, environment: dict) -> dict:
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
        timeout=300,
    )
    return {path.stem: json.loads(path.read_text()) for path in output.iterdir()}


@pytest.mark.keras2
def test_one_measure_by_our_ingestion(corpus, program, clean_environment, tmp_path):
    check_measure(with_few("gi_intra_l0"), corpus, program, clean_environment, tmp_path)


@pytest.mark.slow
def test_the_run_verb(corpus, program, clean_environment, tmp_path):
    name = "gi_intra_l0"
    arguments = ["run", corpus, "-m", name, "-o", tmp_path / "run"]
    root = Path(__file__).resolve().parents[2]
    subprocess.run(
        [sys.executable, "-m", "starting_kit_adapter.cli.main", *map(str, arguments)],
        cwd=root,
        check=True,
        timeout=300,
    )
    files = submission_files(choose([name], {}))
    found = run(program / "ingestion.py", corpus, tmp_path, files, clean_environment)
    for task, values in found.items():
        assert values == json.loads((tmp_path / "run" / name / f"{task}.predict").read_text())


@pytest.mark.slow
@pytest.mark.parametrize("name", [measure.name for measure in measures()])
def test_every_measure_by_our_ingestion(name, corpus, program, clean_environment, tmp_path):
    check_measure(with_few(name), corpus, program, clean_environment, tmp_path)


def check_measure(measure, corpus, program, clean_environment, tmp_path):
    files = submission_files([measure])
    found = run(program / "ingestion.py", corpus, tmp_path, files, clean_environment)
    expected = values_of_run(corpus, [measure])
    assert set(found) == {"task_a", "task_b"}
    for task, values in found.items():
        assert values == {model: value for model, (value,) in expected[task].items()}


@pytest.mark.keras2
def test_a_combination_in_the_kit(corpus, clean_environment, tmp_path):
    rule = "product+average"
    chosen = choose(["pal_intra_l0", "manifold_mixup"], FEW)
    loop = Path(__file__).with_name("kit_loop.py")
    found = run(loop, corpus, tmp_path, submission_files(chosen, rule), clean_environment)
    for task, values in values_of_run(corpus, chosen).items():
        assert found[task] == {model: RULES[rule](each) for model, each in values.items()}


@pytest.mark.keras2
@needs_shared
def test_the_kits_own_toy_corpus_in_the_kit(clean_environment, tmp_path):
    toy = SHARED / "data" / "pgdl" / "toy_data"
    task = tmp_path / "input" / "toy_data"
    task.mkdir(parents=True)
    for name in ("dataset_1", "model_0", "model_5", "model_17"):
        (task / name).symlink_to(toy / name)
    measure = with_few("gi_intra_l0")
    loop = Path(__file__).with_name("kit_loop.py")
    files = submission_files([measure])
    found = run(loop, tmp_path / "input", tmp_path, files, clean_environment)
    expected = values_of_run(tmp_path / "input", [measure])["toy_data"]
    assert found["toy_data"] == {model: value for model, (value,) in expected.items()}
