"""`pgdl run`: measures over all models of a corpus."""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pgdl_measures.errors import PgdlError
from starting_kit_adapter.terminal.failures import tell_failures
from starting_kit_adapter.terminal.run_options import (
    add_arguments,
    parse_options,
    plain,
    read_settings,
    run_arguments,
    typed,
)
from starting_kit_adapter.terminal.run_progress import run_listener
from starting_kit_adapter.terminal.selection import split_names
from starting_kit_adapter.terminal.stopping import tell_stopped
from starting_kit_adapter.terminal.text import Progress, duration, table

if TYPE_CHECKING:
    from ingestion.run.loop import Report
    from ingestion.run.plan import Plan

__all__ = ["EXAMPLES", "HELP", "add_arguments", "run"]

HELP = "Compute measures for every model of a corpus"
EXAMPLES = """\
examples:
  pgdl run zoo/ -m gi_intra_l0,pal_intra_l0,mixup -o out/
  pgdl run zoo/ -m all --tasks digits -o out/ --workers 4
  pgdl run zoo/ -m mixup -o out/ --seed 1 --set batches=20
  pgdl run zoo/ -m gi_intra_l0 -o out/ --set batches=enough   fewer where models differ much
  pgdl run zoo/ -m mymodule:my_measure -o out/      my_measure(subject, *, option=1) -> float
  pgdl run zoo/ -m mixup -o out/ --custom my_layers   models with layers that my_layers.py defines
  pgdl run zoo/ -m gi_intra_l0 -o out/ --executor ray --ray-address auto

Writes out/<measure>/<task>.predict, which `pgdl score` reads, and out/records.jsonl, one line per
model. The same command resumes an interrupted run; with other measures it adds those. A failure is
not tried again without --retry-failed. Models whose files changed are computed again. Results are
stale if they were computed with other options, with another number of threads, or with other code
of the measure (comments, docstrings and error messages do not count). Stale and new results are
never mixed: the run stops and names the measures, and --recompute computes them again.

A value does not depend on the number of workers, their order or interruptions, except with
batches=enough, which compares a model with those that its worker measured before. The last bits of
a value depend on --threads, because TensorFlow then adds numbers in another order. The exit code is
1 if any model has no value.
"""


def run(args: argparse.Namespace) -> int:
    from ingestion import evaluate
    from ingestion.corpus import common_offers, find_corpus
    from ingestion.run.chosen import left_out_of_all

    settings = read_settings(args)
    for option in ("measures", "output"):
        if option not in settings:
            raise PgdlError(f"--{option} is missing: give it here or in a --config file")
    names = split_names(settings["measures"])
    options = parse_options(settings.get("set"))
    seed = settings.get("seed", options.pop("seed", None))
    tasks = find_corpus(args.corpus).select(settings.get("tasks"))
    left_out = left_out_of_all(common_offers(tasks)) if "all" in names else None

    def planned(plan: Plan) -> None:
        if left_out:
            print(left_out)
        if plan.changed:
            count = "1 model" if plan.changed == 1 else f"{plan.changed} models"
            print(f"{count} changed since the last run: computed again")
        if plan.withdrawn:
            others = ", ".join(plan.withdrawn)
            print(f"no predictions until run again, because models changed: {others}")

    try:
        with Progress(0, "models") as progress:
            report = evaluate(
                args.corpus,
                names,
                settings["output"],
                options=options,
                seed=seed,
                tasks=split_names(settings["tasks"]) if "tasks" in settings else None,
                models=split_names(settings["models"]) if "models" in settings else None,
                max_models=settings.get("max_models"),
                listener=run_listener(progress, planned),
                settings=plain(settings),
                **run_arguments(settings),
            )
    except KeyboardInterrupt as error:
        return tell_stopped(error)
    return _tell(report, args.corpus, settings)


def _tell(report: Report, corpus: Path, given: Mapping[str, Any]) -> int:
    rows = []
    for measure in dict.fromkeys(measure for _, _, measure in report.results):
        found = [result for key, result in report.results.items() if key[2] == measure]
        seconds = [result.seconds for result in found if result.value is not None]
        mean = sum(seconds) / max(1, len(seconds))
        rows.append([measure, len(seconds), len(found) - len(seconds), mean])
    print(table(["measure", "models", "failed", "seconds each"], rows))
    print(f"{report.computed} of {report.asked} models computed now, in {duration(report.seconds)}")
    again = ["pgdl", "run", str(corpus), *typed({**given, "retry_failed": True})]
    remedy = f"to retry only these: {shlex.join(again)}"
    return tell_failures(report, Path(given["output"]), remedy)
