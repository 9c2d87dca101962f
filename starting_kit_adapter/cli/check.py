"""`pgdl check`: reads a corpus completely and lists its problems."""

from __future__ import annotations

import argparse

from starting_kit_adapter.terminal.custom import add_custom
from starting_kit_adapter.terminal.selection import add_corpus, add_tasks
from starting_kit_adapter.terminal.text import Progress, table

HELP = "Read a corpus completely and list its problems"
EXAMPLES = """\
examples:
  pgdl check zoo/                       files, models, grid and data of every task
  pgdl check zoo/ --accuracy            also compare each model's accuracy with the recorded one
  pgdl check corpus/ --tasks task1_v4,task2_v1

The exit code is 1 if there is a problem; warnings do not change it.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_corpus(parser)
    add_tasks(parser)
    parser.add_argument(
        "--accuracy",
        action="store_true",
        help="recompute every model's training accuracy and compare it with the recorded one",
    )
    add_custom(parser)


def run(args: argparse.Namespace) -> int:
    from ingestion.corpus import find_corpus
    from ingestion.quiet import import_tensorflow

    tasks = find_corpus(args.corpus).select(args.tasks)
    import_tensorflow()
    from ingestion.model_files.custom import load_custom
    from starting_kit_adapter.diagnose.check import check_task

    custom = load_custom(args.custom or ())
    with Progress(sum(len(task.model_ids) for task in tasks), "models") as progress:
        checks = [
            check_task(task, with_accuracy=args.accuracy, step=progress.step, custom=custom)
            for task in tasks
        ]
    rows = [
        [c.name, len(c.models), c.grid, c.inputs, c.classes, c.examples, len(c.problems)]
        for c in checks
    ]
    headers = ["task", "models", "grid", "inputs", "classes", "train/test", "problems"]
    print(table(headers, rows))
    for check in checks:
        if args.accuracy:
            accuracies = [
                [m.model_id, m.recorded, m.recomputed, "differs" if m.problem else "ok"]
                for m in check.models
            ]
            print(f"\n{check.name}: accuracy on the training data")
            print(table(["model", "recorded", "recomputed", ""], accuracies))
        for kind, lines in (("problem", check.problems), ("warning", check.warnings)):
            for line in lines:
                print(f"{kind}: {check.name}: {line}")
    return 1 if any(check.problems for check in checks) else 0
