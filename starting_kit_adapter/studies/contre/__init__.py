"""`pgdl study contre`: the tables and figures of paper 004 on a corpus."""

from __future__ import annotations

import argparse
import json
import sys
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from pgdl_measures.errors import PgdlError, UnknownNameError
from starting_kit_adapter.cli.text import Progress, duration
from starting_kit_adapter.studies.contre.settings import PARTS, Grid, grids, measures

if TYPE_CHECKING:
    from ingestion.corpus import Task
    from ingestion.plan import Request
    from ingestion.run import Report

HELP = "ContRE: which contrastive examples predict the test accuracy?"
EXAMPLES = """\
examples:
  pgdl study contre zoo/ -o out/
  pgdl study contre zoo/ -o out/ --parts transformations,ablation      no heat map of 120 pairs
  pgdl study contre zoo/ -o out/ --examples 500 --limit 12             a first look

parts, with the tables and figures of paper 004 that they repeat:
  transformations   Tables 1, 5, 6: crops, flip, rotation and ContRE; accuracy and Fisher ratio
  ablation          Table 2: N = 2, 3, 4 operations of magnitude M = 4, 9, 15, 20
  singles           Figure 3: each operation of RandAugment alone
  pairs             Figure 4: each two operations, one after the other

Writes out/contre/<task>/: each part as text, CSV, SVG and PNG, and all of it in study.json; and the
values of all models as `pgdl run` does, so that the same command continues an interrupted study and
`pgdl table out/` scores every setting. All models are shown the same contrastive examples.
"""

_SHOWN = 10  # failures that are printed
_PRINTED = 8  # columns of a table that is printed; a wider one is only written


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("corpus", type=Path, metavar="ZOO", help="a corpus of trained models")
    parser.add_argument("-o", "--output", type=Path, required=True, help="where results go")
    parser.add_argument("--parts", default=",".join(PARTS), help="only these (default: all four)")
    parser.add_argument("--tasks", help="only these, separated by commas")
    parser.add_argument("--limit", type=_count, help="only so many models of each task")
    parser.add_argument(
        "--examples", type=_count, default=2000, help="training examples that are used (2000)"
    )
    parser.add_argument("--seed", type=int, default=0, help="of the draws (default: 0)")
    parser.add_argument("--workers", type=_count, help="processes (default: cores / threads)")
    parser.add_argument("--threads", type=_count, default=1, help="of each process (default: 1)")


def run(args: argparse.Namespace) -> int:
    """Computes what is missing, then writes the tables; 1 if any model has no value."""
    from ingestion.corpus import find_corpus
    from ingestion.plan import Request

    parts = [part.strip() for part in args.parts.split(",")]
    for part in parts:
        if part not in PARTS:
            raise UnknownNameError("part", part, PARTS)
    tasks = find_corpus(args.corpus).select(args.tasks)
    for task in tasks:
        if task.reference is None:
            raise PgdlError(
                f"task {task.name} has no model_configs.json: no test accuracy is known"
            )
    chosen = grids(parts, examples=args.examples, seed=args.seed)
    request = Request(tasks, measures(chosen), seed=args.seed, first=args.limit)
    try:
        report = _compute(request, args)
    except KeyboardInterrupt:
        print("interrupted; the same command continues from here", file=sys.stderr)
        return 130
    for task in tasks:
        _write(task, chosen, report, args.output / "contre" / task.name)
    failures = report.failures()
    for (task_name, model, measure), error in failures[:_SHOWN]:
        print(f"failed: {task_name} {model} {measure}: {error}")
    if len(failures) > _SHOWN:
        print(f"… and {len(failures) - _SHOWN} more, all in {args.output}/records.jsonl")
    return 1 if failures else 0


def _compute(request: Request, args: argparse.Namespace) -> Report:
    from ingestion.executors.local import LocalExecutor
    from ingestion.executors.process import WorkerSettings
    from ingestion.plan import Plan
    from ingestion.run import Listener
    from ingestion.run import run as run_measures

    settings = {
        name: str(value) if isinstance(value, Path) else value
        for name, value in vars(args).items()
        if value is not None and name not in ("run", "study_run", "verb")
    }
    about = {"corpus": str(args.corpus.resolve()), "settings": settings}
    with Progress(0, "models") as progress:

        def planned(plan: Plan) -> None:
            progress.total = len(plan.jobs)

        listener = Listener(
            planned, lambda job, good: progress.step(f"{job.task} {job.model}", failed=not good)
        )
        executor = LocalExecutor(WorkerSettings(args.threads), args.workers)
        report = run_measures(request, args.output, executor, listener, about)
    print(f"{report.computed} models computed now, in {duration(report.seconds)}")
    return report


def _write(task: Task, chosen: Sequence[Grid], report: Report, folder: Path) -> None:
    from scoring.files import write_whole
    from scoring.reference import read_reference
    from starting_kit_adapter.studies.contre import correlations as c
    from starting_kit_adapter.studies.contre.plots import save_figure

    assert task.reference is not None  # checked before anything was computed
    reference = read_reference(task.reference, task.name)
    values: dict[str, dict[str, float]] = defaultdict(dict)
    for (task_name, model, measure), result in report.results.items():
        if task_name == task.name and result.value is not None:
            values[measure][model] = result.value
    found = [c.correlate(grid, reference, values) for grid in chosen]
    for part in found:
        text = c.to_text(part)
        if len(part.grid.columns) <= _PRINTED:
            print(f"\n{task.name}: {text}")
        write_whole(folder / f"{part.grid.name}.txt", f"{text}\n\n{c.UNDEFINED}\n")
        write_whole(folder / f"{part.grid.name}.csv", c.to_csv(part))
        save_figure(part, folder / part.grid.name)
    study = {part.grid.name: c.to_json(part) for part in found}
    write_whole(folder / "study.json", json.dumps(study, indent=1) + "\n")
    print(f"\n{c.UNDEFINED}\nwrote {folder}")


def _count(text: str) -> int:
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"{text} is not a positive number")
    return value
