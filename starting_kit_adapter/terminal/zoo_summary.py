"""The summary of a zoo: a row per model, the range of gaps, and warnings."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from scoring.spread import spread_warning
from starting_kit_adapter.terminal.text import table


def summary(records: Mapping[int, Mapping[str, Any]]) -> str:
    """The table of all models, with the range of gaps and warnings below."""
    if not records:
        return "no model is finished"
    names = list(next(iter(records.values()))["hparams"])
    augmented = ["augment"] if any("augment" in record for record in records.values()) else []
    headers = ["model", *names, *augmented, "epochs", "train acc", "test acc", "gap", ""]
    rows = []
    for model, record in records.items():
        train, test = (record["metrics"].get(name) for name in ("train_acc", "test_acc"))
        hparams = [record["hparams"].get(name, "") for name in names]
        hparams += [record.get("augment", {}).get("level", "none") for _ in augmented]
        missed = "" if record.get("reached_target", True) else "missed the target"
        gap = None if test is None else train - test
        rows.append([model, *map(str, hparams), record.get("epochs"), train, test, gap, missed])
    gaps = [row[-2] for row in rows if row[-2] is not None]
    missed_models = [f"model_{row[0]}" for row in rows if row[-1]]
    lines = [table(headers, rows), ""]
    lines.append(f"gaps from {min(gaps):.1%} to {max(gaps):.1%}" if gaps else "no gap is known")
    if len(missed_models) == len(rows):
        lines.append("no model met the target")
    elif missed_models:
        lines.append(f"{len(missed_models)} missed the target: {', '.join(missed_models)}")
    spread = spread_warning([row[-4] for row in rows])
    if spread:
        lines.append(f"warning: {spread}")
    return "\n".join(lines)
