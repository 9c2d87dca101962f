"""`pgdl study sensitivity`: how many batches are enough? (paper 000, Section 4.1.3, Appendix A.7)

For each number of batches the measure is computed in several runs that differ in the seed, and so
in the examples that are drawn; the time per model and the CMI are given as mean and standard
deviation over the runs, as in Figures 3 to 5.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from statistics import fmean, stdev
from typing import TYPE_CHECKING

from pgdl_measures.errors import PgdlError
from starting_kit_adapter.cli.numbers import positive
from starting_kit_adapter.cli.text import table
from starting_kit_adapter.studies.running import (
    add_run_arguments,
    compute,
    examples_of,
    make_request,
    reference_of,
    tell_failures,
)

if TYPE_CHECKING:
    from ingestion.corpus import Task
    from ingestion.run import Report
    from pgdl_measures.base import Measure
    from scoring.reference import Reference

HELP = "Time and CMI of measures against the number of batches: how many are enough?"
EXAMPLES = """\
examples:
  pgdl study sensitivity zoo/ -m gi_intra_l0,gi_inter_l0 -o out/
  pgdl study sensitivity zoo/ -m gi_rotation -o out/ --batches 1,5,20 --runs 5     a first look

Writes out/sensitivity/<task>.txt, .json, .svg and .png. The recommended number of batches is the
smallest whose mean CMI is within one standard deviation of that of the largest number; it needs 2
runs or more. Seconds are those of a model's curve once its graph is traced. Measures of perturbed
images draw no example twice: numbers of batches above what a task has are left out. The same
command continues an interrupted study.
"""


_TRACING_SEED = 2**31 - 1  # that of no run, so that no run finds its curve computed


@dataclass(frozen=True)
class Point:
    """One number of batches, over runs; None where a score is undefined, or there is no model."""

    batches: int
    cmi: float | None
    cmi_deviation: float | None
    seconds: float | None  # per model
    seconds_deviation: float | None


@dataclass(frozen=True)
class Sensitivity:
    """What the number of batches does to one measure."""

    measure: str
    models: int
    runs: int
    points: tuple[Point, ...]  # by the number of batches
    left_out: tuple[int, ...] = ()  # numbers of batches that the task does not have

    @property
    def recommended(self) -> int | None:
        """The smallest number of batches as good as the largest, to one standard deviation; None
        where no deviation is known."""
        best = self.points[-1]
        if self.runs < 2 or best.cmi is None or best.cmi_deviation is None:
            return None
        scored = ((p.batches, p.cmi) for p in self.points if p.cmi is not None)
        return next(b for b, score in scored if abs(score - best.cmi) <= best.cmi_deviation)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_run_arguments(parser)
    parser.add_argument(
        "-m", "--measures", required=True, help="names of measures that draw batches, by commas"
    )
    parser.add_argument(
        "--batches",
        type=_counts,
        default=[1, 2, 5, 10, 20, 45, 90, 180],
        help="numbers of batches, by commas (default: 1,2,5,10,20,45,90,180)",
    )
    parser.add_argument("--runs", type=positive, default=20, help="seeds (default: 20)")


def run(args: argparse.Namespace) -> int:
    """Computes what is missing, then writes tables and figures; 1 if any model has no value."""
    from ingestion.chosen import choose_measures
    from ingestion.corpus import find_corpus
    from pgdl_measures.plots import need_matplotlib
    from starting_kit_adapter.cli.quiet import import_tensorflow

    need_matplotlib()  # before hours of computing
    import_tensorflow()  # which the measures' options need
    tasks = find_corpus(args.corpus).select(args.tasks)
    measures = choose_measures([name.strip() for name in args.measures.split(",")], {})
    for measure in measures:
        if not {"batches", "seed"} <= set(measure.defaults()):
            raise PgdlError(f"{measure.name} draws no batches; its value needs no such study")
    references = [reference_of(task) for task in tasks]
    failed = 0
    for task, reference in zip(tasks, references):
        try:
            failed |= _study(task, reference, measures, args)
        except KeyboardInterrupt:
            print("interrupted; the same command continues from here", file=sys.stderr)
            return 130
    return failed


def _study(
    task: Task, reference: Reference, measures: Sequence[Measure], args: argparse.Namespace
) -> int:
    """One task; 1 if any of its models has no value."""
    asked = sorted(set(args.batches))
    numbers = {measure.name: _drawn(measure, task, asked) for measure in measures}
    variants = [v for m in measures for v in _variants(m, numbers[m.name], args.runs)]
    tracing = tuple(m.with_options(batches=1, seed=_TRACING_SEED) for m in measures)
    report = compute(make_request([task], variants, args, warm_up=tracing), args)
    failed = tell_failures(report, args.output)
    found = []
    for name, batches in numbers.items():
        left_out = tuple(b for b in asked if b not in batches)
        if batches:
            one = sensitivity(reference, report, name, batches, args.runs)
            found.append(replace(one, left_out=left_out))
        else:
            print(f"{task.name}: {name} - {_words(left_out)}")
    if found:
        _write(task.name, found, args.output / "sensitivity")
    return failed


def sensitivity(
    reference: Reference, report: Report, measure: str, batches: Sequence[int], runs: int
) -> Sensitivity:
    """Mean and standard deviation over runs, of the models that have all values."""
    names = [[_variant(measure, b, seed) for seed in range(runs)] for b in batches]
    known = [
        i
        for i, model in enumerate(reference.ids)
        if all(_value(report, reference.task, model, name) is not None for r in names for name in r)
    ]
    points = []
    for number, row in zip(batches, names):
        results = [
            [report.results[reference.task, reference.ids[i], name] for i in known] for name in row
        ]
        scores = [_score(reference, known, [r.value for r in of_run]) for of_run in results]
        seconds = [fmean(r.seconds for r in of_run) if of_run else None for of_run in results]
        points.append(Point(number, *_mean_and_deviation(scores), *_mean_and_deviation(seconds)))
    return Sensitivity(measure, len(known), runs, tuple(points))


def to_text(found: Sensitivity) -> str:
    """A row per number of batches, and the recommendation."""
    rows = [
        [p.batches, _percent(p.cmi), _percent(p.cmi_deviation), p.seconds, p.seconds_deviation]
        for p in found.points
    ]
    headers = ["batches", "CMI x 100", "+-", "seconds per model", "+-"]
    lines = [f"{found.measure}: {found.models} models, {found.runs} runs", table(headers, rows)]
    if found.left_out:
        lines.append(_words(found.left_out))
    if found.recommended is not None:
        lines.append(
            f"recommended: {found.recommended} batches - the CMI is within one standard deviation "
            f"of that of {found.points[-1].batches}"
        )
    elif found.runs < 2:
        lines.append("no recommendation: one run has no standard deviation")
    else:
        lines.append("no recommendation: the CMI is undefined, there is nothing to predict")
    return "\n".join(lines)


def _write(task: str, found: Sequence[Sensitivity], folder: Path) -> None:
    from scoring.files import write_whole
    from starting_kit_adapter.studies.sensitivity_plots import save_figure

    text = "\n\n".join(map(to_text, found))
    print(f"\n{task}\n\n{text}")
    write_whole(folder / f"{task}.txt", text + "\n")
    content = [{**asdict(one), "recommended": one.recommended} for one in found]
    write_whole(folder / f"{task}.json", json.dumps(content, indent=1) + "\n")
    save_figure(found, folder / task)
    print(f"\nwrote {folder / task}.txt, .json, .svg, .png")


def _drawn(measure: Measure, task: Task, asked: Sequence[int]) -> list[int]:
    """The numbers of batches that the measure draws of the task when asked for them."""
    if "perturbation" not in measure.fixed:  # mixup shuffles the data as often as need be
        return list(asked)
    from pgdl_measures.perturbation_curves import available_batches

    available = available_batches(examples_of(task), measure.defaults()["batch_size"])
    return [number for number in asked if number <= available]


def _words(left_out: Sequence[int]) -> str:
    numbers = ", ".join(map(str, left_out))
    return f"left out: {numbers} - the training data has fewer batches; no example is drawn twice"


def _variants(measure: Measure, batches: Sequence[int], runs: int) -> list[Measure]:
    """The measure with each number of batches and seed."""
    return [
        replace(measure.with_options(batches=b, seed=s), name=_variant(measure.name, b, s))
        for b in batches
        for s in range(runs)
    ]


def _variant(measure: str, batches: int, seed: int) -> str:
    return f"{measure}_b{batches}_s{seed}"


def _value(report: Report, task: str, model: str, measure: str) -> float | None:
    result = report.results.get((task, model, measure))
    return None if result is None else result.value


def _score(
    reference: Reference, known: Sequence[int], values: Sequence[float | None]
) -> float | None:
    from scoring.cmi import cmi
    from scoring.errors import ScoringError

    try:
        return cmi(reference.codes[known], reference.gap[known], values).score  # type: ignore[arg-type]
    except ScoringError:
        return None


def _mean_and_deviation(values: Sequence[float | None]) -> tuple[float | None, float | None]:
    """None where one of the values is not known; of one value no deviation is."""
    known = [value for value in values if value is not None]
    if len(known) < len(values):
        return None, None
    return fmean(known), stdev(known) if len(known) > 1 else None


def _percent(value: float | None) -> float | None:
    return None if value is None else 100 * value


def _counts(text: str) -> list[int]:
    return [positive(part.strip()) for part in text.split(",")]
