"""Chooses the measures of `pgdl rank` on seven tasks and judges the choice on the eighth.

    python benchmarks/mini/recommended.py

The rule: of every kind of change to the training examples the measure in accuracy units whose mean
Kendall's tau with the gap is largest, if it is at least `LEAST`, and of these the `MOST` best. The
consensus of a set is the mean rank of its measures, as in `pgdl rank --by gap`. Everything is read
from `benchmarks/results/mini`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from pages import RESULTS
from scipy.stats import rankdata

from pgdl_measures.ranking.recommended import RECOMMENDED
from pgdl_measures.registry import measures
from scoring.errors import if_defined
from scoring.learning import read_known_tasks
from scoring.predictor_fit import KnownTask
from scoring.rank import kendall
from scoring.recorded_run import read_run
from scoring.report.published_runs import REFERENCE

LEAST, MOST = 0.15, 5
_SAME_CHANGE = {"mixup": "intra_l0", "manifold_mixup": "intra_l1", "contre_accuracy": "contre_gap"}
_PREFIXES = ("gi_", "mean_accuracy_", "augmented_accuracy_")


def change_of(name: str) -> str:
    """What a measure does to the training examples: measures of one change count once."""
    for prefix in _PREFIXES:
        name = name.removeprefix(prefix)
    return _SAME_CHANGE.get(name, name)


def tau(task: KnownTask, values: np.ndarray) -> float:
    """Kendall's tau with the gap; 0 where all values are the same."""
    return if_defined(kendall, task.gap, values) or 0.0


def consensus(task: KnownTask, chosen: Sequence[str]) -> float:
    """Kendall's tau of the mean rank over measures."""
    return tau(task, np.mean([rankdata(task.values[name]) for name in chosen], axis=0))


def choose(tasks: Sequence[KnownTask], names: Sequence[str]) -> list[str]:
    """The measures that the rule takes on these tasks, best first."""
    means = {name: float(np.mean([tau(t, t.values[name]) for t in tasks])) for name in names}
    best: dict[str, str] = {}
    for name in sorted(names, key=lambda n: -means[n]):
        best.setdefault(change_of(name), name)
    return [name for name in best.values() if means[name] >= LEAST][:MOST]


def seconds(name: str, recorded: Sequence[Mapping[str, float]]) -> float:
    """The mean seconds of a measure per network."""
    return float(np.mean([of_model.get(name, 0.0) for of_model in recorded]))


def main() -> None:
    """Prints a row per task, and the set that all tasks choose with its cost."""
    names = [m.name for m in measures() if m.unit]
    tasks, _ = read_known_tasks(RESULTS, RESULTS / REFERENCE, names)
    print("| task | chosen on the others | tau | of pgdl rank | best single of the others |")
    print("| --- | --- | ---: | ---: | ---: |")
    rows = []
    for task in tasks:
        others = [other for other in tasks if other is not task]
        chosen = choose(others, names)
        row = [consensus(task, chosen), consensus(task, RECOMMENDED), consensus(task, chosen[:1])]
        rows.append(row)
        cells = " | ".join(f"{value:.2f}" for value in row)
        print(f"| {task.name} | {', '.join(chosen)} | {cells} |")
    print(f"| mean | | {' | '.join(f'{value:.2f}' for value in np.mean(rows, axis=0))} |")
    recorded = [m.seconds for models in read_run(RESULTS).models.values() for m in models.values()]
    print("\nchosen on all eight tasks, with the seconds per network of one seed:")
    for name in choose(tasks, names):
        of_task = " ".join(f"{tau(task, task.values[name]):5.2f}" for task in tasks)
        print(f"  {name:36} {of_task}   {seconds(name, recorded):.2f} s")


if __name__ == "__main__":
    main()
