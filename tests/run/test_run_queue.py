"""Workers stay with models that are alike, share what is left, and lose nothing."""

from __future__ import annotations

from run_plans import job

from ingestion.run.executors.queue import Queue


def test_a_worker_stays_with_an_architecture_then_with_the_task() -> None:
    jobs = [job(t, i, a) for i in range(2) for t in "tu" for a in "ab"]
    queue = Queue(jobs)
    taken = [queue.take(0) for _ in range(8)]
    assert [(j.task, j.architecture) for j in taken if j] == [
        *[("t", "a")] * 2,
        *[("t", "b")] * 2,
        *[("u", "a")] * 2,
        *[("u", "b")] * 2,
    ]
    assert queue.take(0) is None


def test_workers_begin_at_different_tasks() -> None:
    queue = Queue([job(t, i, a) for i in range(2) for t in "tu" for a in "ab"])
    first, second = queue.take(0), queue.take(1)
    assert first and second and (first.task, second.task) == ("t", "u")


def test_a_worker_with_nothing_of_its_own_helps_where_most_is_left() -> None:
    queue = Queue([*(job("t", i, "a") for i in range(2)), *(job("u", i, "b") for i in range(5))])
    assert queue.take(0).task == "t" and queue.take(1).task == "u"
    assert queue.take(0).task == "t"
    helped = queue.take(0)
    assert helped and helped.task == "u"


def test_every_job_is_taken_once_whoever_asks() -> None:
    jobs = [job(t, i, "ab"[i % 2]) for t in "tuv" for i in range(7)]
    queue, taken = Queue(jobs), []
    while (now := queue.take(len(taken) % 4)) is not None:
        taken.append((now.task, now.model))
    assert sorted(taken) == sorted((j.task, j.model) for j in jobs)


def test_what_is_given_back_comes_next() -> None:
    queue = Queue([job("t", i) for i in range(3)])
    first = queue.take(0)
    assert first
    queue.give_back(first)
    assert len(queue) == 3 and queue.take(0) is first


def test_a_dropped_measure_is_taken_from_its_task_alone() -> None:
    queue = Queue([job("t", 0, names="gi,pal"), job("t", 1, names="gi"), job("u", 0, names="gi")])
    dropped = queue.drop("t", "gi")
    assert [[m.name for m in gone.measures] for gone, _ in dropped] == [["gi"], ["gi"]]
    assert [rest and [m.name for m in rest.measures] for _, rest in dropped] == [["pal"], None]
    left = [queue.take(0), queue.take(0)]
    assert [(j.task, j.measures[0].name) for j in left if j] == [("t", "pal"), ("u", "gi")]
