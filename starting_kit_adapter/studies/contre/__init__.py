"""`pgdl study contre`: the tables and figures of Wu et al. 2021 (ContRE) on a corpus."""

from __future__ import annotations

import argparse
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pgdl_measures.errors import UnknownNameError
from starting_kit_adapter.studies.contre.settings import (
    ACCURACY,
    FISHER,
    PARTS,
    Grid,
    grids,
    measures,
)
from starting_kit_adapter.studies.running import (
    add_run_arguments,
    compute,
    reference_of,
    tell_failures,
)
from starting_kit_adapter.terminal.numbers import positive, seed
from starting_kit_adapter.terminal.selection import add_max_models, split_names
from starting_kit_adapter.terminal.stopping import tell_stopped

if TYPE_CHECKING:
    from ingestion.corpus import Task
    from ingestion.run.loop import Report
    from starting_kit_adapter.studies.contre.correlations import Correlations

HELP = "Which contrastive examples predict the test accuracy? Wu et al. 2021 (ContRE)"
EXAMPLES = """\
examples:
  pgdl study contre zoo/ -o out/
  pgdl study contre zoo/ -o out/ --parts transformations,ablation      without the 120 pairs
  pgdl study contre zoo/ -o out/ --examples 500 --max-models 12        a first look

parts, with the tables and figures of Wu et al. 2021 that they repeat:
  transformations   Tables 1, 3, 5, 6, Figures 2, 5, 6: crops, flip, rotation and ContRE; accuracy
                    and Fisher ratio, with the tasks of a zoo as columns. Originals are what
                    the paper's Center Crop is on CIFAR (footnote 5); ours cuts an eighth
  ablation          Table 2: N = 2, 3, 4 operations of magnitude M = 4, 9, 15, 20
  singles           Figure 3: each operation of RandAugment alone
  pairs             Figure 4: every pair of operations, one applied after the other
  spoiling          Section 5: do accuracies on transformed training images and on transformed
                    test images correlate? For tasks with test images

Table 4 is `pgdl run ZOO -m contre_gap,sharpness,...` and `pgdl table`: the competition's score.

Writes each part to out/contre/<task>/ as text, CSV, SVG and PNG, and all parts to study.json; with
several tasks also out/contre/transformations.txt and figure5, which compare them. out/ is also the
folder of a run, and out/contre/on_test_images/ that of the values on test images: the same command
resumes an interrupted study, and `pgdl table out/` scores every setting. All models see the same
contrastive examples.
"""

_TEST_RECORD = "on_test_images"  # a folder beside those of the tasks
_PRINTED = 8  # columns; a wider table is written to its file but not printed


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_run_arguments(parser)
    parser.add_argument(
        "--parts", default=",".join(PARTS), help="parts, separated by commas (default: all)"
    )
    add_max_models(parser)
    parser.add_argument(
        "--examples",
        type=positive,
        default=2000,
        help="number of training examples (default: 2000)",
    )
    parser.add_argument("--seed", type=seed, default=0, help="random seed (default: 0)")


def run(args: argparse.Namespace) -> int:
    """Computes missing values, then writes the tables; returns 1 if a model has no value."""
    from ingestion.corpus import find_corpus
    from scoring.canvas import need_matplotlib

    need_matplotlib()  # before hours of computing
    parts = split_names(args.parts)
    for part in parts:
        if part not in PARTS:
            raise UnknownNameError("part", part, PARTS)
    tasks = find_corpus(args.corpus).select(args.tasks)
    for task in tasks:
        reference_of(task)  # raises if there is none
    chosen = grids(parts, examples=args.examples, seed=args.seed)
    test_out = args.output / "contre" / _TEST_RECORD
    try:
        report = compute(tasks, measures(chosen), args, seed=args.seed, max_models=args.max_models)
        on_test = _on_test_images(tasks, chosen, args, test_out) if "spoiling" in parts else None
    except KeyboardInterrupt as error:
        return tell_stopped(error)
    found = {
        task.name: _write(task, chosen, report, on_test, args.output / "contre" / task.name)
        for task in tasks
    }
    if len(found) > 1 and "transformations" in parts:
        _write_side_by_side(found, args.output / "contre")
    failed = tell_failures(report, args.output)
    return (tell_failures(on_test, test_out) if on_test else 0) | failed


