"""The robust evaluation of every task of a leaderboard, and what qualifies it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from scoring.errors import ScoringError
from scoring.robust.evaluation import TEST_SIZE, Evaluation, evaluate
from scoring.robust.precision import examples_behind_gaps
from scoring.robust.runs import Runs


@dataclass(frozen=True, eq=False)
class RobustResults:
    """The evaluations by task, and what a reader must know of them."""

    tasks: dict[str, Evaluation]
    notes: tuple[tuple[str, str], ...]  # of a task, a line


def evaluate_tasks(
    runs: Mapping[str, Runs],
    reference: str | Path,
    test_size: int | None,
    min_effective: float,
    step: Callable[[str], None] = lambda note: None,
) -> RobustResults:
    """Evaluates each task; the examples behind its gaps are those that its corpus has.

    `step` is called with the task's name after each.
    """
    known = {} if test_size is not None else examples_behind_gaps(reference)
    found, notes = {}, []
    for task, table in runs.items():
        size = test_size if test_size is not None else known.get(task, TEST_SIZE)
        try:
            found[task] = evaluate(table, test_size=size, min_effective=min_effective)
        except ScoringError as error:
            notes.append((task, f"no robust evaluation: {error}"))
            continue
        finally:
            step(task)
        if test_size is None and task not in known:
            text = f"the size of its test set is not known; taken to be {TEST_SIZE:,}"
            notes.append((task, f"{text} (say --test-size)"))
        notes += [(task, note) for note in evaluation_notes(found[task])]
    return RobustResults(found, tuple(notes))


def evaluation_notes(found: Evaluation) -> Iterator[str]:
    """What was left out, and whether any environment has enough runs."""
    yield from found.runs.left_out
    if not found.is_weaker:
        return
    few, enough = found.filtered.n_eff.max(), f"n_eff >= {found.filtered.min_effective:g}"
    pairs = int(found.unfiltered.weight.max())
    yield (
        f"no environment has {enough} (Dziugaite et al. 2020, App. A.1): pairs of runs {pairs} at "
        f"most, n_eff {few:.1f}. Shown by hyperparameter is the weaker family of App. D.3"
    )
