"""`pgdl study sensitivity`: how many batches are enough? (Schiff et al. 2021, 4.1.3, A.7)

For each number of batches the measure is computed in several runs with different seeds, and so with
different examples; the time per model and the CMI are given as mean and standard deviation over the
runs, as in Figures 3 to 5.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING

from pgdl_measures.errors import PgdlError
from starting_kit_adapter.studies.running import (
    add_run_arguments,
    compute,
    examples_of,
    reference_of,
    tell_failures,
)
from starting_kit_adapter.studies.sensitivity.findings import (
    Sensitivity,
    left_out_note,
    sensitivity,
    to_text,
    variant_name,
)
from starting_kit_adapter.terminal.numbers import positive
from starting_kit_adapter.terminal.selection import split_names
from starting_kit_adapter.terminal.stopping import tell_stopped

if TYPE_CHECKING:
    from ingestion.corpus import Task
    from pgdl_measures.base import Measure
    from scoring.kit.reference import Reference

HELP = "How many batches are enough? Time and CMI, as in Schiff et al. 2021, Figures 3 to 5"
EXAMPLES = """\
examples:
  pgdl study sensitivity zoo/ -m gi_intra_l0,gi_inter_l0 -o out/
  pgdl study sensitivity zoo/ -m gi_rotation -o out/ --batches 1,5,20 --runs 5     a first look

Repeats Section 4.1.3 of Schiff et al. 2021. Writes out/sensitivity/<task>.txt, .json, .svg and
.png. The recommended number of batches is the smallest whose mean CMI is within one standard
deviation of the mean CMI at the largest number; it needs 2 runs or more. Times are those of one
model, without tracing its graph. Measures of perturbed images use each example once, so numbers of
batches that need more examples than the task has are skipped. The same command resumes an
interrupted study.
"""


_TRACING_SEED = 2**31 - 1  # used by no run, so that tracing leaves no run's curve in the cache


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_run_arguments(parser)
    parser.add_argument(
        "-m", "--measures", required=True, help="measures that draw batches, separated by commas"
    )
    parser.add_argument(
        "--batches",
        type=_counts,
        default=[1, 2, 5, 10, 20, 45, 90, 180],
        help="numbers of batches, separated by commas (default: 1,2,5,10,20,45,90,180)",
    )
    parser.add_argument(
        "--runs",
        type=positive,
        default=20,
        help="runs per number of batches, each with its own seed (default: 20)",
    )


def run(args: argparse.Namespace) -> int:
    """Computes missing values, then writes tables and figures; returns 1 if any model has none."""
    from ingestion.corpus import find_corpus
    from ingestion.quiet import import_tensorflow
    from ingestion.run.chosen import choose_measures
    from scoring.canvas import need_matplotlib

    need_matplotlib()  # before hours of computing
    import_tensorflow()  # the measures' options need it
    tasks = find_corpus(args.corpus).select(args.tasks)
    measures = choose_measures(split_names(args.measures), {})
    for measure in measures:
        if not {"batches", "seed"} <= set(measure.defaults()):
            raise PgdlError(
                f"{measure.name} draws no batches: choose a measure that does, such as gi_intra_l0"
            )
    references = [reference_of(task) for task in tasks]
    failed = 0
    for task, reference in zip(tasks, references):
        try:
            failed |= _study(task, reference, measures, args)
        except KeyboardInterrupt as error:
            return tell_stopped(error)
    return failed


def _study(
    task: Task, reference: Reference, measures: Sequence[Measure], args: argparse.Namespace
) -> int:
    """Studies one task; returns 1 if a model has no value."""
    requested = sorted(set(args.batches))
    numbers = {measure.name: _drawn(measure, task, requested) for measure in measures}
    variants = [v for m in measures for v in _variants(m, numbers[m.name], args.runs)]
    tracing = tuple(m.with_options(batches=1, seed=_TRACING_SEED) for m in measures)
    report = compute([task], variants, args, warm_up=tracing)
    failed = tell_failures(report, args.output)
    found = []
    for name, batches in numbers.items():
        left_out = tuple(b for b in requested if b not in batches)
        if batches:
            one = sensitivity(reference, report, name, batches, args.runs)
            found.append(replace(one, left_out=left_out))
        else:
            print(f"{task.name}: {name} - {left_out_note(left_out)}")
    if found:
        _write(task.name, found, args.output / "sensitivity")
    return failed


def _write(task: str, found: Sequence[Sensitivity], folder: Path) -> None:
    from scoring.files import write_json, write_whole
    from starting_kit_adapter.studies.sensitivity.plots import save_figure

    text = "\n\n".join(map(to_text, found))
    print(f"\n{task}\n\n{text}")
    write_whole(folder / f"{task}.txt", text + "\n")
    content = [{**asdict(one), "recommended": one.recommended} for one in found]
    write_json(folder / f"{task}.json", content)
    save_figure(found, folder / task)
    print(f"\nwrote {folder / task}.txt, .json, .svg, .png")


def _drawn(measure: Measure, task: Task, asked: Sequence[int]) -> list[int]:
    """Those of the numbers of batches that the task has enough examples for."""
    if "perturbation" not in measure.fixed:  # mixup reshuffles the data as often as needed
        return list(asked)
    from pgdl_measures.response_curves.perturbation_curves import available_batches

    available = available_batches(examples_of(task), measure.defaults()["batch_size"])
    return [number for number in asked if number <= available]


def _variants(measure: Measure, batches: Sequence[int], runs: int) -> list[Measure]:
    """The measure with each number of batches and seed."""
    return [
        replace(measure.with_options(batches=b, seed=s), name=variant_name(measure.name, b, s))
        for b in batches
        for s in range(runs)
    ]


def _counts(text: str) -> list[int]:
    return [positive(part.strip()) for part in text.split(",")]
