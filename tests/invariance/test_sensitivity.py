"""`pgdl study sensitivity`: how many batches are enough."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from corpora import write_task
from verbs import run_verb

from pgdl_measures.errors import PgdlError
from starting_kit_adapter.studies import sensitivity
from starting_kit_adapter.studies.sensitivity import Point, Sensitivity


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Six models of one hyperparameter, so that there is something to predict within its values."""
    folder = write_task(tmp_path_factory.mktemp("corpus") / "images", count=60)
    reference = json.loads((folder / "model_configs.json").read_text())
    for entry in reference.values():
        del entry["hparams"]["run"]
    (folder / "model_configs.json").write_text(json.dumps(reference))
    return folder


def test_the_smallest_number_within_a_deviation_of_the_largest_is_recommended():
    def found(*scores: float) -> int:
        points = tuple(Point(2**i, score, 0.1, 1.0, 0.0) for i, score in enumerate(scores))
        return Sensitivity("gi", 9, 5, points).recommended

    assert found(0.1, 0.3, 0.45, 0.5) == 4
    assert found(0.7, 0.5) == 2  # better than the largest is not near to it
    assert found(0.5) == 1


def test_every_number_of_batches_has_a_time_and_a_score(corpus, tmp_path, capsys):
    out = tmp_path / "out"
    arguments = (corpus, "-m", "gi_intra_l0", "-o", out, "--batches", "2,1", "--runs", 2)
    assert run_verb(sensitivity, *arguments, "--workers", 1) == 0
    shown = capsys.readouterr().out
    assert "6 models, 2 runs" in shown and "recommended:" in shown
    (found,) = json.loads((out / "sensitivity" / "images.json").read_text())
    assert [point["batches"] for point in found["points"]] == [1, 2]
    assert all(point["seconds"] > 0 and 0 <= point["cmi"] <= 1 for point in found["points"])
    assert (out / "sensitivity" / "images.svg").is_file()


def test_a_measure_without_batches_is_refused(corpus, tmp_path):
    with pytest.raises(PgdlError, match="params draws no batches"):
        run_verb(sensitivity, corpus, "-m", "params", "-o", tmp_path)
