"""`pgdl limits`: how long measures take on the competition's GPUs, or how long a zoo build does."""

from __future__ import annotations

import argparse
import contextlib
from pathlib import Path
from typing import TYPE_CHECKING

from pgdl_measures.errors import PgdlError
from starting_kit_adapter.terminal.custom import add_custom
from starting_kit_adapter.terminal.numbers import positive, positive_number
from starting_kit_adapter.terminal.run_options import add_set, parse_options
from starting_kit_adapter.terminal.selection import add_corpus, add_models, add_tasks, split_names
from starting_kit_adapter.terminal.text import Progress
from starting_kit_adapter.terminal.zoo_options import add_grid_arguments, order_of

if TYPE_CHECKING:
    from ingestion.corpus import Task
    from ingestion.cost.calibration import Machine
    from ingestion.cost.profile import Meter
    from ingestion.cost.roofline import Device

HELP = "Estimate how long measures take on the competition's GPUs, or how long a zoo build takes"
EXAMPLES = """\
examples:
  pgdl limits zoo/ -m gi_intra_l0,mixup                  estimates for a K80 and a V100
  pgdl limits corpus/ -m gi_intra_l0 --max-models 3 --device k80 --details
  pgdl limits corpus/ -m gi_intra_l0 --enforce           measure the time on this machine
  pgdl limits corpus/ -m gi_intra_l0 --enforce --device v100   the same; fails unless it is a V100
  pgdl limits --grid wu-cifar --data tfds:cifar10        how long a `pgdl zoo build` takes at most

The competition allows 300 s per model. Without --enforce, the time on its GPUs is estimated from a
run on this machine; a footnote says how. The exit code is 1 if a model takes longer or fails.

With --grid, each network of the grid is trained for a few steps on this machine, which gives the
longest time that `pgdl zoo build` can take with the same options.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_corpus(parser, required=False)
    parser.add_argument(
        "-m",
        "--measures",
        help="names separated by commas, `all`, or your own module:function",
    )
    add_tasks(parser)
    add_models(parser)
    add_set(parser)
    parser.add_argument(
        "--device",
        help="k80, v100, or both separated by commas (default: both; with --enforce: any)",
    )
    parser.add_argument(
        "--time-limit",
        type=positive_number,
        metavar="SECONDS",
        help="the time that a model may take (default: 300)",
    )
    parser.add_argument(
        "--enforce",
        action="store_true",
        help="measure the time on this machine instead of estimating it",
    )
    parser.add_argument(
        "--details", action="store_true", help="show every model, not only the slowest"
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all numbers to FILE")
    add_custom(parser)
    build = parser.add_argument_group("the time of a build (options of `pgdl zoo build`)")
    add_grid_arguments(build, required=False)
    build.add_argument("--workers", type=positive, help="processes (default: one per core)")


def run(args: argparse.Namespace) -> int:

    if args.grid is not None:
        return _build(args)
    if args.corpus is None or args.measures is None:
        raise PgdlError("give a corpus and its measures (-m), or the --grid of a build")
    from ingestion.corpus import common_offers, find_corpus
    from ingestion.quiet import import_tensorflow
    from ingestion.run.budget import COMPETITION_SECONDS
    from ingestion.run.chosen import choose_measures, left_out_of_all
    from scoring.files import write_json

    tasks = find_corpus(args.corpus).select(args.tasks)
    selected = {task: _models(task, args.models, args.max_models) for task in tasks}
    if not any(selected.values()):
        raise PgdlError(f"no model is named {args.models} in {args.corpus}")
    import_tensorflow()
    from ingestion.cost.profile import profile_task
    from ingestion.model_files.custom import load_custom
    from starting_kit_adapter.diagnose import cost_report as report

    names, offers = split_names(args.measures), common_offers(tasks)
    measures = choose_measures(names, parse_options(args.set), offers=offers)
    left_out = left_out_of_all(offers) if "all" in names else None
    if left_out:
        print(left_out)
    custom = load_custom(args.custom or ())
    meter, machine, devices = _meter(args)
    time_limit = args.time_limit or COMPETITION_SECONDS
    with Progress(sum(map(len, selected.values())), "models") as progress:
        costs = [
            cost
            for task, models in selected.items()
            if models
            for cost in profile_task(task, models, measures, meter, progress.step, custom)
        ]
    print(report.summary(costs, time_limit))
    if args.details:
        print("\n" + report.details(costs, time_limit))
    for cost in costs:
        if cost.problem:
            print(f"problem: {cost.task} {cost.model} {cost.measure}: {cost.problem}")
    print(report.verdict(costs, time_limit))
    if machine is not None:
        print("\n" + report.assumptions(machine, devices))
    if args.json is not None:
        content = report.to_json(costs, time_limit, machine, devices)
        write_json(args.json, content)
    return 0 if report.fits(costs, time_limit) else 1


def _build(args: argparse.Namespace) -> int:
    from ingestion.quiet import import_tensorflow

    if args.corpus is not None or args.measures is not None:
        raise PgdlError("--grid estimates a zoo build: leave out the corpus and --measures")
    import_tensorflow()
    import tensorflow as tf

    with contextlib.suppress(RuntimeError):  # another program has TensorFlow running already
        tf.config.threading.set_intra_op_parallelism_threads(1)  # as a worker of a build
    from ingestion.cost.building import alike, cost_of
    from ingestion.run.executors.local import available_cpus
    from ingestion.zoo.prepare import prepare
    from starting_kit_adapter.diagnose.build_report import report

    plan, _ = prepare(order_of(args), Path("zoo"))
    groups, costs = alike(plan), []
    with Progress(len(groups), "networks") as progress:
        for jobs in groups:
            costs.append(cost_of(plan, jobs))
            progress.step(costs[-1].name)
    print(report(plan, costs, args.workers or available_cpus()))
    return 0


def _meter(args: argparse.Namespace) -> tuple[Meter, Machine | None, list[Device]]:
    from ingestion.cost.calibration import gpu_name, measure_machine
    from ingestion.cost.profile import Estimator, stopwatch
    from ingestion.cost.roofline import DEVICES, find_devices

    if not args.enforce:
        devices = find_devices(args.device or ",".join(DEVICES))
        machine = measure_machine()
        return Estimator(machine, devices), machine, devices
    devices = find_devices(args.device) if args.device else []
    found = gpu_name()
    for device in devices:
        if device.name.upper() not in (found or "").upper():
            raise PgdlError(
                f"--enforce --device {device.name} needs {device.title}; TensorFlow finds "
                f"{found or 'no GPU'}: leave out --enforce for an estimate"
            )
    return stopwatch, None, devices


def _models(task: Task, names: str | None, max_models: int | None) -> list[str]:
    chosen = list(task.model_ids)
    if names is not None:
        requested = set(split_names(names))
        chosen = [m for m in chosen if m in requested or m.removeprefix("model_") in requested]
    return chosen[:max_models]
