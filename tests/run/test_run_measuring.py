"""What a worker remembers of a task is of that task."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from run_plans import job, write_corpus

from ingestion.run.executors.measuring import Measuring
from ingestion.run.executors.outcome import Files
from ingestion.run.fingerprint import stamp
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
