"""Values of two versions of the code are never mixed, whoever wrote the code."""

from __future__ import annotations

import re
import shutil
import time
from dataclasses import replace
from pathlib import Path

import pytest
from run_plans import job
from run_zoo import ROOT, pgdl_run, predictions, write_zoo

from ingestion.run import fingerprint
from ingestion.run.chosen import choose_measures
from ingestion.run.digests import code_digest
from ingestion.run.executors.measuring import Measuring
from ingestion.run.executors.outcome import Measured
from ingestion.source_closure import PACKAGES, closure
from pgdl_measures.base import Measure
from pgdl_measures.errors import PgdlError
from pgdl_measures.registry import complexity, measures


@pytest.fixture()
def toolkit(tmp_path: Path) -> Path:
    """A copy of the packages, to be edited."""
    for package in PACKAGES:
        ignore = shutil.ignore_patterns("__pycache__")
        shutil.copytree(ROOT / package, tmp_path / "toolkit" / package, ignore=ignore)
    return tmp_path / "toolkit"


def edit(path: Path, old: str, new: str) -> None:
    text = path.read_text(encoding="utf-8")
    assert re.search(old, text), f"{path} has no {old}"
    path.write_text(re.sub(old, new, text, count=1), encoding="utf-8")


def test_an_edited_formula_is_refused_by_name_and_an_edited_comment_is_not(
    toolkit: Path, tmp_path: Path
) -> None:
    zoo, out = write_zoo(tmp_path / "zoo", models=4), tmp_path / "out"
    command = (zoo, "-m", "gi_intra_l0,params", "-o", out, "--set", "batches=1")
    code, printed = pgdl_run(*command, "--max-models", 2, toolkit=toolkit)
    assert code == 0, printed

    formulas = toolkit / "pgdl_measures" / "response_curves" / "statistics.py"
    edit(formulas, r"\ndef gi\(", "\n# A remark.\n\n\ndef gi(")
    edit(formulas, '    """Gi of Schiff et al. 2021', '    """What Schiff et al. 2021 call Gi')
    entries = toolkit / "pgdl_measures" / "response_curves" / "entries.py"
    edit(entries, r"Schiff et al\. 2021", "Schiff and others 2021")
    code, printed = pgdl_run(*command, "--max-models", 3, toolkit=toolkit)
    assert code == 0 and "1 of 3 models computed now" in printed
    before = predictions(out, "gi_intra_l0")

    doubled = "\n\n_once = gi\n\n\ndef gi(x, y):\n    return 2 * _once(x, y)\n"
    formulas.write_text(formulas.read_text(encoding="utf-8") + doubled, encoding="utf-8")
    code, printed = pgdl_run(*command, toolkit=toolkit)
    assert code == 1 and "gi_intra_l0: 3 results of another version of the measure" in printed
    assert "params:" not in printed
    assert predictions(out, "gi_intra_l0") == before

    code, printed = pgdl_run(*command, "--recompute", toolkit=toolkit)
    assert code == 0, printed
    after = predictions(out, "gi_intra_l0")
    assert len(after) == 4
    assert {model: after[model] for model in before} == {m: 2 * v for m, v in before.items()}


def test_another_number_of_threads_is_refused_by_the_command(tmp_path: Path) -> None:
    zoo, out = write_zoo(tmp_path / "zoo", models=1), tmp_path / "out"
    assert pgdl_run(zoo, "-m", "params", "-o", out)[0] == 0
    code, printed = pgdl_run(zoo, "-m", "params", "-o", out, "--threads", 2)
    assert code == 1 and "params: 1 result with --threads 1; now --threads 2" in printed


def test_the_code_of_a_measure_counts_and_its_documentation_does_not(toolkit, monkeypatch) -> None:
    monkeypatch.setattr("ingestion.source_closure.TOOLKIT_ROOT", toolkit)
    chosen = [complexity(name) for name in ("mixup", "gi_rotation", "contre_gap", "params")]

    def changed(path: str) -> set[str]:
        """The measures whose fingerprint is another one after an edit."""
        before = {measure.name: fingerprint.settings(measure) for measure in chosen}
        file = toolkit / path
        text = file.read_text(encoding="utf-8")
        file.write_text(text + "\n_NEW = 1\n", encoding="utf-8")
        now = {measure.name: fingerprint.settings(measure) for measure in chosen}
        file.write_text(text, encoding="utf-8")
        return {name for name in now if now[name] != before[name]}

    everything = {measure.name for measure in chosen}
    assert changed("pgdl_measures/base.py") == everything
    assert changed("pgdl_measures/data.py") == everything  # imported lazily by base.py
    assert changed("ingestion/model_files/models.py") == everything  # decodes the models
    assert changed("ingestion/datasets/data.py") == everything
    assert changed("pgdl_measures/perturbations/randaugment.py") == {"contre_gap"}
    assert changed("pgdl_measures/perturbations/geometric.py") == {"gi_rotation", "contre_gap"}
    assert changed("pgdl_measures/norms/output.py") == {"params"}
    for path in ("pgdl_measures/registry.py", "pgdl_measures/contre/entries.py"):
        assert changed(path) == set()
    for path in ("pgdl_measures/__init__.py", "ingestion/run/loop.py", "scoring/cmi.py"):
        assert changed(path) == set()


def test_what_makes_a_measure_counts_and_what_describes_it_does_not() -> None:
    mixup = complexity("mixup")
    described = replace(mixup, summary="other", definition="x", source="y", cost="low", use="z")
    assert fingerprint.settings(described) == fingerprint.settings(mixup)
    for other in (
        mixup.negated(),
        mixup.with_options(batches=7),
        mixup.with_options(max_bytes=10**9),
        replace(mixup, fixed={**mixup.fixed, "layer": 1}),
    ):
        assert fingerprint.settings(other) != fingerprint.settings(mixup)


