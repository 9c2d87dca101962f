"""The documents: their links and paths resolve, and every command of the tutorial runs."""

from __future__ import annotations

import ast
import os
import re
import shlex
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from ingestion.run.chosen import choose_measures
from starting_kit_adapter.cli.main import make_parser
from starting_kit_adapter.terminal.negation import join_negated

ROOT = Path(__file__).resolve().parent.parent
DOCUMENTS = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").glob("*.md"))]
# A block with a file's name is the content of that file.
BLOCK = re.compile(r"^```(sh|python)(?: ([\w.]+))?\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def anchors(text: str) -> set[str]:
    """The anchors that GitHub makes of headings."""
    headings = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_every_local_link_leads_somewhere(document):
    text = document.read_text(encoding="utf-8")
    for link in re.findall(r"\]\(([^)\s]+)\)", text):
        if link.startswith(("https://", "mailto:")):
            continue
        target, _, anchor = link.partition("#")
        path = document.parent / target if target else document
        assert path.exists(), link
        if anchor:
            assert anchor in anchors(path.read_text(encoding="utf-8")), link


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_every_named_source_file_and_function_exists(document):
    """`folder/file.py`, or `folder/file.py:function`."""
    text = document.read_text(encoding="utf-8")
    packages = "pgdl_measures|ingestion|scoring|starting_kit_adapter|tests|benchmarks|docker"
    for path, name in re.findall(rf"`((?:{packages})/[\w/.]+\.\w+)(?::(\w+))?`", text):
        file = ROOT / path
        assert file.is_file(), path
        if name:
            body = ast.parse(file.read_text(encoding="utf-8")).body
            assert name in {getattr(node, "name", None) for node in body}, f"{path}:{name}"


SOURCES = [
    path
    for package in ("pgdl_measures", "ingestion", "scoring", "starting_kit_adapter", "benchmarks")
    for path in sorted((ROOT / package).rglob("*.py"))
]
CITED = re.compile(r"([A-Z][\w-]+(?: et al\.| and [A-Z]\w+))\s+\(?((?:19|20)\d\d\w?)")


def test_every_cited_paper_is_in_the_list_of_papers():
    listed = (ROOT / "docs" / "papers.md").read_text(encoding="utf-8")
    known = set(re.findall(r"^\| ([A-Z][^|]*?\d{4}\w?) \|", listed, re.MULTILINE))
    cited: dict[str, str] = {}
    for path in [*DOCUMENTS, *SOURCES]:
        for authors, year in CITED.findall(path.read_text(encoding="utf-8")):
            cited[f"{authors} {year}"] = str(path.relative_to(ROOT))
    assert len(cited) > 10
    assert {name: where for name, where in cited.items() if name not in known} == {}


def commands(document: Path) -> list[str]:
    """The `pgdl` commands in the blocks of a document, and in all of the text of papers.md."""
    text = document.read_text(encoding="utf-8").replace("\\\n", "")
    lines = [line for _, _, block in BLOCK.findall(text) for line in block.splitlines()]
    found = [re.split(" [#>]", line)[0] for line in lines if line.startswith("pgdl ")]
    return found + (re.findall(r"`(pgdl [^`]+)`", text) if document.name == "papers.md" else [])


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_every_command_can_be_typed(document):
    parser = make_parser()
    found = commands(document)
    assert len(found) > 60 or document.name != "papers.md"
    for command in found:
        args = parser.parse_args(join_negated(shlex.split(command)[1:]))  # exits if it cannot
        names = getattr(args, "measures", None)
        if args.verb in ("run", "study") and isinstance(names, str) and ":" not in names:
            assert choose_measures(names.split(","), {}), command


def test_the_readme_is_short():
    assert len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()) <= 150


@pytest.mark.parametrize(
    ("document", "written"),
    [
        ("tutorial.md", ["curves.png", "report.html", "submission.zip", "kit_scores/scores.txt"]),
        ("adding-a-measure.md", ["out/undecided/grid.predict", "out/gi_blur/grid.predict"]),
    ],
    ids=["tutorial", "adding-a-measure"],
)
def test_every_command_runs(document, written, tmp_path):
    """As a reader would paste them: one after the other, in one folder."""
    pytest.importorskip("sklearn")
    pytest.importorskip("matplotlib")
    programs = tmp_path / "programs"
    programs.mkdir()
    for name, module in (("pgdl", "-m starting_kit_adapter.cli.main"), ("python", "")):
        script = programs / name
        script.write_text(f'#!/bin/sh\nexec "{sys.executable}" {module} "$@"\n')
        script.chmod(script.stat().st_mode | stat.S_IXUSR)
    environment = {
        **os.environ,
        "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": str(ROOT),
        "TF_CPP_MIN_LOG_LEVEL": "3",
    }
    folder = tmp_path / "work"
    folder.mkdir()
    blocks = BLOCK.findall((ROOT / "docs" / document).read_text(encoding="utf-8"))
    assert blocks
    for language, file, text in blocks:
        if file:
            (folder / file).write_text(text, encoding="utf-8")
            continue
        command = ["python", "-c", text] if language == "python" else ["sh", "-ec", text]
        done = subprocess.run(
            command, cwd=folder, env=environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, f"{text}\n{done.stdout}\n{done.stderr}"
    for name in written:
        assert (folder / name).is_file(), name
