"""The Ray run is the local run, bit for bit, even if a node goes away in the middle of it."""

from __future__ import annotations

import os
import threading
import time
from pathlib import Path

import pytest
from run_zoo import HERE, ROOT, pgdl_run, predictions, records, write_zoo

ray = pytest.importorskip("ray")

FAULTY = "faulty_measures:faulty"


@pytest.fixture()
def cluster(monkeypatch):
    from ray.cluster_utils import Cluster

    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(ROOT), str(HERE)]))
    monkeypatch.setenv("RAY_health_check_period_ms", "500")
    monkeypatch.setenv("RAY_health_check_failure_threshold", "4")
    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1})
    yield cluster
    cluster.shutdown()


@pytest.mark.slow
def test_every_model_ends_once_though_a_node_is_removed(cluster, tmp_path: Path) -> None:
    zoo, here, there = write_zoo(tmp_path / "zoo", 16), tmp_path / "local", tmp_path / "ray"
    code, printed = pgdl_run(zoo, "-m", FAULTY, "-o", here, "--workers", 1)
    assert code == 0, printed
    node = cluster.add_node(num_cpus=1)
    cluster.wait_for_nodes()

    def remove_node() -> None:
        path = there / "records.jsonl"
        while not path.exists() or path.read_text().count("\n") < 4:
            time.sleep(0.1)
        cluster.remove_node(node, allow_graceful=False)

    remover = threading.Thread(target=remove_node, daemon=True)  # it waits for the run
    remover.start()
    code, printed = pgdl_run(
        *(zoo, "-m", FAULTY, "-o", there, "--executor", "ray", "--ray-address", cluster.address),
        *("--set", "seconds=1"),
    )
    assert code == 0, printed
    remover.join()

    assert predictions(there, "faulty") == predictions(here, "faulty")
    assert sorted(r["model"] for r in records(there)) == sorted(predictions(here, "faulty"))
    assert len({r["attempt"] for r in records(there)}) == 2  # one was under way on the lost node