def _on_test_images(
    tasks: Sequence[Task], chosen: Sequence[Grid], args: argparse.Namespace, out: Path
) -> Report | None:
    """The values of the part `spoiling` on test images; None where no task has any."""
    having = [task for task in tasks if _without_test_images(task) is None]
    if not having:
        return None
    spoiling = measures([grid for grid in chosen if grid.name == "spoiling"])
    print("on test images:")
    return compute(
        having,
        spoiling,
        args,
        out=out,
        seed=args.seed,
        max_models=args.max_models,
        split="test",
    )


def _without_test_images(task: Task) -> str | None:
    """Why a task has no test images; None where it has."""
    from ingestion.errors import CorpusError

    try:
        for dataset in task.datasets:
            task.shards("test", dataset)
    except CorpusError as error:
        return str(error)
    return None


def _write(
    task: Task, chosen: Sequence[Grid], report: Report, on_test: Report | None, folder: Path
) -> dict[str, Correlations]:
    from scoring.files import write_json, write_whole
    from starting_kit_adapter.studies.contre import correlations as c
    from starting_kit_adapter.studies.contre.plots import save_figure, save_scatter

    reference = reference_of(task)
    values: dict[str, dict[str, float]] = defaultdict(dict)
    for (task_name, model, measure), result in report.results.items():
        if task_name == task.name and result.value is not None:
            values[measure][model] = result.value
    found = {grid.name: c.correlate(grid, reference, values) for grid in chosen}
    study = {name: c.to_json(part) for name, part in found.items()}
    for name, part in found.items():
        text = c.to_text(part)
        if name == "spoiling":
            text, study[name] = _spoiling(task, part.grid, values, on_test)
        else:
            write_whole(folder / f"{name}.csv", c.to_csv(part))
            save_figure(part, folder / name)
        if len(part.grid.columns) <= _PRINTED:
            print(f"\n{task.name}: {text}")
        write_whole(folder / f"{name}.txt", f"{text}\n")
        if name == "transformations":
            for figure, column in (("figure2", ACCURACY), ("figure6", FISHER)):
                if column in part.grid.columns:
                    save_scatter(part, column, folder / figure)
    write_json(folder / "study.json", study)
    print(f"\nwrote {folder}")
    return found


def _spoiling(
    task: Task, grid: Grid, values: Mapping[str, dict[str, float]], on_test: Report | None
) -> tuple[str, dict[str, Any]]:
    """The text of the part, and its numbers."""
    from starting_kit_adapter.studies.contre.spoiling import Spoiling

    missing = _without_test_images(task)
    if missing or on_test is None:
        return f"no check of transformed test images: {missing}", {}
    (measure,) = measures([grid])
    train, test = values[measure.name], on_test.values(task.name, measure.name)
    models = [model for model in train if model in test]
    found = Spoiling({m: -train[m] for m in models}, {m: -test[m] for m in models})
    return found.to_text(), {"correlation": found.correlation, "models": len(models)}


def _write_side_by_side(found: dict[str, dict[str, Correlations]], folder: Path) -> None:
    from scoring.files import write_whole
    from starting_kit_adapter.studies.contre.correlations import side_by_side
    from starting_kit_adapter.studies.contre.plots import save_tasks

    tasks = {task: parts["transformations"] for task, parts in found.items()}
    text = side_by_side(tasks)
    write_whole(folder / "transformations.txt", f"{text}\n")
    save_tasks(tasks, folder / "figure5")
    print(f"\n{text}\n\nwrote transformations.txt and figure5.svg, .png to {folder}")
