"""The report of `pgdl limits --grid`: what a build costs, network by network and in all."""

from __future__ import annotations

from collections.abc import Sequence

from ingestion.cost.building import NetworkCost
from ingestion.zoo.build import Plan
from starting_kit_adapter.terminal.text import duration, table

SHOWN = 20  # networks; the costliest ones


def report(plan: Plan, costs: Sequence[NetworkCost], workers: int) -> str:
    """A row per network, the costliest first, and the total time."""
    ordered = sorted(costs, key=lambda cost: -cost.seconds)
    rows = [
        [
            cost.name,
            f"{cost.parameters:,}",
            cost.models,
            f"{cost.compile_seconds:.1f}",
            f"{1000 * cost.example_seconds:.2f}",
            duration(cost.seconds / cost.models),
            duration(cost.seconds),
        ]
        for cost in ordered[:SHOWN]
    ]
    headers = ["network", "parameters", "models", "compile s", "ms/example", "a model", "all"]
    total, models = sum(cost.seconds for cost in costs), sum(cost.models for cost in costs)
    lines = [table(headers, rows)]
    if len(ordered) > SHOWN:
        lines.append(f"and {len(ordered) - SHOWN} networks that take less")
    sizes = sorted({len(data.train) for data in plan.datasets.values()})
    examples = " to ".join(f"{size:,}" for size in dict.fromkeys((sizes[0], sizes[-1])))
    lines += [
        "",
        f"{models} models of {examples} training examples, at most {plan.grid.max_epochs} epochs "
        f"each: at most {duration(total)} of training on one core of this machine, as timed now,",
        f"{duration(total / workers)} with --workers {workers}. Training that meets its target "
        "earlier ends earlier; to start a worker takes some seconds more.",
    ]
    return "\n".join(lines)
