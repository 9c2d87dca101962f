"""The robust evaluation as sheets to read, and as records for CSV and JSON.

Sign-errors are in [0, 1]. RMSE is times 100, as the gap in percent would have it; in CSV and JSON
it is in the gap's own unit.
"""

from __future__ import annotations

import json
from typing import Any

from scoring.report.sheets import Cell, Sheet, csv_text
from scoring.robust.board import evaluation_notes
from scoring.robust.evaluation import Evaluation, records
from scoring.robust.families import Summary, hparam_families, summarize
from scoring.robust.oracles import FAMILIES

_COLUMNS = (
    *("measure", "quantity", "family", "low", "high", "environments", "kept"),
    *("maximum", "percentile_90", "mean"),
)


def robust_sheets(found: Evaluation) -> tuple[Sheet, ...]:
    """Over all environments, by hyperparameter, and the oracles; in the order of Figure 1."""
    return _over_all(found), _by_hparam(found), _oracles(found)


def robust_csv(found: Evaluation) -> str:
    """One line per measure, quantity and family of environments."""
    rows = ([record[name] for name in _COLUMNS] for record in robust_records(found))
    return csv_text(_COLUMNS, rows)


def robust_json(found: Evaluation) -> str:
    """Everything about a table of runs."""
    content = {
        "name": found.runs.name,
        "notes": list(evaluation_notes(found)),
        **robust_numbers(found),
    }
    return json.dumps(content, indent=1, allow_nan=False) + "\n"


def robust_numbers(found: Evaluation) -> dict[str, Any]:
    """The evaluation as JSON holds it."""
    return {
        "test_size": found.test_size,
        "min_effective": found.filtered.min_effective,
        "measures": {
            measure: {"psi": psi.psi, "psi_by_hparam": psi.by_hparam, "kendall": tau}
            for measure, psi, tau in zip(found.measures, found.granulated, found.kendall)
        },
        "records": robust_records(found),
    }


def robust_records(found: Evaluation) -> list[dict[str, Any]]:
    """The records as flat dictionaries."""
    return [
        {
            "measure": record.measure,
            "quantity": record.quantity,
            "family": record.family,
            "low": record.low,
            "high": record.high,
            **_numbers(record.summary),
        }
        for record in records(found)
    ]


def board_headers(found: Evaluation) -> tuple[str, ...]:
    """The columns that a leaderboard gets."""
    kind = "weaker sign-error" if found.is_weaker else "sign-error"
    return "Psi", f"{kind}: max", "90 %", "mean"


def board_cells(found: Evaluation, measure: str) -> tuple[Cell, ...]:
    """A measure's cells below `board_headers`."""
    if measure not in found.measures:
        return (None,) * 4
    k = found.measures.index(measure)
    errors = summarize(found.strongest.errors[k])
    return found.granulated[k].psi, errors.maximum, errors.percentile_90, errors.mean


def board_numbers(found: Evaluation, measure: str) -> dict[str, Any]:
    """A measure's numbers in the lines of the leaderboard; none where it has no score."""
    if measure not in found.measures:
        return {}
    k = found.measures.index(measure)
    strong, weak = (summarize(table.errors[k]) for table in (found.filtered, found.filtered.weaker))
    return {
        "psi": found.granulated[k].psi,
        "sign_error": strong.maximum,
        "sign_error_90": strong.percentile_90,
        "sign_error_mean": strong.mean,
        "weaker_sign_error": weak.maximum,
    }


def _numbers(summary: Summary) -> dict[str, Any]:
    return {
        "environments": summary.environments,
        "kept": summary.kept,
        "maximum": summary.maximum,
        "percentile_90": summary.percentile_90,
        "mean": summary.mean,
    }


def _over_all(found: Evaluation) -> Sheet:
    rows: list[tuple[Cell, ...]] = []
    for k in found.order:
        strong, unfiltered, weak = (
            summarize(table.errors[k])
            for table in (found.filtered, found.unfiltered, found.filtered.weaker)
        )
        rows.append(
            (
                found.measures[k],
                *(strong.maximum, strong.percentile_90, strong.mean),
                *(unfiltered.maximum, unfiltered.mean),
                *(weak.maximum, weak.mean),
                found.granulated[k].psi,
                found.kendall[k],
            )
        )
    table = found.filtered
    title = (
        f"{found.runs.name}: sign-error over {table.kept.sum():,} of {len(table.kept):,} "
        f"environments (n_eff >= {table.min_effective:g}, {found.test_size:,} test examples); "
        f"weaker: {table.weaker.kept.sum():,} of {len(table.weaker.kept):,}"
    )
    headers = (
        *("measure", "max", "90 %", "mean", "max unfiltered", "mean unfiltered"),
        *("weaker max", "weaker mean", "Psi", "Kendall"),
    )
    return Sheet(title, headers, tuple(rows))


def _by_hparam(found: Evaluation) -> Sheet:
    table = found.strongest
    families = list(hparam_families(table))
    headers = ["measure"]
    for family in families:
        kept = int(table.kept[family.of(table)].sum())
        headers.append(f"{found.runs.hparams[family.hparam or 0]} ({kept:,})")
    rows = tuple(
        (
            found.measures[k],
            *(_three(summarize(table.errors[k][family.of(table)])) for family in families),
        )
        for k in found.order
    )
    which = "weaker sign-error" if found.is_weaker else "sign-error"
    title = f"{found.runs.name}: {which} by the hyperparameter that varies: max, 90 %, mean"
    return Sheet(title, tuple(headers), rows)


def _three(summary: Summary) -> str | None:
    if summary.maximum is None or summary.percentile_90 is None:
        return None
    return f"{summary.maximum:.2f} {summary.percentile_90:.2f} {summary.mean:.2f}"


def _oracles(found: Evaluation) -> Sheet:
    fits = [
        (fits[family], found.baseline[family])
        for family in FAMILIES
        for fits in (found.affine, found.linear)
    ]
    rows: list[tuple[Cell, ...]] = [
        (found.measures[k], *(100 * of_measure[k].robust for of_measure, _ in fits))
        for k in found.order
    ]
    rows.append(("(no measure)", *(100 * baseline.robust for _, baseline in fits)))
    headers = [f"{family}: {kind}" for family in FAMILIES for kind in ("affine", "linear")]
    title = f"{found.runs.name}: robust RMSE x 100 of oracles (Dziugaite et al. 2020, App. B)"
    return Sheet(title, ("measure", *headers), tuple(rows))
