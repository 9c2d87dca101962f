"""What is in a submission zip: all that it needs, nothing else, the same bytes every time."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from verbs import run_verb

from ingestion.run.chosen import choose_measures
from pgdl_measures import measures
from pgdl_measures.base import Measure
from pgdl_measures.errors import PgdlError
from starting_kit_adapter.bundle import vendor
from starting_kit_adapter.bundle.errors import BundleError
from starting_kit_adapter.bundle.submission import submission_files
from starting_kit_adapter.cli import bundle

BESIDE = {"tensorflow", "numpy", "scipy", "absl", "pgdl_bundle"}


def pgdl_bundle(*arguments: object) -> int:
    return run_verb(bundle, *arguments)


def imported(source: bytes) -> set[str]:
    names = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0 and node.module
            names |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return names


@pytest.mark.parametrize("name", [measure.name for measure in measures()])
def test_a_bundle_needs_nothing_but_itself_and_the_four_packages(name):
    files = submission_files(choose_measures([name], {}))
    modules = {path[: -len(".py")].replace("/", ".") for path in files if path.endswith(".py")}
    packages = {module[: -len(".__init__")] for module in modules if module.endswith(".__init__")}
    for path, content in files.items():
        if not path.endswith(".py"):
            continue
        for module in imported(content):
            top = module.partition(".")[0]
            assert top in BESIDE or top in sys.stdlib_module_names, f"{path} imports {module}"
            if top == "pgdl_bundle":
                known = {module, module.rpartition(".")[0]}  # a module, or a name in one
                assert known & (modules | packages), f"{path} imports {module}"


def test_the_layout_is_the_kits(tmp_path, capsys):
    assert pgdl_bundle("-m", "gi_intra_l0", "-o", tmp_path / "new" / "submission.zip") == 0
    with zipfile.ZipFile(tmp_path / "new" / "submission.zip") as opened:
        names = opened.namelist()
        (line,) = opened.read("metadata").decode().splitlines()
    assert {"complexity.py", "metadata"} <= set(names)
    assert {name.split("/")[0] for name in names} == {"complexity.py", "metadata", "pgdl_bundle"}
    assert line.startswith("description: ")
    assert "gi_intra_l0" in line
    assert "sha256" in capsys.readouterr().out


def test_a_bundle_has_only_what_its_measure_imports():
    files = submission_files(choose_measures(["gi_intra_l0"], {}))
    assert "pgdl_bundle/pgdl_measures/response_curves/curves.py" in files
    assert not any(path.startswith("pgdl_bundle/starting_kit_adapter") for path in files)


def test_the_zip_is_the_same_byte_for_byte(tmp_path):
    first, second = tmp_path / "first.zip", tmp_path / "second.zip"
    arguments = ["-m", "gi_intra_l0,mixup", "--combine", "avg", "-o"]
    pgdl_bundle(*arguments, first)
    code = (
        "import argparse, os, sys; os.umask(0o077)\n"
        "from starting_kit_adapter.cli import bundle\n"
        "parser = argparse.ArgumentParser(); bundle.add_arguments(parser)\n"
        "sys.exit(bundle.run(parser.parse_args(sys.argv[1:])))"
    )
    root = Path(__file__).resolve().parents[2]
    environment = {**os.environ, "PYTHONHASHSEED": "7", "TZ": "Asia/Tokyo", "PYTHONPATH": str(root)}
    subprocess.run(
        [sys.executable, "-c", code, *arguments, second], cwd=tmp_path, env=environment, check=True
    )
    assert first.read_bytes() == second.read_bytes()


def test_options_are_written_into_the_bundle():
    files = submission_files(choose_measures(["gi_intra_l0"], {"batches": 20}))
    assert b"'batches': 20" in files["complexity.py"]
    assert b"batches=20" in files["metadata"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["-m", "gi_intra_10"], "unknown measure 'gi_intra_10'; did you mean .*gi_intra_l0"),
        (["-m", "mixup,gi_intra_l0"], "several measures need one of avg, prod"),
        (["-m", "mixup", "--combine", "prod"], "one measure needs none"),
        (["-m", "mixup", "--set", "batch=3"], "'batch'; did you mean batches"),
        (["-m", "mixup", "--set", "batches"], "expected OPTION=VALUE"),
    ],
)
def test_what_cannot_be_bundled_is_said(arguments, message, tmp_path):
    with pytest.raises(PgdlError, match=message):
        pgdl_bundle(*arguments, "-o", tmp_path / "submission.zip")
    assert not list(tmp_path.iterdir())


def test_a_measure_from_another_package_is_not_bundled():
    measure = Measure("mean", "", "scipy.stats:tmean")
    with pytest.raises(BundleError, match=r"'scipy.stats' is no module of .* not bundled"):
        submission_files([measure])


def test_a_users_measure_may_have_any_docstring_and_encoding(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    source = "# coding: latin-1\ndef mine(subject):\n    return len('Größe')  # \x0c\x85 é\n"
    (tmp_path / "mine_in_latin_too.py").write_text(source, encoding="latin-1")
    summary = 'ends its text: """, a \\d+, a "word"'
    files = submission_files([Measure("mine", summary, "mine_in_latin_too:mine")])
    program = ast.parse(files["complexity.py"])
    assert ast.get_docstring(program).splitlines()[0] == f"mine, {summary}"
    assert files["pgdl_bundle/mine_in_latin_too.py"] == source.encode("latin-1")


