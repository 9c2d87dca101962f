"""A user's own perturbation, spread over files, in the commands and their worker processes."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from verbs import run_verb

from pgdl_measures import complexity
from starting_kit_adapter.cli import run, zoo

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def own_folder(registries, tmp_path, monkeypatch):
    """The current folder, with a user's modules that the commands find there."""
    (tmp_path / "softening.py").write_text(
        "def softer(images, magnitude, rng):\n    return images * (1 - magnitude)\n"
    )
    (tmp_path / "registering.py").write_text(
        "from pgdl_measures import register_perturbation\n"
        "from softening import softer\n\n\n"
        "def register_all():\n    register_perturbation(softer, 0.0, 0.5)\n"
    )
    (tmp_path / "mine.py").write_text("import registering\n\nregistering.register_all()\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [str(ROOT), *sys.path])
    yield tmp_path
    for name in ("softening", "registering", "mine"):
        sys.modules.pop(name, None)


def test_perturbations_of_other_modules_work_in_worker_processes(own_folder):
    """The function is from one module, a second one registers it in a call, a third one asks."""
    grid = {
        "architecture": "conv",
        "hparams": {"depth": [1]},
        "fixed": {"parameters": 500},
        "max_epochs": 1,
        "train_examples": 40,
        "test_examples": 20,
    }
    (own_folder / "tiny.json").write_text(json.dumps(grid))
    build = ("build", "--data", "digits", "--grid", "tiny.json", "-o", "zoo", "--workers", 1)
    assert run_verb(zoo, *build, "--augment", "mine:softer:full") == 0
    measures = ("zoo", "-m", "mine:gi_softer", "-o", "out", "--set", "batches=1", "--workers", 1)
    assert run_verb(run, *measures) == 0
    (value,) = json.loads(Path("out/gi_softer/softer.predict").read_text()).values()
    assert 0 <= value <= 1


def test_values_of_another_version_of_a_users_perturbation_are_not_taken_for_the_same(own_folder):
    """Neither if its function changed, nor if its range did, which is in another file."""
    from ingestion.run.fingerprint import settings

    measure = replace(complexity("gi_noise"), fixed={"perturbation": "mine:softer"})
    found = [settings(measure), settings(measure)]
    for name in ("softening.py", "mine.py"):
        with (own_folder / name).open("a") as file:
            file.write("VERSION = 2\n")
        found.append(settings(measure))
    assert len(set(found)) == 3 and found[0] == found[1]


def test_registering_is_offered_without_tensorflow():
    code = (
        "import sys, pgdl_measures\n"
        "assert 'register_perturbation' in pgdl_measures.__all__\n"
        "assert not hasattr(pgdl_measures, 'register_perturbations')\n"
        "assert 'tensorflow' not in sys.modules\n"
        "pgdl_measures.register_perturbation"
    )
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True)
