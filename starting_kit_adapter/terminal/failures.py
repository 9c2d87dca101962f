"""Prints what a run could not compute, for the verbs that run measures."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ingestion.run.loop import Report

_SHOWN = 20  # failures that are printed


def warn(text: str) -> None:
    """Prints a warning."""
    print(f"pgdl: warning: {text}", file=sys.stderr)


def tell_failures(report: Report, output: Path, remedy: str) -> int:
    """Prints the models without a value, by reason, and the remedy; returns 1 if there are any."""
    failures: dict[tuple[str, str, str], list[str]] = {}
    for (task, model, measure), error in report.failures():
        failures.setdefault((task, model, error), []).append(measure)
    for (task, model, error), measures in list(failures.items())[:_SHOWN]:
        others = f" and {len(measures) - 1} others" if len(measures) > 1 else ""
        print(f"failed: {task} {model} {measures[0]}{others}: {error}")
    if len(failures) > _SHOWN:
        print(f"… and {len(failures) - _SHOWN} more, all in {output}/records.jsonl")
    if failures:
        print(remedy)
    return 1 if failures else 0
