"""`pgdl study robust` on a table of runs: models that missed their target are left out."""

from __future__ import annotations

import argparse
import itertools
import json
from pathlib import Path
from types import SimpleNamespace

import pytest

from ingestion.corpus import Task
from pgdl_measures.errors import PgdlError
from starting_kit_adapter.studies import robust
from starting_kit_adapter.studies.robust.runs import runs_of

CELLS = list(itertools.product((2, 3), (100, 200), range(5)))


@pytest.fixture
def task(tmp_path: Path) -> Task:
    entries = {}
    for i, (depth, examples, repeat) in enumerate(CELLS):
        gap = 0.1 * depth + 10 / examples + 0.001 * repeat
        entries[str(i)] = {
            "hparams": {
                "depth": {"possible_values": [2, 3], "current_value": depth},
                "train_examples": {"possible_values": [100, 200], "current_value": examples},
            },
            "metrics": {"train_acc": 1.0, "test_acc": 1 - gap},
            "reached_target": i != 0,
        }
    path = tmp_path / "t" / "model_configs.json"
    path.parent.mkdir()
    path.write_text(json.dumps(entries))
    return Task("t", path.parent, path, tuple(f"model_{i}" for i in range(len(CELLS))))


def _report(task: Task, **measures: object) -> SimpleNamespace:
    results = {
        (task.name, model, name): SimpleNamespace(value=function(*CELLS[i]))  # type: ignore[operator]
        for i, model in enumerate(task.model_ids)
        for name, function in measures.items()
    }
    return SimpleNamespace(results=results)


def test_models_that_missed_their_target_are_left_out_and_told(task: Task) -> None:
    report = _report(task, depth_alone=lambda depth, examples, repeat: depth)
    runs = runs_of(task, ["depth_alone", "absent"], report, keep_all=False)  # type: ignore[arg-type]
    assert len(runs.gap) == len(CELLS) - 1
    assert "1 of 20 models missed the target" in runs.left_out[0]
    assert runs.left_out[-1] == "no model has a value of absent"
    assert len(runs_of(task, ["depth_alone"], report, keep_all=True).gap) == 20  # type: ignore[arg-type]
    with pytest.raises(PgdlError, match="have all values"):
        runs_of(task, ["absent"], report, keep_all=True)  # type: ignore[arg-type]


def test_the_study_writes_tables_and_figures(
    task: Task, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("matplotlib")
    report = _report(
        task,
        right=lambda depth, examples, repeat: 0.1 * depth + 10 / examples,
        wrong=lambda depth, examples, repeat: -depth - 10 / examples,
    )
    args = argparse.Namespace(
        by=None, test_size=10_000, min_effective=12.0, all=True, output=tmp_path
    )
    robust.write_task(task, ["right", "wrong"], report, args)  # type: ignore[arg-type]
    folder = tmp_path / "robust" / "t"
    content = json.loads((folder / "table.json").read_text())
    worst = {
        record["measure"]: record["maximum"]
        for record in content["records"]
        if record["quantity"] == "sign-error" and record["family"] == "all"
    }
    assert worst == {"right": 0.0, "wrong": 1.0}
    assert (folder / "figure1.png").is_file() and "20 models" in capsys.readouterr().out
