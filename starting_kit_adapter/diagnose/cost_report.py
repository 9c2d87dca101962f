"""The report of `pgdl limits`: costs per task and measure, per model, and their assumptions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from ingestion.cost.calibration import Machine
from ingestion.cost.profile import Cost
from ingestion.cost.roofline import MOST_EFFICIENT, STEP_SECONDS, TRANSFER, Device
from starting_kit_adapter.terminal.text import table

_WIDTH = 9  # of a column of numbers


def summary(costs: Sequence[Cost], time_limit: float) -> str:
    """The costliest model of every task and measure."""
    found = [cost for cost in costs if not cost.problem]
    if not found:
        return "no model could be measured"
    groups: dict[tuple[str, str], list[Cost]] = {}
    for cost in found:
        groups.setdefault((cost.task, cost.measure), []).append(cost)
    rows = []
    for (task, measure), group in groups.items():
        worst = max(group, key=lambda cost: cost.longest)
        rows.append([task, measure, len(group), worst.model, *_numbers(worst, time_limit)])
    return table(["task", "measure", "models", "worst", *_headers(found[0])], rows)


def details(costs: Sequence[Cost], time_limit: float) -> str:
    """A row for every model and measure."""
    found = [cost for cost in costs if not cost.problem]
    if not found:
        return ""
    rows = [[c.task, c.model, c.measure, *_numbers(c, time_limit)] for c in found]
    return table(["task", "model", "measure", *_headers(found[0])], rows)


def fits(costs: Sequence[Cost], time_limit: float) -> bool:
    """Whether every model is known to stay within the time limit."""
    return all(not c.problem and c.longest <= time_limit for c in costs)


def verdict(costs: Sequence[Cost], time_limit: float) -> str:
    """One line: how many models take longer than the limit."""
    over = sum(cost.longest > time_limit for cost in costs if not cost.problem)
    unknown = sum(bool(cost.problem) for cost in costs)
    if not over and not unknown:
        return f"all {len(costs)} stay within {time_limit:g} s"
    return f"{over} of {len(costs)} take longer than {time_limit:g} s" + (
        f", {unknown} could not be measured" if unknown else ""
    )


def assumptions(machine: Machine, devices: Sequence[Device]) -> str:
    """The footnote: how the estimates were made."""
    roof = machine.roof
    lines = [
        "Estimates, not measurements. `seconds` were measured on this machine:",
        f"  {machine.name}, {roof.flops / 1e12:.3g} TFLOPS and {roof.bandwidth / 1e9:.3g} GB/s "
        "(both measured).",
        "Forward passes were counted layer by layer. On another device a layer is assumed to take",
        "the longer of operations / peak and bytes / bandwidth (every operation reads its inputs",
        "and weights and writes its outputs: no fusion), divided by the efficiency that this",
        f"machine reaches with the same network, at most {MOST_EFFICIENT:g}. Added to it are "
        f"{STEP_SECONDS * 1e6:g} us per layer and call,",
        f"and the transfer of the inputs at {TRANSFER / 1e9:g} GB/s. Everything else (reading, "
        "tracing, gradients,",
        "perturbations) is assumed to take as long as on this machine.",
    ]
    for device in devices:
        roof = device.roof
        lines.append(
            f"  {device.name}: {device.title}, {roof.flops / 1e12:g} TFLOPS float32, "
            f"{roof.bandwidth / 1e9:g} GB/s\n    ({device.source})"
        )
    return "\n".join(lines)


def to_json(
    costs: Sequence[Cost], time_limit: float, machine: Machine | None, devices: Sequence[Device]
) -> dict[str, Any]:
    """All numbers and assumptions, for programs."""
    return {
        "limit_seconds": time_limit,
        "fits": fits(costs, time_limit),
        "kind": "measured" if machine is None else "estimate",
        "machine": asdict(machine) if machine else None,
        "devices": [asdict(device) for device in devices],
        "assumptions": {
            "most_efficient": MOST_EFFICIENT,
            "seconds_per_step": STEP_SECONDS,
            "transfer_bytes_per_second": TRANSFER,
        }
        if machine
        else None,
        "costs": [asdict(cost) for cost in costs],
    }


def _headers(cost: Cost) -> list[str]:
    work = ["seconds", "passes", "GFLOP", "GB", "forward"] if cost.forward else []
    times = [header for name in cost.checked for header in (f"{name} s", "margin s")]
    return [header.rjust(_WIDTH) for header in (*work, *times)] + [""]


def _numbers(cost: Cost, time_limit: float) -> list[str]:
    numbers = []
    if cost.forward:
        share = cost.forward.seconds / cost.seconds
        work = (cost.forward.passes, cost.forward.flops / 1e9, cost.forward.bytes / 1e9)
        numbers += [f"{cost.seconds:.2f}", *map(_rounded, work), f"{share:.0%}"]
    for seconds in cost.checked.values():
        numbers += [f"{seconds:.2f}", f"{time_limit - seconds:.1f}"]
    flag = "" if cost.longest <= time_limit else "TOO LONG"
    return [number.rjust(_WIDTH) for number in numbers] + [flag]


def _rounded(number: float) -> str:
    return f"{number:.0f}" if number >= 100 else f"{number:.3g}"
