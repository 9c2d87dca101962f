"""How well the default measures of `pgdl rank` choose among the networks of each small task.

    python benchmarks/mini/ranked.py

Reads `benchmarks/results/mini`, where every measure was computed with one seed on all networks, and
prints the rows of docs/rank.md: Kendall's tau with the test accuracies, and the regret of the pick.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from pages import RESULTS

from pgdl_measures.ranking.recommended import RECOMMENDED
from pgdl_measures.ranking.result import Candidate, Ranking, make_ranking
from pgdl_measures.registry import complexity
from scoring.kit.reference import find_references, read_reference
from scoring.learning import read_known_tasks
from scoring.report.published_runs import REFERENCE

_BY_CHANCE = 0.1  # all networks are far above it


def rankings() -> Iterator[tuple[str, Ranking]]:
    """The ranking of each task's networks."""
    measures = [complexity(name) for name in RECOMMENDED]
    references = find_references(RESULTS / REFERENCE)
    for task in read_known_tasks(RESULTS, RESULTS / REFERENCE, RECOMMENDED)[0]:
        training = read_reference(references[task.name], task.name).train_acc
        candidates = [
            Candidate(
                str(i),
                0,
                float(training[i]),
                {name: [float(values[i])] for name, values in task.values.items()},
                test_accuracy=float(training[i] - task.gap[i]),
            )
            for i in range(len(training))
        ]
        yield task.name, make_ranking(candidates, measures, chance=_BY_CHANCE, examples=2000)


def main() -> None:
    """Prints a row per task and their mean."""
    print("| task | networks | test acc, % | tau | regret | by training accuracy | at random |")
    print("| --- | ---: | --- | ---: | ---: | ---: | ---: |")
    rows = []
    for name, ranking in rankings():
        found = {one.name: one for one in ranking.agreements}
        test = 100 * np.array([row.model.test_accuracy for row in ranking.rows])
        regrets = [100 * found[by].regret for by in ("consensus", "training accuracy")]
        rows.append([found["consensus"].tau, *regrets, test.max() - test.mean()])
        cells = " | ".join(f"{value:.2f}" for value in rows[-1])
        print(f"| {name} | {len(test)} | {test.min():.1f} to {test.max():.1f} | {cells} |")
    print(f"| mean | | | {' | '.join(f'{value:.2f}' for value in np.mean(rows, axis=0))} |")


if __name__ == "__main__":
    main()
