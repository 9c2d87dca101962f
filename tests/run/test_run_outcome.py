"""A worker's end in the middle of a model costs the measure it was at, and no other."""

from __future__ import annotations

from dataclasses import replace

from run_plans import done, job

from ingestion.run.executors.outcome import (
    DIED,
    LOADING,
    LOST,
    OK,
    TIMED_OUT,
    Measured,
    Step,
    Tally,
)

JOB = job(names="gi,pal,mixup")


def at_pal(now=JOB) -> Tally:
    tally = Tally(now)
    for message in (Step(LOADING), Step("gi"), Measured("gi", 1.0, 0.5), Step("pal")):
        assert tally.add(message) is None
    return tally


def names(now) -> list[str]:
    return [measure.name for measure in now.measures]


def test_a_model_that_is_done_leaves_nothing() -> None:
    outcome = done(JOB)
    assert outcome.status == OK and outcome.rest is None and len(outcome.values) == 3


def test_a_broken_limit_is_final_for_the_measure_at_fault() -> None:
    outcome = at_pal().ended(TIMED_OUT, "stopped", 3.0)
    assert outcome.values == {"gi": 0.5}
    assert outcome.errors == {"pal": "stopped"} and outcome.seconds["pal"] == 3.0
    assert outcome.rest and names(outcome.rest) == ["mixup"]


def test_a_death_may_have_come_from_outside_and_is_tried_again_once() -> None:
    first = at_pal().ended(DIED, "killed")
    assert first.values == {"gi": 0.5} and not first.errors
    assert first.rest and names(first.rest) == ["pal", "mixup"] and first.rest.attempt == 2
    tally = Tally(first.rest)
    tally.add(Step("pal"))
    second = tally.ended(DIED, "killed")
    assert second.errors == {"pal": "killed"}
    assert second.rest and names(second.rest) == ["mixup"] and second.rest.attempt == 1


def test_a_model_that_cannot_even_be_loaded_fails_as_a_whole() -> None:
    tally = Tally(JOB)
    tally.add(Step(LOADING))
    outcome = tally.ended(TIMED_OUT, "stopped")
    assert outcome.rest is None
    assert set(outcome.errors.values()) == {"stopped while loading the model"}
    assert list(outcome.errors) == names(JOB)


def test_a_death_after_the_last_measure_costs_nothing() -> None:
    tally = at_pal(job(names="gi,pal"))
    tally.add(Measured("pal", 1.0, 0.7))
    outcome = tally.ended(DIED, "killed")
    assert outcome.status == OK and outcome.rest is None and not outcome.errors


def test_lost_nodes_are_forgiven_more_often() -> None:
    now, losses = JOB, 0
    while now is not None:
        outcome = Tally(now).ended(LOST, "lost")
        now, losses = outcome.rest, losses + 1
    assert losses == 5 and outcome.errors.keys() == set(names(JOB))
    assert Tally(replace(JOB, attempt=1)).ended(LOST, "lost").rest
