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
from starting_kit_adapter.cli.text import table
from starting_kit_adapter.studies.running import add_run_arguments, compute, count, tell_failures

if TYPE_CHECKING:
    from ingestion.corpus import Task
    from ingestion.run import Report
    from pgdl_measures.base import Measure

HELP = "Time and CMI of measures against the number of batches: how many are enough?"
EXAMPLES = """\
examples:
  pgdl study sensitivity zoo/ -m gi_intra_l0,gi_inter_l0 -o out/
  pgdl study sensitivity zoo/ -m gi_rotation -o out/ --batches 1,5,20 --runs 5     a first look

Writes out/sensitivity/<task>.txt, .json, .svg and .png. The recommended number of batches is the
smallest whose mean CMI is within one standard deviation of that of the largest number. Seconds are
those of a model's curve once its graph is traced. The same command continues an interrupted study.
"""


@dataclass(frozen=True)
class Point:
    """One number of batches, over runs."""

    batches: int
    cmi: float
    cmi_deviation: float
    seconds: float  # per model
    seconds_deviation: float


@dataclass(frozen=True)
class Sensitivity:
    """What the number of batches does to one measure."""

    measure: str
    models: int
    runs: int
    points: tuple[Point, ...]  # by the number of batches

    @property
    def recommended(self) -> int:
        """The smallest number of batches as good as the largest, to one standard deviation."""
        best = self.points[-1]
        near = (p for p in self.points if abs(p.cmi - best.cmi) <= best.cmi_deviation)
        return next(near).batches


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
    parser.add_argument("--runs", type=count, default=20, help="seeds (default: 20)")


def run(args: argparse.Namespace) -> int:
    """Computes what is missing, then writes tables and figures; 1 if any model has no value."""
    from ingestion.chosen import choose_measures
    from ingestion.corpus import find_corpus
    from ingestion.plan import Request
    from starting_kit_adapter.cli.quiet import import_tensorflow

    import_tensorflow()  # which the measures' options need
    tasks = find_corpus(args.corpus).select(args.tasks)
    measures = choose_measures([name.strip() for name in args.measures.split(",")], {})
    for measure in measures:
        if not {"batches", "seed"} <= set(measure.defaults()):
            raise PgdlError(f"{measure.name} draws no batches; its value needs no such study")
    batches = sorted(set(args.batches))
    variants = [v for m in measures for v in _variants(m, batches, args.runs)]
    try:
        report = compute(Request(tasks, variants), args)
    except KeyboardInterrupt:
        print("interrupted; the same command continues from here", file=sys.stderr)
        return 130
    for task in tasks:
        found = [sensitivity(task, report, m.name, batches, args.runs) for m in measures]
        _write(task.name, found, args.output / "sensitivity")
    return tell_failures(report, args.output)


def sensitivity(
    task: Task, report: Report, measure: str, batches: Sequence[int], runs: int
) -> Sensitivity:
    """Mean and standard deviation over runs, of the models that have all values."""
    from scoring.cmi import cmi
    from starting_kit_adapter.studies.running import reference_of

    reference = reference_of(task)
    names = [[_variant(measure, b, seed) for seed in range(runs)] for b in batches]
    known = [
        i
        for i, model in enumerate(reference.ids)
        if all(_value(report, task.name, model, name) is not None for row in names for name in row)
    ]
    points = []
    for number, row in zip(batches, names):
        results = [
            [report.results[task.name, reference.ids[i], name] for i in known] for name in row
        ]
        scores = [
            cmi(reference.codes[known], reference.gap[known], [r.value for r in of_run]).score  # type: ignore[arg-type,misc]
            for of_run in results
        ]
        seconds = [fmean(r.seconds for r in of_run) for of_run in results]
        points.append(Point(number, *_mean_and_deviation(scores), *_mean_and_deviation(seconds)))
    return Sensitivity(measure, len(known), runs, tuple(points))


def to_text(found: Sensitivity) -> str:
    """A row per number of batches, and the recommendation."""
    rows = [
        [p.batches, 100 * p.cmi, 100 * p.cmi_deviation, p.seconds, p.seconds_deviation]
        for p in found.points
    ]
    headers = ["batches", "CMI x 100", "+-", "seconds per model", "+-"]
    largest = found.points[-1].batches
    return (
        f"{found.measure}: {found.models} models, {found.runs} runs\n{table(headers, rows)}\n"
        f"recommended: {found.recommended} batches - the CMI is within one standard deviation of "
        f"that of {largest}"
    )


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


def _variants(measure: Measure, batches: Sequence[int], runs: int) -> list[Measure]:
    """The measure with each number of batches and seed. One more of one batch comes first: tracing
    the graph is on its time."""
    first = replace(measure.with_options(batches=1, seed=runs), name=f"{measure.name}_traced")
    return [
        first,
        *(
            replace(measure.with_options(batches=b, seed=s), name=_variant(measure.name, b, s))
            for b in batches
            for s in range(runs)
        ),
    ]


def _variant(measure: str, batches: int, seed: int) -> str:
    return f"{measure}_b{batches}_s{seed}"


def _value(report: Report, task: str, model: str, measure: str) -> float | None:
    result = report.results.get((task, model, measure))
    return None if result is None else result.value


def _mean_and_deviation(values: Sequence[float]) -> tuple[float, float]:
    return fmean(values), stdev(values) if len(values) > 1 else 0.0


def _counts(text: str) -> list[int]:
    return [count(part.strip()) for part in text.split(",")]
