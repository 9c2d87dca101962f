"""The published results of the eight small tasks, and the pages that are rendered from them."""

from __future__ import annotations

import json
import runpy
from pathlib import Path

import numpy as np
import pytest

from scoring.cmi import cmi
from scoring.kit.predictions import find_measures
from scoring.kit.reference import find_references, read_reference

ROOT = Path(__file__).resolve().parents[1]
RESULTS = ROOT / "benchmarks" / "results" / "mini"
PAGES = runpy.run_path(str(ROOT / "benchmarks" / "mini" / "pages.py"))


def test_there_are_eight_tasks_of_24_networks_and_all_measures_have_all_values():
    references = find_references(RESULTS / "reference")
    assert len(references) == 8
    for task, path in references.items():
        known = read_reference(path, task)
        assert len(known.ids) == 24
        for folder in find_measures(RESULTS).values():
            values = json.loads((folder / f"{task}.predict").read_text())
            assert {*values} == {*known.ids} and np.isfinite([*values.values()]).all()


def test_every_registered_measure_was_run():
    from pgdl_measures import measures

    assert {measure.name for measure in measures()} <= {*find_measures(RESULTS)}


@pytest.mark.parametrize("page", PAGES["PAGES"], ids=lambda path: path.name)
def test_the_pages_are_what_the_results_render(page):
    text = page.read_text(encoding="utf-8")
    assert "<!-- mini: best -->" in text
    assert PAGES["rendered"](text) == text, "run python benchmarks/mini/pages.py"


def test_a_number_of_the_table_is_the_mean_score_over_tasks():
    found = []
    for task, path in find_references(RESULTS / "reference").items():
        known = read_reference(path, task)
        values = json.loads((RESULTS / "contre_gap" / f"{task}.predict").read_text())
        found.append(cmi(known.codes, known.gap, [values[model] for model in known.ids]).score)
    (line,) = [row for row in PAGES["everything"]().splitlines() if "| contre_gap |" in row]
    assert float(line.split("|")[2]) == pytest.approx(100 * np.mean(found), abs=0.006)


def test_nothing_of_the_machine_and_no_weights_are_published():
    files = [path for path in RESULTS.rglob("*") if path.is_file()]
    assert {path.suffix for path in files} <= {".predict", ".json", ".jsonl", ".md"}
    assert sum(path.stat().st_size for path in files) < 10_000_000
    assert not any(b"/home/" in p.read_bytes() or b"/tmp/" in p.read_bytes() for p in files)
