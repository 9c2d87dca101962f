"""One schema for the record: what a run writes is what everyone reads."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from damaged_lines import DAMAGED_LINES

from scoring.errors import ScoringError
from scoring.record import Curve, Line, Stamp, latest_results, parse_line
from scoring.recorded_run import read_run, recorded_corpus

LINE = Line(
    "t",
    "model_3",
    "failed",
    {"gi": 0.25},
    {"gi": 1.5, "pal": 2.0},
    {"pal": "no pair in any batch"},
    batches={"gi": 12},
    curves=(Curve((0.0, 0.5), (1.0, 0.75), pairing="intra", layer=0),),
    peak_memory=2**30,
    attempt=2,
    options={"gi": {"batches": 3}, "pal": {}},
    seed=7,
    threads=2,
    versions={"numpy": "2"},
    fingerprints={"gi": "abc", "pal": "def"},
    model_files=Stamp("a", "b"),
    data_files=None,
    time="2024-01-01T00:00:00+00:00",
    stderr_tail="Traceback …",
)


def test_a_line_is_read_as_it_was_written() -> None:
    assert parse_line(LINE.encode()) == LINE
    assert LINE.encode().count(b"\n") == 1 and LINE.encode().endswith(b"\n")


def test_results_have_a_value_or_a_reason_and_what_they_depend_on() -> None:
    later = Line("t", "model_3", values={"pal": 3.0}, fingerprints={"pal": "new"})
    found = latest_results([LINE, later])
    gi, pal = found["t", "model_3", "gi"], found["t", "model_3", "pal"]
    assert (gi.value, gi.error, gi.seconds, gi.fingerprint) == (0.25, None, 1.5, "abc")
    assert gi.options == {"batches": 3} and gi.model_files == Stamp("a", "b")
    assert (pal.value, pal.error, pal.fingerprint) == (3.0, None, "new")


def test_keys_of_another_version_are_ignored() -> None:
    content = {**json.loads(LINE.encode()), "weather": "fine"}
    assert parse_line(json.dumps(content).encode()) == LINE


@pytest.mark.parametrize("damage", DAMAGED_LINES)
def test_a_damaged_line_costs_its_own_model_and_is_named(tmp_path: Path, damage: bytes) -> None:
    other = Line("t", "model_4", values={"gi": 1.0}, seconds={"gi": 2.0})
    (tmp_path / "records.jsonl").write_bytes(damage + b"\n" + other.encode())
    run = read_run(tmp_path)
    assert run.of_task("t")["model_4"].seconds == {"gi": 2.0}
    (problem,) = run.problems
    assert "line 1, is damaged and ignored: " in problem and len(problem) < 300


def test_a_folder_of_predictions_alone_has_an_empty_record(tmp_path: Path) -> None:
    assert read_run(tmp_path).of_task("t") == {} and recorded_corpus(tmp_path) is None
    (tmp_path / "run.json").write_text('{"corpus": "zoo"}')
    assert recorded_corpus(tmp_path) == Path("zoo")
    (tmp_path / "run.json").write_text('{"corpus": 5}')
    assert recorded_corpus(tmp_path) is None
    (tmp_path / "run.json").write_text("{" * 200_000)
    with pytest.raises(ScoringError, match=r"run.json is not valid JSON"):
        recorded_corpus(tmp_path)
