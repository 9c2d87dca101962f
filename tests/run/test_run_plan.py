"""What is finished is not computed again, and what does not match is not mixed."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
from run_plans import measure, record, request, write_corpus

from ingestion.run.plan import SettingsChangedError, make_plan

GI, PAL = measure("gi"), measure("pal")


@pytest.fixture()
def corpus(tmp_path: Path) -> Path:
    return write_corpus(tmp_path / "corpus", t=4, u=2)


def todo(plan) -> dict[str, str]:
    return {f"{j.task}/{j.model}": ",".join(m.name for m in j.measures) for j in plan.jobs}


def test_a_new_run_has_every_measure_of_every_model_to_do(corpus: Path) -> None:
    plan = make_plan(request(corpus, GI, PAL), [])
    assert list(todo(plan).values()) == ["gi,pal"] * 6
    assert plan.jobs[0].architecture == plan.jobs[2].architecture != plan.jobs[1].architecture


def test_what_is_recorded_is_done(corpus: Path) -> None:
    plan = make_plan(request(corpus, GI), [record(corpus, "t", f"model_{i}", [GI]) for i in (0, 2)])
    assert todo(plan) == {
        "t/model_1": "gi",
        "t/model_3": "gi",
        "u/model_0": "gi",
        "u/model_1": "gi",
    }
    assert plan.results.keys() == {("t", "model_0", "gi"), ("t", "model_2", "gi")}


def test_another_measure_is_added_alone(corpus: Path) -> None:
    records = [record(corpus, "u", f"model_{i}", [GI]) for i in range(2)]
    plan = make_plan(request(corpus, GI, PAL), records)
    assert todo(plan)["u/model_0"] == "pal"
    assert todo(plan)["t/model_0"] == "gi,pal"


def test_every_job_warms_up_whatever_is_recorded_already(corpus: Path) -> None:
    warm_up = measure("warm_up")
    records = [record(corpus, "u", f"model_{i}", [warm_up, GI]) for i in range(2)]
    plan = make_plan(request(corpus, GI, PAL, warm_up=(warm_up,)), records)
    assert todo(plan)["u/model_0"] == "pal"
    assert all(job.warm_up == (warm_up,) for job in plan.jobs)


def test_selections_limit_the_work_but_not_the_results(corpus: Path) -> None:
    records = [record(corpus, "t", "model_3", [GI])]
    plan = make_plan(request(corpus, GI, models=frozenset({"model_1", "model_3"})), records)
    assert todo(plan) == {"t/model_1": "gi", "u/model_1": "gi"}
    assert ("t", "model_3", "gi") in plan.results
    assert todo(make_plan(request(corpus, GI, first=1), [])) == {
        "t/model_0": "gi",
        "u/model_0": "gi",
    }


def test_a_failure_is_a_result_until_a_retry_is_asked_for(corpus: Path) -> None:
    failed = record(corpus, "t", "model_0", [GI], values={}, errors={"gi": "stopped"})
    assert "t/model_0" not in todo(make_plan(request(corpus, GI), [failed]))
    assert "t/model_0" in todo(make_plan(request(corpus, GI, retry_failed=True), [failed]))
    mended = [failed, record(corpus, "t", "model_0", [GI])]  # the last counts
    assert "t/model_0" not in todo(make_plan(request(corpus, GI, retry_failed=True), mended))


def test_other_options_are_refused_by_name_or_computed_again(corpus: Path) -> None:
    records = [record(corpus, "t", "model_0", [GI, PAL])]
    now = measure("gi", batches=20)
    expected = "gi: 1 result with the default options; now batches=20"
    with pytest.raises(SettingsChangedError, match=expected):
        make_plan(request(corpus, now, PAL), records)
    plan = make_plan(request(corpus, now, PAL, recompute=True), records)
    assert todo(plan)["t/model_0"] == "gi"
    assert plan.results.keys() == {("t", "model_0", "pal")}


def test_results_of_another_kind_of_fingerprint_are_of_another_version(corpus: Path) -> None:
    old = record(corpus, "t", "model_0", [GI], fingerprints={"gi": "0123456789abcdef"})
    with pytest.raises(SettingsChangedError, match="gi: 1 result of another version"):
        make_plan(request(corpus, GI), [old])


def test_values_of_other_threads_are_refused_and_failures_are_not(corpus: Path) -> None:
    records = [record(corpus, "t", f"model_{i}", [GI], threads=2) for i in range(2)]
    assert len(make_plan(request(corpus, GI, threads=2), records).jobs) == 4
    with pytest.raises(SettingsChangedError, match="gi: 2 results with --threads 2; now --threads"):
        make_plan(request(corpus, GI), records)
    assert len(make_plan(request(corpus, GI, recompute=True), records).jobs) == 6
    failed = record(corpus, "t", "model_0", [GI], values={}, errors={"gi": "died"}, threads=2)
    assert len(make_plan(request(corpus, GI), [failed]).jobs) == 5


def test_an_edited_measure_of_the_user_is_another_version(
    corpus: Path, tmp_path: Path, monkeypatch
) -> None:
    from ingestion.run.chosen import choose_measures

    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "my_module.py").write_text("def mine(subject):\n    return 1.0\n")
    mine = choose_measures(["my_module:mine"], {})
    records = [record(corpus, "t", "model_0", mine)]
    assert "t/model_0" not in todo(make_plan(request(corpus, *mine), records))
    (tmp_path / "my_module.py").write_text("def mine(subject):\n    return 2.0\n")
    with pytest.raises(SettingsChangedError, match="another version of the measure"):
        make_plan(request(corpus, *mine), records)


def test_a_model_whose_files_changed_is_computed_again(corpus: Path) -> None:
    records = [record(corpus, "t", f"model_{i}", [GI]) for i in range(4)]
    (corpus / "t" / "model_2" / "weights.hdf5").write_bytes(b"weights x")
    plan = make_plan(request(corpus, GI), records)
    assert todo(plan) == {"t/model_2": "gi", "u/model_0": "gi", "u/model_1": "gi"}
    assert plan.changed == 1


@pytest.mark.parametrize("size", [9, 1 << 20])
def test_weights_changed_with_their_size_and_time_kept_are_noticed(corpus: Path, size: int) -> None:
    weights = corpus / "t" / "model_2" / "weights.hdf5"
    weights.write_bytes(b"a" * size)
    records = [record(corpus, "t", f"model_{i}", [GI]) for i in range(4)]
    before = weights.stat()
    weights.write_bytes(b"b" * size)
    os.utime(weights, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert list(todo(make_plan(request(corpus, GI), records)))[:1] == ["t/model_2"]


def test_what_other_measures_said_of_a_changed_model_holds_no_more(corpus: Path) -> None:
    records = [record(corpus, "t", f"model_{i}", [GI]) for i in range(4)]
    (corpus / "t" / "model_2" / "weights.hdf5").write_bytes(b"weights x")
    plan = make_plan(request(corpus, PAL), records)
    assert plan.outdated == {("t", "model_2", "gi")}
    assert plan.changed == 0  # none is computed again
    assert set(todo(plan).values()) == {"pal"}


def test_other_data_changes_every_model_of_the_task(corpus: Path) -> None:
    records = [record(corpus, t, f"model_{i}", [GI]) for t in "tu" for i in range(2)]
    (corpus / "u" / "dataset_1" / "train" / "shard_0.tfrecord").write_bytes(b"more data")
    plan = make_plan(request(corpus, GI, first=2), records)
    assert todo(plan) == {"u/model_0": "gi", "u/model_1": "gi"}


def test_a_copy_of_the_corpus_is_the_same_corpus(corpus: Path, tmp_path: Path) -> None:
    records = [record(corpus, t, f"model_{i}", [GI]) for t in "tu" for i in range(2)]
    copy = shutil.copytree(corpus, tmp_path / "copy", copy_function=shutil.copy)
    for path in copy.rglob("*.hdf5"):
        os.utime(path, (1, 1))
    plan = make_plan(request(copy, GI, first=2), records)
    assert not plan.jobs and plan.changed == 0
