"""`pgdl table` and `pgdl report`: where the reference comes from, formats, exit codes."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from report_runs import FakeRun, write_run
from verbs import run_verb

from scoring.errors import ScoringError
from starting_kit_adapter.cli import report, table


def test_text_is_printed(fake: FakeRun, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_verb(table, fake.out, "--reference", fake.reference) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "all tasks: CMI x 100"
    assert lines[3].split()[:2] == ["knows", "100.0000"]
    assert "alpha" in lines and "beta" in lines


@pytest.mark.parametrize("form", ["markdown", "csv", "json"])
def test_a_file_is_written(fake: FakeRun, tmp_path: Path, form: str) -> None:
    file = tmp_path / "new" / "table"
    arguments = (fake.out, "--reference", fake.reference, "--format", form, "-o", file)
    assert run_verb(table, *arguments) == 0
    text = file.read_text()
    assert "knows" in text
    if form == "json":
        assert next(row["measure"] for row in json.loads(text)["measures"]) == "knows"


def test_the_reference_is_the_corpus_of_the_run(tmp_path: Path) -> None:
    made = write_run(tmp_path, tasks=("alpha",))
    with pytest.raises(ScoringError, match="names a corpus; expected a folder that"):
        run_verb(table, made.out)
    (made.out / "run.json").write_text(json.dumps({"corpus": str(tmp_path / "gone")}))
    with pytest.raises(ScoringError, match="gone, is not there: give --reference"):
        run_verb(table, made.out)
    (made.out / "run.json").write_text(json.dumps({"corpus": str(made.reference), "seed": 3}))
    assert run_verb(table, made.out) == 0


def test_a_partial_result_is_written_and_is_an_error(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    made = write_run(tmp_path)
    (made.out / "knows" / "beta.predict").unlink()
    page = tmp_path / "report.html"
    assert run_verb(report, made.out, "--reference", made.reference, "-o", page) == 1
    text = page.read_text(encoding="utf-8")
    assert "not all tasks" in text
    assert "beta: no score for knows: no predictions" in text
    assert "Response to intra-class mixup at layer 0." in text


def test_neither_verb_imports_tensorflow(fake: FakeRun, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    code = (
        "import argparse, sys\n"
        "from starting_kit_adapter.cli import report\n"
        "assert 'matplotlib' not in sys.modules and 'scipy' not in sys.modules\n"
        "parser = argparse.ArgumentParser()\n"
        "report.add_arguments(parser)\n"
        "report.run(parser.parse_args(sys.argv[1:]))\n"
        "assert 'tensorflow' not in sys.modules\n"
    )
    arguments = [fake.out, "--reference", fake.reference, "-o", tmp_path / "page.html"]
    subprocess.run([sys.executable, "-c", code, *map(str, arguments)], check=True)
