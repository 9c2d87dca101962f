"""How well a predictor learned from seven tasks predicts the gaps of the eighth.

    python benchmarks/mini/predictor.py RUN --reference REF [REF ...] [-o predictor.json]

RUN is what `pgdl run` wrote. Each task is left out in turn. The form of the predictor (its
measures, its link, the weight of differences within a task) is chosen on the other tasks alone: of
the forms whose error there, again with tasks left out, is within a tenth of the smallest, the one
with the largest Kendall's tau. The best single measure is chosen and calibrated likewise. With -o
a predictor of all tasks is written, of the forms that take few measures.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from pgdl_measures.registry import measures as registered
from scoring.cmi import cmi_score
from scoring.errors import if_defined
from scoring.kit.predictions import find_measures
from scoring.kit.reference import Reference, find_references, read_reference
from scoring.learning import common_options, read_known_tasks
from scoring.predictor import Predictor
from scoring.predictor_fit import Form, KnownTask, LeftOut, learn, predict_left_out
from scoring.rank import kendall

DATA = {
    "cifar": ("mini1", "mini9"),
    "fashion": ("mini2", "mini6", "mini8"),
    "pets": ("mini7",),
    "digits": ("mini4", "mini5"),
}
WINNERS = ("dbi_mixup", "mixup_margin", "augment_margin", "augmentation_penalty", "vpm")
_CROPS = ("contre_gap", "contre_random_crop")
_FIVE = ("mixup", "manifold_mixup", *_CROPS, "contre_random_flip")
_MARGINS = (*_FIVE, "mixup_margin", "augment_margin")
_OF_DATA = "nearest_neighbour_error"
WITHIN = (1.0, 30.0)
CLOSE = 1.1  # times the smallest error
MOST = 8  # measures of the predictor that is written, which every user computes


def forms(names: Sequence[str]) -> list[Form]:
    """The forms among which is chosen, written down before any was fitted to these tasks."""
    units = {measure.name: measure.unit for measure in registered()}
    in_units = tuple(name for name in names if units.get(name))
    units[_OF_DATA] = "error"  # of the data and of no network, so it ranks nothing by itself
    networks = (_CROPS, _FIVE, _MARGINS, in_units)
    sets = [s for n in networks for s in (n, (*n, _OF_DATA)) if set(s) <= set(names)]
    links = [(s, unit) for s in sets for unit in ((), tuple(units[n] or "" for n in s))]
    return [Form(s, unit, within) for s, unit in links for within in WITHIN]


def chosen(tasks: Sequence[KnownTask], among: Sequence[Form]) -> Form:
    """The form that does best when these tasks are left out, one at a time."""
    found = [(learn(tasks, form), form) for form in among]
    least = min(predictor.error or 0.0 for predictor, _ in found)
    close = [one for one in found if (one[0].error or 0.0) <= CLOSE * least]
    return max(close, key=lambda one: one[0].kendall or 0.0)[1]


def best_single(tasks: Sequence[KnownTask], names: Sequence[str]) -> Form:
    """The measure with the smallest error when these tasks are left out."""
    return min((Form((n,)) for n in names), key=lambda form: learn(tasks, form).error or 0.0)


def row(left: LeftOut, single: LeftOut, reference: Reference) -> list[str]:
    """A line of the table."""
    form = left.predictor
    link = "logit" if form.units else "identity"
    cmi = cmi_score(reference.codes, reference.gap, left.gaps)
    return [
        f"{left.task.name} | {left.task.gap.mean():.3f}",
        *(f"{error:.3f}" for error in (left.error, left.error_of_mean, single.error)),
        f"{single.predictor.measures[0]} | {100 * left.covered:.0f}",
        f"{100 * cmi:.1f} | {tau(left.task.gap, left.gaps):.2f}",
        f"{len(form.measures)} measures, {link}",
    ]


def tau(gap: np.ndarray, values: np.ndarray) -> float:
    """Kendall's tau; 0 where all values are the same."""
    return if_defined(kendall, gap, values) or 0.0


