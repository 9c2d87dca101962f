"""What has no value is told with its remedy, if there is one."""

from __future__ import annotations

from pathlib import Path

from ingestion.run.chosen import left_out_of_all
from ingestion.run.loop import Report
from pgdl_measures.base import IMAGES, INITIAL
from pgdl_measures.registry import measures
from scoring.record import REFUSED, Result
from starting_kit_adapter.terminal.failures import tell_failures


def failed(error: str) -> Result:
    return Result(None, error, 0.0, "", {}, None, None)


def test_only_what_another_attempt_may_mend_is_offered_for_one(capsys) -> None:
    refused = {("t", f"model_{i}", "vpm"): failed(f"{REFUSED}it has one layer") for i in range(3)}
    assert tell_failures(Report(refused, 3, 3, 1.0), Path("out"), "try --retry-failed") == 1
    assert capsys.readouterr().out == (
        "vpm; t model_0 and 2 other models: does not apply: it has one layer\n"
    )
    slow = {("t", "model_0", "gi"): failed("took more than 300 s")}
    assert tell_failures(Report(slow, 1, 1, 1.0), Path("out"), "try --retry-failed") == 1
    assert "try --retry-failed" in capsys.readouterr().out


def test_measures_that_the_same_models_refuse_for_the_same_reason_are_one_line(capsys) -> None:
    models, reason = ("model_0", "model_1"), f"{REFUSED}the inputs are token ids"
    results = {("t", m, name): failed(reason) for name in ("mixup", "dbi", "vpm") for m in models}
    results["t", "model_1", "path_norm"] = failed(reason)
    tell_failures(Report(results, 2, 2, 1.0), Path("out"), "try --retry-failed")
    assert capsys.readouterr().out == (
        "mixup, dbi, vpm; t model_0 and 1 other model: does not apply: the inputs are token ids\n"
        "path_norm; t model_1: does not apply: the inputs are token ids\n"
    )


def test_what_all_leaves_out_is_one_line_by_what_is_missing() -> None:
    line = left_out_of_all([need for m in measures() for need in m.needs if need != INITIAL])
    assert line is not None and "\n" not in line
    assert "that need initial weights (" in line and "distance_from_init" in line
    assert IMAGES not in line
    assert left_out_of_all([need for m in measures() for need in m.needs]) is None