def test_every_fingerprint_takes_less_than_seconds() -> None:
    start = time.process_time()
    assert len({fingerprint.settings(measure) for measure in measures()}) == len(measures())
    assert time.process_time() - start < 5


BARE = "def f(x):\n    if x < 0:\n        raise ValueError('below zero')\n    return x + 1\n"


@pytest.mark.parametrize(
    ("source", "same"),
    [
        (f'"""What it is for."""\n\n{BARE}', True),
        (BARE.replace("(x):\n", '(x):\n    """One more."""\n'), True),
        (BARE.replace("    return", "    # why\n\n    return"), True),
        (BARE.replace("x + 1", "(\n        x\n        + 1\n    )"), True),
        (BARE.replace("'below zero'", "f'{x} is below zero'"), True),
        (BARE.replace("x + 1", "x + 2"), False),
        (BARE.replace("x < 0", "x <= 0"), False),
        (BARE.replace("ValueError", "TypeError"), False),
        (BARE + "A = 'text'\n", False),
    ],
)
def test_code_is_compared_by_what_it_computes(source: str, same: bool) -> None:
    assert (code_digest(source.encode()) == code_digest(BARE.encode())) is same


@pytest.mark.parametrize(
    "source, message",
    [
        ("def mine(subject):\n    return (", "SyntaxError: .* line 2"),
        ("import os\nos.nothing", r"AttributeError: .* \(mine_of_.*\.py, line 2\)"),
        ("import mine_beside_it_that_breaks", r"SyntaxError: .*mine_beside.*line 1"),
    ],
)
def test_what_is_wrong_in_a_users_module_is_told_with_its_place(
    source: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine_beside_it_that_breaks.py").write_text("(")
    name = f"mine_of_{len(source)}"
    (tmp_path / f"{name}.py").write_text(source)
    with pytest.raises(PgdlError, match=message):
        choose_measures([f"{name}:mine"], {})


def test_the_source_of_a_users_measure_may_have_an_encoding_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    source = "# -*- coding: latin-1 -*-\ndef mine(subject):\n    return len('Größe')\n"
    (tmp_path / "mine_in_latin.py").write_text(source, encoding="latin-1")
    (mine,) = choose_measures(["mine_in_latin:mine"], {})
    assert fingerprint.settings(mine)


def test_a_users_measure_counts_with_what_it_imports_beside_it(tmp_path, monkeypatch) -> None:
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "own_a.py").write_text(
        "import numpy\nimport own_b\n\n\ndef mine(subject):\n    from own_pkg.inner import c\n"
    )
    (tmp_path / "own_b.py").write_text("B = 1\n")
    (tmp_path / "own_pkg").mkdir()
    (tmp_path / "own_pkg" / "__init__.py").write_text("")
    (tmp_path / "own_pkg" / "inner.py").write_text("from .deep import c\n")
    (tmp_path / "own_pkg" / "deep.py").write_text("c = 1\n")
    (tmp_path / "own_unused.py").write_text("")
    assert set(closure(["own_a"])) == {"own_a", "own_b", "own_pkg.inner", "own_pkg.deep"}
    mine = Measure("mine", "", "own_a:mine")
    before = fingerprint.settings(mine)
    (tmp_path / "own_pkg" / "deep.py").write_text("c = 1  # as before\n")
    (tmp_path / "own_unused.py").write_text("X = 1\n")
    assert fingerprint.settings(mine) == before
    (tmp_path / "own_pkg" / "deep.py").write_text("c = 2\n")
    assert fingerprint.settings(mine) != before


def test_a_name_that_a_package_passes_on_counts_as_the_module_that_has_it(
    tmp_path, monkeypatch
) -> None:
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "own_e.py").write_text("from pgdl_measures import MeasureError\n")
    assert set(closure(["own_e"])) == {"own_e", "pgdl_measures.errors"}


def test_a_users_measure_that_asks_for_measures_by_name_counts_with_all_of_them(
    toolkit, tmp_path, monkeypatch
) -> None:
    monkeypatch.setattr("ingestion.source_closure.TOOLKIT_ROOT", toolkit)
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "own_sum.py").write_text(
        "from pgdl_measures import complexity\n\n\ndef mine(subject):\n"
        "    return complexity('mixup').on(subject) + complexity('params').on(subject)\n"
    )
    mine = Measure("mine", "", "own_sum:mine")
    before = fingerprint.settings(mine)
    edit(toolkit / "pgdl_measures/response_curves/entries.py", "Schiff", "Schiff and others")
    assert fingerprint.settings(mine) == before
    (toolkit / "pgdl_measures/norms/output.py").write_text("def params(subject): return 1\n")
    assert fingerprint.settings(mine) != before


def test_a_worker_with_other_code_than_the_run_began_with_gives_no_value(tmp_path: Path) -> None:
    zoo = write_zoo(tmp_path, models=1)
    params = complexity("params")
    now = replace(
        job("t"),
        folder=zoo / "t" / "model_0",
        shards=(zoo / "t" / "dataset_1" / "train" / "shard_0.tfrecord",),
        measures=(params,),
    )

    def result(planned: str) -> Measured:
        messages = Measuring().run(replace(now, fingerprints={"params": planned}))
        return next(message for message in messages if isinstance(message, Measured))

    assert result(fingerprint.settings(params)).value is not None
    assert result("another").value is None
    assert "edited during the run" in str(result("another").error)
