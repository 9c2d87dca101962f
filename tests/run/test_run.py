"""A run with a worker of no substance: what is written, when, and what a cut-off run leaves."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from run_plans import done, measure, request, write_corpus

from ingestion.run.budget import TimeLimit
from ingestion.run.executors.outcome import Outcome
from ingestion.run.executors.queue import Queue
from ingestion.run.loop import Listener, Report, run

GI, PAL = measure("gi"), measure("pal")


class Hands:
    """Does jobs in this process, each in `seconds`, and stops after `stop`, as if cut off."""

    def __init__(self, seconds: float = 1.0, stop: int = 1000) -> None:
        self.seconds, self.stop, self.models = seconds, stop, []

    def run(self, jobs: Queue) -> Iterator[Outcome]:
        while (job := jobs.take(0)) is not None:
            if len(self.models) == self.stop:
                raise KeyboardInterrupt
            self.models.append(f"{job.task}/{job.model}")
            yield replace(done(job, self.seconds), versions={"numpy": "2"})


@pytest.fixture()
def corpus(tmp_path: Path) -> Path:
    return write_corpus(tmp_path / "corpus", t=4, u=2)


def start(corpus: Path, out: Path, hands: Hands, *measures, **settings) -> Report:
    listener = Listener(lambda plan: None, lambda job, good: None)
    return run(request(corpus, *measures, **settings), out, hands, listener, {"corpus": "c"})


def predicted(out: Path, name: str, task: str) -> dict:
    return json.loads((out / name / f"{task}.predict").read_text())


def test_values_are_written_per_measure_and_task_in_the_order_of_the_models(
    corpus: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    report = start(corpus, out, Hands(), GI, PAL)
    assert report.computed == 6 and not report.failures()
    assert list(predicted(out, "gi", "t").items()) == [(f"model_{i}", i + 0.2) for i in range(4)]
    assert predicted(out, "pal", "u") == {"model_0": 0.3, "model_1": 1.3}
    about = json.loads((out / "run.json").read_text())
    assert (
        about["corpus"] == "c" and about["finished"] and about["measures"] == {"gi": {}, "pal": {}}
    )


@pytest.mark.parametrize("stop", range(6))
def test_a_run_that_was_cut_off_continues(corpus: Path, tmp_path: Path, stop: int) -> None:
    out, first, second = tmp_path / "out", Hands(stop=stop), Hands()
    with pytest.raises(KeyboardInterrupt):
        start(corpus, out, first, GI)
    assert json.loads((out / "run.json").read_text())["finished"] is None
    # A task that is not complete has no predictions that look as if it were.
    assert not (out / "gi" / "u.predict").exists()
    start(corpus, out, second, GI)
    assert len(first.models) == stop and len(second.models) == 6 - stop
    assert not set(first.models) & set(second.models)
    assert len(predicted(out, "gi", "t")) == 4 and len(predicted(out, "gi", "u")) == 2


def test_a_run_of_a_few_models_does_not_shrink_the_predictions(
    corpus: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    start(corpus, out, Hands(), GI)
    report = start(corpus, out, Hands(), GI, models=frozenset({"model_1"}))
    assert report.computed == 0 and len(report.results) == 2
    assert len(predicted(out, "gi", "t")) == 4


def test_recomputing_a_few_with_other_options_mixes_nothing(corpus: Path, tmp_path: Path) -> None:
    out, other = tmp_path / "out", measure("gi", batches=1)
    start(corpus, out, Hands(), GI)
    start(corpus, out, Hands(), other, recompute=True, models=frozenset({"model_1"}))
    assert predicted(out, "gi", "t") == {"model_1": 1.2}


def test_a_recomputation_that_was_cut_off_leaves_no_old_predictions(
    corpus: Path, tmp_path: Path
) -> None:
    out, other = tmp_path / "out", measure("gi", batches=1)
    start(corpus, out, Hands(), GI, PAL)
    with pytest.raises(KeyboardInterrupt):
        start(corpus, out, Hands(stop=5), other, PAL, recompute=True)
    # One task is done, of the other nothing is left; the other measure is what it was.
    assert [path.name for path in (out / "gi").iterdir()] == ["t.predict"]
    assert len(list((out / "pal").iterdir())) == 2


def test_predictions_of_models_that_are_no_more_do_not_outlive_them(
    corpus: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    start(corpus, out, Hands(), GI, PAL)
    (corpus / "u" / "model_1" / "weights.hdf5").write_bytes(b"other weights")
    with pytest.raises(KeyboardInterrupt):
        start(corpus, out, Hands(stop=0), GI)
    for name in ("gi", "pal"):  # asked for or not
        assert [path.name for path in (out / name).iterdir()] == ["t.predict"]
    start(corpus, out, Hands(), GI, PAL)
    assert len(predicted(out, "gi", "u")) == len(predicted(out, "pal", "u")) == 2


def test_by_the_kits_rule_models_after_the_one_that_uses_up_the_budget_exceed_it(
    corpus: Path, tmp_path: Path
) -> None:
    # 4 models of 25 seconds may use 100; the second model ends at 120. Of 2 models, the first.
    out, hands = tmp_path / "out", Hands(seconds=60.0)
    report = start(corpus, out, hands, GI, limits=TimeLimit(25.0, "task"))
    assert list(predicted(out, "gi", "t").values()).count("EXCEEDED") == 2
    assert list(predicted(out, "gi", "u").values()).count("EXCEEDED") == 1
    assert len(hands.models) == 3  # no more were tried
    assert len(report.failures()) == 3
    assert json.loads((out / "run.json").read_text())["versions"] == {"numpy": "2"}


def test_the_kits_budget_is_not_refilled_by_a_resume(corpus: Path, tmp_path: Path) -> None:
    out, limits = tmp_path / "out", TimeLimit(25.0, "task")
    with pytest.raises(KeyboardInterrupt):
        start(corpus, out, Hands(60.0, stop=1), GI, limits=limits)
    start(corpus, out, Hands(60.0), GI, limits=limits)
    assert list(predicted(out, "gi", "t").values()).count("EXCEEDED") == 2


def test_the_step_limit_follows_the_rule() -> None:
    assert TimeLimit(300.0).step_seconds(96) == 300.0
    assert TimeLimit(300.0, "task").step_seconds(96) == 28800.0
