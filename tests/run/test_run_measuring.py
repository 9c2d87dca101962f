"""A worker tells each model's data and files from another's."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

from run_plans import job, measure, request, write_corpus

from ingestion.run.executors.measuring import Measuring
from ingestion.run.executors.outcome import Files, Measured
from ingestion.run.fingerprint import stamp
from ingestion.run.plan import make_plan
from scoring.record import Stamp


def test_data_that_could_not_be_read_at_first_has_its_own_stamp_later(tmp_path: Path) -> None:
    root, worker = write_corpus(tmp_path, t=1, u=1), Measuring()
    shards = {task: root / task / "dataset_1" / "train" / "shard_0.tfrecord" for task in "tu"}
    shards["u"].write_bytes(b"other data")

    def stamps(task: str) -> list[Stamp]:
        now = replace(job(task), folder=root / task / "model_0", shards=(shards[task],))
        return [said.data for said in worker.run(now) if isinstance(said, Files)]

    assert stamps("t") == [stamp([shards["t"]])]
    shards["u"].rename(root / "away")
    assert stamps("u") == []
    (root / "away").rename(shards["u"])
    assert stamps("u") == [stamp([shards["u"]])]


def test_a_model_that_names_no_data_set_of_its_task_fails_by_itself(tmp_path: Path) -> None:
    root = write_corpus(tmp_path, t=2)
    shutil.copytree(root / "t" / "dataset_1", root / "t" / "dataset_2")
    config = root / "t" / "model_0" / "config.json"
    config.write_text(config.read_text().replace("{", '{"dataset": "dataset_9", ', 1))
    first, second = make_plan(request(root, measure("gi")), []).jobs
    assert second.shards == (root / "t" / "dataset_1" / "train" / "shard_0.tfrecord",)
    said = list(Measuring().run(first))
    assert [each.error for each in said if isinstance(each, Measured)] == [
        f"{config}: names no data set of its task"
    ]
    (files,) = (each for each in said if isinstance(each, Files))  # tried again if they change
    assert files.model == stamp([config, config.with_name("weights.hdf5")])
