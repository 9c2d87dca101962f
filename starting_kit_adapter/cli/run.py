"""`pgdl run`: measures over all models of a corpus."""

from __future__ import annotations

import argparse
import shlex
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pgdl_measures.errors import PgdlError
from starting_kit_adapter.cli.failures import tell_failures
from starting_kit_adapter.cli.run_options import (
    DEFAULTS,
    add_arguments,
    parse_option,
    plain,
    read_settings,
    typed,
)
from starting_kit_adapter.cli.text import Progress, duration, table

if TYPE_CHECKING:
    from ingestion.plan import Request
    from ingestion.run import Executor, Report

__all__ = ["EXAMPLES", "HELP", "add_arguments", "run"]

HELP = "Compute measures for every model of a corpus"
EXAMPLES = """\
examples:
  pgdl run zoo/ -m gi_intra_l0,pal_intra_l0,mixup -o out/
  pgdl run zoo/ -m all --tasks digits -o out/ --workers 4
  pgdl run zoo/ -m mixup -o out/ --seed 1 --set batches=20
  pgdl run zoo/ -m mymodule:my_measure -o out/      my_measure(subject, *, option=1) -> float
  pgdl run zoo/ -m gi_intra_l0 -o out/ --executor ray --ray-address auto

Writes out/<measure>/<task>.predict, which `pgdl score` reads, and out/records.jsonl, one line per
model. The same command again continues an interrupted run; with other measures it adds those. What
failed stays failed until --retry-failed. Models whose files changed are computed again. Values of
other options or of another version of a measure are never mixed: the run is refused, or does them
again with --recompute.

A model's value does not depend on the number of workers, on their order or on interruptions. It
does depend, in its last bits, on --threads, as sums in TensorFlow do. The exit code is 1 if any
model has no value.
"""


def run(args: argparse.Namespace) -> int:
    from ingestion.plan import Plan
    from ingestion.run import Listener
    from ingestion.run import run as run_measures

    given = read_settings(args)
    request, executor = _request(args.corpus, given), _executor({**DEFAULTS, **given})
    output = Path(given["output"])
    about = {"corpus": str(args.corpus.resolve()), "settings": plain(given)}
    progress = Progress(0, "models")

    def planned(plan: Plan) -> None:
        progress.total = len(plan.jobs)
        if plan.changed:
            print(f"{plan.changed} models changed since they were measured: computed again")
        asked = {measure.name for measure in request.measures}
        if others := sorted({measure for _, _, measure in plan.outdated} - asked):
            print(f"no predictions until run again, because models changed: {', '.join(others)}")

    listener = Listener(
        planned, lambda job, good: progress.step(f"{job.task} {job.model}", failed=not good)
    )
    try:
        with progress:
            report = run_measures(request, output, executor, listener, about)
    except KeyboardInterrupt:
        print("interrupted; the same command continues from here", file=sys.stderr)
        return 130
    return _tell(report, request, args.corpus, given)


def _tell(report: Report, request: Request, corpus: Path, given: Mapping[str, Any]) -> int:
    rows = []
    for measure in request.measures:
        found = [result for key, result in report.results.items() if key[2] == measure.name]
        seconds = [result.seconds for result in found if result.value is not None]
        mean = sum(seconds) / max(1, len(seconds))
        rows.append([measure.name, len(seconds), len(found) - len(seconds), mean])
    print(table(["measure", "models", "failed", "seconds each"], rows))
    asked = sum(len(request.selected(task)) for task in request.tasks)
    print(f"{report.computed} of {asked} models computed now, in {duration(report.seconds)}")
    again = ["pgdl", "run", str(corpus), *typed({**given, "retry_failed": True})]
    remedy = f"to retry only these: {shlex.join(again)}"
    return tell_failures(report, Path(given["output"]), remedy)


def _request(corpus: Path, given: Mapping[str, Any]) -> Request:
    from ingestion.budget import Limits
    from ingestion.chosen import choose_measures
    from ingestion.corpus import find_corpus
    from ingestion.plan import Request

    for option in ("measures", "output"):
        if option not in given:
            raise PgdlError(f"--{option} is missing: give it here or in a --config file")
    settings = {**DEFAULTS, **given}
    names = [name.strip() for name in given["measures"].split(",")]
    options = dict(map(parse_option, given.get("set", [])))
    seed = given.get("seed", options.pop("seed", None))
    if options or seed is not None or any(":" in name for name in names):
        from starting_kit_adapter.cli.quiet import import_tensorflow

        import_tensorflow()  # which the code of measures needs
    tasks = find_corpus(corpus).select(given.get("tasks"))
    models = given["models"].split(",") if "models" in given else None
    offers = frozenset.intersection(*(task.offers() for task in tasks))
    return Request(
        tasks,
        choose_measures(names, options, seed, offers=offers),
        Limits(settings["time_limit"], settings["time_rule"]),
        seed or 0,
        _model_ids(models, tasks) if models else None,
        given.get("limit"),
        given.get("retry_failed", False),
        given.get("recompute", False),
    )


def _model_ids(names: list[str], tasks: Any) -> frozenset[str]:
    from pgdl_measures.errors import UnknownNameError

    known = {model for task in tasks for model in task.model_ids}
    chosen = set()
    for name in (name.strip() for name in names):
        model = name if name in known else f"model_{name}"
        if model not in known:
            raise UnknownNameError("model", name, known)
        chosen.add(model)
    return frozenset(chosen)


def _executor(settings: Mapping[str, Any]) -> Executor:
    from ingestion.executors.local import LocalExecutor
    from ingestion.executors.process import WorkerSettings

    worker = WorkerSettings(settings["threads"], settings.get("memory_limit"))
    if settings["executor"] == "local":
        return LocalExecutor(worker, settings.get("workers"))
    from ingestion.executors.ray_cluster import RayExecutor

    return RayExecutor(
        worker,
        settings.get("workers"),
        address=settings.get("ray_address"),
        cpus=settings.get("ray_cpus"),
        gpus=settings.get("ray_gpus", 0.0),
    )
