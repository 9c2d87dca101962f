"""`pgdl rank --predictor`: expected test accuracies with intervals, and where they do not hold."""

from __future__ import annotations

import csv
import io
import json

import pytest
from test_rank_verb import QUICK, folder, guess, pgdl_rank

from scoring.errors import ScoringError
from scoring.predictor import Predictor

__all__ = ["folder"]  # a fixture


def predictor(**changed: object) -> dict[str, object]:
    """gap = 0.5 + 0.5 mixup, and mixup is an accuracy, negated: from 0 to 0.5, +- 0.05."""
    fields: dict[str, object] = {
        "measures": ("mixup",),
        "weights": (0.5,),
        "intercept": 0.5,
        "ridge": 0.0,
        "half_width": 0.05,
        "coverage": 0.9,
        "smallest": (-1.0,),
        "largest": (0.0,),
        "tasks": {"a": 8},
        "options": {"mixup": {"batches": 3}},
    }
    return Predictor(**{**fields, **changed}).to_json()  # type: ignore[arg-type]


def test_the_expected_accuracy_is_the_training_accuracy_less_the_predicted_gap(folder, capsys):
    path = folder / "predictor.json"
    path.write_text(json.dumps(predictor()))
    args = (folder / "models", "--data", f"npz:{folder / 'test.npz'}", *QUICK)
    kept = ("-o", folder / "out", "--predictor", path)
    assert pgdl_rank(*args, *kept, "--format", "json", "--html", folder / "page.html") == 0
    found = json.loads(capsys.readouterr().out)
    records = [json.loads(x) for x in (folder / "out/run/records.jsonl").read_text().splitlines()]
    measured = [r for r in records if "mixup_learned" in r.get("values", {})]
    assert len(measured) == 2
    assert all(r["options"]["mixup_learned"] == {"batches": 3} for r in measured)
    for model in found["models"]:
        gaps = [0.5 + 0.5 * record["values"]["mixup_learned"] for record in measured]
        expected = [model["train_acc"] - gap for gap in gaps]
        assert model["expected_accuracy"] in [pytest.approx(value) for value in expected]
        low = max(0.0, model["expected_accuracy"] - 0.05)
        high = min(1.0, model["expected_accuracy"] + 0.05)
        assert [model["expected_low"], model["expected_high"]] == pytest.approx([low, high])
        assert model["expected_unlike"] == []
    assert "predictor" in [one["name"] for one in found["agreement_with_truth"]]
    assert "expected test accuracy" in (folder / "page.html").read_text()
    assert pgdl_rank(*args, *kept, "--format", "csv") == 0
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert float(rows[0]["expected_accuracy"]) == found["models"][0]["expected_accuracy"]


def test_a_model_unlike_those_learned_from_is_named(folder, capsys):
    path = folder / "predictor.json"
    path.write_text(json.dumps(predictor(smallest=(-0.2,), largest=(-0.1,), half_width=0.5)))
    args = (folder / "models", "--data", f"npz:{folder / 'mine.npz'}", *QUICK)
    assert pgdl_rank(*args, "--predictor", path) == 0
    said = capsys.readouterr().out
    assert "caution: unlike the models that the predictor was learned from" in said
    assert "average (mixup)" in said and "memory (mixup)" in said
    assert " to 100); 90 % interval in brackets" in said


def test_a_gap_beyond_the_training_accuracy_is_refused_for_that_model_alone(folder, capsys):
    path = folder / "predictor.json"
    path.write_text(json.dumps(predictor(intercept=0.9, weights=(0.0,))))
    guess().save(folder / "models/guess.keras")
    args = (folder / "models", "--data", f"npz:{folder / 'mine.npz'}", *QUICK)
    assert pgdl_rank(*args, "--predictor", path, "--format", "json") == 1
    found = json.loads(capsys.readouterr().out)
    expected = {m["model"]: m.get("expected_accuracy") for m in found["models"]}
    assert expected["guess"] is None and expected["memory"] == pytest.approx(0.1)
    reason = found["left_out"]["guess (expected test accuracy)"]
    assert "a gap of 90%, more than its training accuracy of 50%" in reason


def test_a_file_that_is_no_predictor_is_refused_before_anything_is_computed(folder):
    (folder / "other.json").write_text("{}")
    with pytest.raises(ScoringError, match=r"other\.json: is not a predictor"):
        pgdl_rank(folder / "models", "--data", "npz:x.npz", "--predictor", folder / "other.json")
