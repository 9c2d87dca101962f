"""The ranking of `pgdl rank --format json` beside the truth, as the Markdown of docs/rank.md.

python benchmarks/rank/table.py benchmarks/results/rank/cifar10.json
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any


def ranking_table(found: dict[str, Any]) -> str:
    """A row per network, in the predicted order."""
    order = sorted(found["models"], key=lambda model: -model["test_acc"])
    place = {model["model"]: i for i, model in enumerate(order, 1)}
    lines = [
        "| rank | 90 % | network | parameters | train acc | test acc | true rank |",
        "| ---: | --- | --- | ---: | ---: | ---: | ---: |",
    ]
    for model in found["models"]:
        interval = f"{model['rank_low']} to {model['rank_high']}"
        lines.append(
            f"| {model['rank']} | {interval} | {model['model']} | {model['parameters']:,} | "
            f"{100 * model['train_acc']:.1f} | {100 * model['test_acc']:.1f} | "
            f"{place[model['model']]} |"
        )
    return "\n".join(lines)


def agreement_table(found: dict[str, Any]) -> str:
    """How well every way of choosing agrees with the truth."""
    lines = ["| chosen by | Kendall's tau | regret, points |", "| --- | ---: | ---: |"]
    for one in found["agreement_with_truth"]:
        lines.append(f"| {one['name']} | {one['tau']:.2f} | {100 * one['regret']:.1f} |")
    return "\n".join(lines)


if __name__ == "__main__":
    content = json.loads(Path(sys.argv[1]).read_text())
    print(ranking_table(content), agreement_table(content), sep="\n\n")