def test_an_option_that_cannot_be_written_as_text():
    measure = Measure(
        "m", "", "pgdl_measures.response_curves.measures:response", options={"f": print}
    )
    with pytest.raises(BundleError, match="m has options="):
        submission_files([measure])


def test_imports_are_followed_into_functions_and_packages(tmp_path, monkeypatch):
    package = tmp_path / "pgdl_measures"
    (package / "deep").mkdir(parents=True)
    (package / "__init__.py").write_text("")
    (package / "deep" / "__init__.py").write_text("")
    (package / "deep" / "table.csv").write_text("1,2\n")
    (package / "deep" / "inner.py").write_text("VALUE = 1\n")
    (package / "unused.py").write_text("")
    (package / "start.py").write_text(
        "import numpy\n"
        "def f():\n"
        "    from pgdl_measures.deep import inner\n"
        "    return inner.VALUE, 'from pgdl_measures.deep', \"pgdl_measures.deep.inner:f\"\n"
    )
    monkeypatch.setattr("ingestion.source_closure.TOOLKIT_ROOT", tmp_path)
    files = vendor.vendored(["pgdl_measures.start"], "private")
    assert set(files) == {
        "private/__init__.py",
        "private/pgdl_measures/__init__.py",
        "private/pgdl_measures/start.py",
        "private/pgdl_measures/deep/__init__.py",
        "private/pgdl_measures/deep/inner.py",
        "private/pgdl_measures/deep/table.csv",
    }
    start = files["private/pgdl_measures/start.py"].decode()
    assert "from private.pgdl_measures.deep import inner" in start
    assert '"private.pgdl_measures.deep.inner:f"' in start
    assert "'from pgdl_measures.deep'" in start


@pytest.mark.parametrize("line", ["import pgdl_measures.base", "from . import base"])
def test_imports_that_cannot_be_rewritten_are_refused(line, tmp_path, monkeypatch):
    (tmp_path / "pgdl_measures").mkdir()
    (tmp_path / "pgdl_measures" / "__init__.py").write_text(f"{line}\n")
    monkeypatch.setattr("ingestion.source_closure.TOOLKIT_ROOT", tmp_path)
    with pytest.raises(BundleError, match=r"__init__\.py:1: .*cannot|only"):
        vendor.vendored(["pgdl_measures"], "private")
