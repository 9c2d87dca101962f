"""A report as text: the estimates, the error by shift, the p-values, and the verdict."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from pgdl_measures.adversarial.generators import GENERATORS
from pgdl_measures.adversarial.independence import CONFIDENCE
from pgdl_measures.adversarial.similarity import Similarity
from starting_kit_adapter.diagnose.overfit.report import Report
from starting_kit_adapter.diagnose.overfit.verdict import STRONGEST, verdict
from starting_kit_adapter.terminal.text import table

_ESTIMATES = {
    "test_error": "error",
    "adversarial_error": "adversarial error",
    "adversarial_risk": "adversarial risk estimate",
}


def describe(reports: Mapping[str, Report], split: str) -> str:
    """All of it for one set of images."""
    report = reports[split]
    title = f"{split} set, {report.examples} images"
    tables = [_estimates(report), _shifts(report), _tests(report)]
    return "\n\n".join([title, *tables, verdict(reports, split)])


def describe_selection(reports: Mapping[str, Report]) -> str:
    """Whether p and the errors of training runs go together, as where the best run was chosen.

    Werpachowski et al. 2019, Section 5.3.1, find 0.49 for the test error and 0.01 for the training
    error. Empty for fewer than three models.
    """
    rows = [
        [f"p on the {tested} set", f"error on the {split} set", value]
        for tested, split, value in p_by_error(reports)
    ]
    return table(["over training runs", "", "correlation"], rows) if rows else ""


def p_by_error(reports: Mapping[str, Report]) -> list[tuple[str, str, float | None]]:
    """Pearson's correlation of p on the first set with the error on each set, over models."""
    tested, first = next(iter(reports.items()))
    p = first.p_values(STRONGEST)
    if len(p) < 3:
        return []
    return [(tested, split, _correlation(p, r.errors())) for split, r in reports.items()]


def describe_similarity(found: Similarity, runs: Sequence[int]) -> str:
    """The numbers of Section 5.3.3."""
    rows: list[list[object]] = [
        ["Jaccard index of misclassified images (J_b)", found.jaccard],
        ["the same, if models erred independently (J_bi)", found.jaccard_if_independent],
        ["images that both misclassify, median (M_b)", found.both_wrong],
        ["share of these with the same label (L)", found.same_label],
        ["images with the same wrong label, median (M_l)", found.same_labels],
    ]
    return table([f"similarity of {runs[0]} original and {runs[1]} tested models", ""], rows)


def _correlation(x: np.ndarray, y: np.ndarray) -> float | None:
    """None where all values are equal."""
    if not x.std() or not y.std():
        return None
    return float(np.corrcoef(x, y)[0, 1])


def _estimates(report: Report) -> str:
    """The mean over models; intervals are those of one model, or the range over models."""
    found = [e.outcomes[STRONGEST].estimates for e in report.examinations.values()]
    rows: list[list[object]] = []
    for key, name in _ESTIMATES.items():
        values = [estimates[key] for estimates in found]
        if len(values) == 1:
            rows.append([name, *values[0]])
        else:
            points = [value.value for value in values]
            rows.append([name, float(np.mean(points)), min(points), max(points)])
    interval = f"{CONFIDENCE:.1%} interval from" if len(found) == 1 else "range over models, from"
    headers = ["estimate" if len(found) == 1 else "mean estimate", "value", interval, "to"]
    return table(headers, rows)


def _tests(report: Report) -> str:
    rows: list[list[object]] = []
    n = len(report.examinations)
    for name in GENERATORS:
        found = list(report.examinations.values())
        together = report.together(name)
        if n == 1:
            rows.append([name, together.p, together.uncapped, found[0].basic_test(name).p])
        else:
            p = report.p_values(name)
            rows.append([name, together.p, together.uncapped, float(p.mean()), float(np.median(p))])
    if n == 1:
        return table(["generator", "p", "uncapped p", "p of the basic test"], rows)
    return table(
        ["generator", f"p of {n} models", "uncapped p", "mean p of one model", "median"], rows
    )


def _shifts(report: Report) -> str:
    """The mean over models."""
    found = [shifted.by_shift for shifted in report.shifted.values()]
    rows = [[pixels, float(np.mean([errors[pixels] for errors in found]))] for pixels in found[0]]
    return (
        f"{table(['shift, pixels', 'error'], rows)}\n"
        "The test assumes that shifted images could just as well have been in the data set: the "
        "error of a model that is independent of it is then the same at every shift."
    )
