"""`pgdl run`: measures over all models of a corpus."""

from __future__ import annotations

import argparse
from pathlib import Path

from starting_kit_adapter.cli.text import Progress, table

HELP = "Compute measures for every model of a corpus"
EXAMPLES = """\
examples:
  pgdl run zoo/ -m gi_intra_l0,pal_intra_l0,mixup -o out/
  pgdl run zoo/ -m all --tasks digits -o out/

Writes out/<measure>/<task>.predict, which `pgdl score` reads.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("corpus", type=Path, help="the folder that holds the tasks, or one task")
    parser.add_argument(
        "-m", "--measures", required=True, help="names separated by commas, or `all`"
    )
    parser.add_argument(
        "-o", "--output", type=Path, required=True, help="where results are written"
    )
    parser.add_argument("--tasks", help="only these, separated by commas")


def run(args: argparse.Namespace) -> int:
    from ingestion.corpus import find_corpus
    from pgdl_measures import complexity, measures
    from starting_kit_adapter.cli.quiet import import_tensorflow

    tasks = find_corpus(args.corpus).select(args.tasks)
    names = [m.name for m in measures()] if args.measures == "all" else args.measures.split(",")
    chosen = [complexity(name.strip()) for name in names]
    import_tensorflow()
    from ingestion.run import run_task

    args.output.mkdir(parents=True, exist_ok=True)
    records = []
    with Progress(sum(len(task.model_ids) for task in tasks), "models") as progress:
        for task in tasks:
            records += run_task(task, chosen, args.output, step=progress.step)
    rows = []
    for measure in chosen:
        done = [r for r in records if measure.name in r["values"]]
        seconds = sum(r["seconds"][measure.name] for r in done) / max(1, len(done))
        rows.append([measure.name, len(done), len(records) - len(done), seconds])
    print(table(["measure", "models", "failed", "seconds each"], rows))
    for record in records:
        for name, error in record["errors"].items():
            print(f"failed: {record['task']} {record['model']} {name}: {error}")
    return 1 if any(record["errors"] for record in records) else 0
