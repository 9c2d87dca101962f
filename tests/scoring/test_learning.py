"""`pgdl learn` over runs on disk: what it learns is what the numbers in them say."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from verbs import run_verb

from scoring.errors import ScoringError
from scoring.learning import judge, read_known_tasks
from scoring.predictor import from_json
from scoring.record import RECORDS, Line
from starting_kit_adapter.cli import learn

MEASURES = ("mixup", "gi_intra_l0")


def write_run(folder: Path, tasks: int = 5, models: int = 16, options: dict | None = None) -> Path:
    """A run whose gaps are 0.1 + 0.5 mixup, with its reference beside it."""
    rng = np.random.default_rng(tasks)
    out = folder / "out"
    lines = []
    for number in range(tasks):
        task = f"task{number}"
        mixup = rng.uniform(0.1, 0.3, models) + 0.1 * number
        values = dict(zip(MEASURES, (mixup, rng.uniform(size=models))))
        reference = {
            f"model_{i}": {
                "hparams": {"width": {"possible_values": [0, 1], "current_value": i % 2}},
                "metrics": {"train_acc": 1.0, "test_acc": 0.9 - 0.5 * mixup[i]},
            }
            for i in range(models)
        }
        path = folder / "reference" / task / "model_configs.json"
        path.parent.mkdir(parents=True)
        path.write_text(json.dumps(reference))
        for measure in MEASURES:
            predictions = {f"model_{i}": values[measure][i] for i in range(models)}
            path = out / measure / f"{task}.predict"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(json.dumps(predictions))
        line = Line(task, "model_0", values={"mixup": mixup[0]}, options={"mixup": options or {}})
        lines.append(line.encode())
    (out / RECORDS).write_bytes(b"".join(lines))
    return out


def run(*arguments: object) -> int:
    return run_verb(learn, *arguments)


def test_the_verb_writes_what_the_gaps_are_made_of_and_says_how_well_it_does(tmp_path, capsys):
    out = write_run(tmp_path, options={"batches": 4})
    file = tmp_path / "predictor.json"
    reference = ("--reference", tmp_path / "reference")
    assert run(out, "-m", ",".join(MEASURES), *reference, "-o", file) == 0
    content = json.loads(file.read_text())
    assert content["options"] == {"mixup": {"batches": 4}}
    predictor = from_json(content, "predictor.json")
    assert predictor.weights == pytest.approx((0.5, 0.0), abs=2e-3)
    assert predictor.tasks == {f"task{i}": 16 for i in range(5)}
    text = capsys.readouterr().out
    assert "of mean gap" in text and "task4" in text and "gap = 0.1 + 0.5 mixup" in text


def test_a_task_is_judged_by_what_the_others_teach(tmp_path):
    out = write_run(tmp_path)
    tasks, left_out = read_known_tasks(out, tmp_path / "reference", MEASURES)
    assert not left_out
    for one in judge(tasks, MEASURES):
        assert one.error < 0.01 < one.error_of_mean
        assert one.single == "mixup" and one.error_of_single < 0.01
        assert one.kendall > 0.95


def test_a_task_without_predictions_is_left_out_by_name(tmp_path):
    out = write_run(tmp_path)
    (out / "mixup" / "task2.predict").unlink()
    (out / "gi_intra_l0" / "task3.predict").write_text("{")
    tasks, left_out = read_known_tasks(out, tmp_path / "reference", MEASURES)
    assert [task.name for task in tasks] == ["task0", "task1", "task4"]
    assert [reason.split(":")[0] for reason in left_out] == ["task2", "task3"]
    arguments = ("--reference", tmp_path / "reference", "-o", tmp_path / "predictor.json")
    with pytest.raises(ScoringError, match="takes 4 tasks or more; found 3"):
        run(out, "-m", "mixup,gi_intra_l0", *arguments)
    assert not (tmp_path / "predictor.json").exists()


def test_runs_with_other_options_are_not_mixed(tmp_path):
    outs = [write_run(tmp_path / str(batches), options={"batches": batches}) for batches in (4, 8)]
    references = [a for o in outs for a in ("--reference", o.parent / "reference")]
    with pytest.raises(ScoringError, match=r"mixup was computed with .*8.*, elsewhere with .*4"):
        run(*outs, "-m", "mixup", *references, "-o", tmp_path / "predictor.json")
    with pytest.raises(ScoringError, match="found 1 --reference for 2 runs"):
        run(*outs, "-m", "mixup", *references[:2], "-o", tmp_path / "predictor.json")
