"""What the study writes of one table of runs."""

from __future__ import annotations

import json
from pathlib import Path

from scoring.files import write_whole
from scoring.report.robust_formats import robust_csv, robust_json, robust_sheets
from scoring.report.sheets import csv_text
from scoring.robust.board import evaluation_notes
from scoring.robust.evaluation import Evaluation
from scoring.robust.failing import failing_environments
from scoring.robust.oracle_rows import oracle_rows
from scoring.robust.oracles import FAMILIES
from starting_kit_adapter.studies.robust.pictures import draw_all
from starting_kit_adapter.terminal.board import text_of


def write_evaluation(found: Evaluation, folder: Path) -> str:
    """Writes tables, numbers, failing environments and figures; returns the tables as text."""
    text = text_of(robust_sheets(found), tuple(evaluation_notes(found)))
    write_whole(folder / "table.txt", text)
    write_whole(folder / "table.csv", robust_csv(found))
    numbers = {**json.loads(robust_json(found)), "robust_rmse_refitted": _refitted(found)}
    write_whole(folder / "table.json", json.dumps(numbers, indent=1, allow_nan=False) + "\n")
    write_whole(folder / "failing.csv", _failing(found))
    draw_all(found, folder)
    return text


def _refitted(found: Evaluation) -> dict[str, dict[str, dict[str, float]]]:
    """The robust RMSE by family, row of Figures 5 to 7, and measure."""
    return {
        family: {
            row.name: {
                "(no measure)": row.baseline.robust,
                **{name: fit.robust for name, fit in zip(found.measures, row.fits)},
            }
            for row in oracle_rows(found.runs, family)
        }
        for family in FAMILIES
    }


def _failing(found: Evaluation) -> str:
    hparams = found.runs.hparams
    columns = ("measure", "sign_error", "n_eff", "varies", "low", "high", *hparams)
    rows = []
    for measure in found.measures:
        for one in failing_environments(found, measure):
            others = (one.others.get(name, "") for name in hparams)
            ends = (one.hparam, one.low, one.high)
            rows.append((measure, one.sign_error, one.n_eff, *ends, *others))
    return csv_text(columns, rows)