def left_out(
    tasks: Sequence[KnownTask], names: Sequence[str], together: Sequence[Sequence[str]]
) -> list[tuple[LeftOut, LeftOut]]:
    """Each task predicted without the tasks that are left out `together` with it."""
    found = []
    for task in tasks:
        without = next((set(g) for g in together if task.name in g), {task.name})
        others = [t for t in tasks if t.name not in without]
        learned = predict_left_out(task, others, chosen(others, forms(names)))
        found.append((learned, predict_left_out(task, others, best_single(others, names))))
    return found


def means(title: str, found: Sequence[tuple[LeftOut, LeftOut]]) -> str:
    """The errors and the coverage over tasks, in one line."""
    numbers = np.array([(a.error, a.error_of_mean, b.error, a.covered) for a, b in found]).mean(0)
    return (
        f"{title}: MAE {numbers[0]:.3f}, of the mean gap {numbers[1]:.3f}, of the best single "
        f"measure {numbers[2]:.3f}; covered {100 * numbers[3]:.1f} %"
    )


def main() -> None:
    """Prints the tables; writes the predictor of all tasks."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("run", type=Path)
    parser.add_argument("--reference", type=Path, nargs="+", required=True)
    parser.add_argument("-o", "--output", type=Path)
    args = parser.parse_args()
    names = [name for name in find_measures(args.run) if not name.startswith("-")]
    tasks, references = [], {}
    for folder in args.reference:
        for task, path in find_references(folder).items():
            references[task] = read_reference(path, task)
        known, reasons = read_known_tasks(args.run, folder, names)
        tasks += known
        print(*reasons, sep="\n")
    tasks.sort(key=lambda task: task.name)
    found = left_out(tasks, names, ())
    heads = ("task", "mean gap", "MAE", "of mean gap", "of single", "which", "covered, %")
    print("|", " | ".join((*heads, "CMI", "tau", "form")), "|")
    print("| --- |" + " ---: |" * 4 + " --- |" + " ---: |" * 3 + " --- |")
    for left, single in found:
        print("|", " | ".join(row(left, single, references[left.task.name])), "|")
    print(means("\none task left out", found))
    if len(tasks) > 3:
        print(means("one data set left out", left_out(tasks, names, list(DATA.values()))))
    print_orders(tasks, [left for left, _ in found], references, names)
    if args.output:
        few = [form for form in forms(names) if len(form.measures) <= MOST]
        final: Predictor = learn(tasks, chosen(tasks, few))
        options = common_options([args.run], final.measures)
        text = json.dumps(replace(final, options=options).to_json(), indent=1)
        args.output.write_text(text + "\n")


def print_orders(
    tasks: Sequence[KnownTask],
    left: Sequence[LeftOut],
    references: dict[str, Reference],
    names: Sequence[str],
) -> None:
    """Mean CMI and Kendall of predictor, competition's winners and best measures."""
    values = {"**predictor**": [one.gaps for one in left]}
    values |= {name: [task.values[name] for task in tasks] for name in names}
    rows = []
    for name, each in values.items():
        scores = [100 * cmi_score(references[t.name].codes, t.gap, v) for t, v in zip(tasks, each)]
        taus = [tau(t.gap, v) for t, v in zip(tasks, each)]
        rows.append((float(np.mean(scores)), float(np.mean(taus)), name))
    rows.sort(reverse=True)
    print("\n| rank of CMI | predictor or measure | mean CMI | mean tau |")
    print("| ---: | --- | ---: | ---: |")
    for place, (mean, order, name) in enumerate(rows, 1):
        if place <= 6 or name in ("**predictor**", *WINNERS):
            print(f"| {place} | {name} | {mean:.1f} | {order:.2f} |")


if __name__ == "__main__":
    main()
