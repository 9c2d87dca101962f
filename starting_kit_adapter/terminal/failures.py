"""Prints what a run could not compute, for the verbs that run measures."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from scoring.record import REFUSED

if TYPE_CHECKING:
    from ingestion.run.loop import Report

_SHOWN = 20  # failures that are printed


def warn(text: str) -> None:
    """Prints a warning."""
    print(f"pgdl: warning: {text}", file=sys.stderr)


def tell_failures(report: Report, output: Path, remedy: str) -> int:
    """Prints the models without a value, by reason; returns 1 if there are any.

    The remedy is printed for failures that another attempt may mend, not for measures that do not
    apply to a model. Of those, all that the same models refuse for the same reason are one line.
    """
    failures: dict[tuple[str, str, str], list[str]] = {}
    refusals: dict[tuple[str, str], list[str]] = {}
    for (task, model, measure), error in report.failures():
        if error.startswith(REFUSED):
            refusals.setdefault((measure, error), []).append(f"{task} {model}")
        else:
            failures.setdefault((task, model, error), []).append(measure)
    alike: dict[tuple[str, tuple[str, ...]], list[str]] = {}
    for (measure, error), models in refusals.items():
        alike.setdefault((error, tuple(models)), []).append(measure)
    lines = [
        f"{', '.join(measures)}; {_first(models, 'model')}: {error}"
        for (error, models), measures in alike.items()
    ]
    lines += [
        f"failed: {task} {model} {_first(measures, 'measure')}: {error}"
        for (task, model, error), measures in failures.items()
    ]
    for line in lines[:_SHOWN]:
        print(line)
    if len(lines) > _SHOWN:
        print(f"… and {len(lines) - _SHOWN} more, all in {output}/records.jsonl")
    if failures:
        print(remedy)
    return 1 if lines else 0


def _first(names: Sequence[str], what: str) -> str:
    others = len(names) - 1
    return names[0] + (f" and {others} other {what}{'s' * (others > 1)}" if others else "")
