"""The ranking of `pgdl rank --format json` beside the truth, as the Markdown of docs/rank.md.

python benchmarks/rank/table.py benchmarks/results/rank/cifar10.json

The values are those of the file, means over seeds; they are ranked as `pgdl rank` does it now.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from pgdl_measures.ranking.make import make_ranking
from pgdl_measures.ranking.result import Candidate, Ranking
from pgdl_measures.registry import complexity


def ranking_of(found: dict[str, Any]) -> Ranking:
    """The networks of the file, ranked."""
    candidates = [
        Candidate(
            model["model"],
            model["parameters"],
            model["train_acc"],
            {name: [one["value"]] for name, one in model["measures"].items()},
            test_accuracy=model["test_acc"],
        )
        for model in found["models"]
    ]
    return make_ranking(candidates, [*map(complexity, found["measures"])], chance=0, examples=1)


def ranking_table(ranking: Ranking) -> str:
    """A row per network, in the predicted order."""
    truth = sorted((row.model.test_accuracy or 0.0 for row in ranking.rows), reverse=True)
    lines = [
        "| rank | 90 % | network | parameters | train acc | test acc | true rank |",
        "| ---: | --- | --- | ---: | ---: | ---: | ---: |",
    ]
    for row in ranking.rows:
        model, test = row.model, row.model.test_accuracy or 0.0
        lines.append(
            f"| {row.rank} | {row.low} to {row.high} | {model.name} | {model.parameters:,} | "
            f"{100 * model.training_accuracy:.1f} | {100 * test:.1f} | {truth.index(test) + 1} |"
        )
    return "\n".join(lines)


def agreement_table(ranking: Ranking) -> str:
    """How well every way of choosing agrees with the truth."""
    lines = ["| chosen by | Kendall's tau | regret, points |", "| --- | ---: | ---: |"]
    for one in ranking.agreements:
        lines.append(f"| {one.name} | {one.tau:.2f} | {100 * one.regret:.1f} |")
    return "\n".join(lines)


if __name__ == "__main__":
    ranked = ranking_of(json.loads(Path(sys.argv[1]).read_text()))
    print(ranking_table(ranked), agreement_table(ranked), ranked.summary(), sep="\n\n")
