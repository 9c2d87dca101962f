"""`pgdl limits`: do measures keep the competition's time on its devices?"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from pgdl_measures.errors import PgdlError
from starting_kit_adapter.cli.numbers import positive, positive_number
from starting_kit_adapter.cli.run_options import parse_option
from starting_kit_adapter.cli.text import Progress

if TYPE_CHECKING:
    from ingestion.corpus import Task
    from starting_kit_adapter.limits.calibration import Machine
    from starting_kit_adapter.limits.profile import Meter
    from starting_kit_adapter.limits.roofline import Device

HELP = "Estimate or check the time of measures on the competition's devices"
EXAMPLES = """\
examples:
  pgdl limits zoo/ -m gi_intra_l0,mixup                  estimates for a K80 and a V100
  pgdl limits corpus/ -m gi_intra_l0 --limit 3 --device k80 --details
  pgdl limits corpus/ -m gi_intra_l0 --enforce           the time it really takes, here
  pgdl limits corpus/ -m gi_intra_l0 --enforce --device v100   and only if this is a V100

A model may take 300 s for a measure. Without --enforce that is estimated from what the measure does
here; the footnote says how. The exit code is 1 if a model does not fit or cannot be measured.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("corpus", type=Path, help="the folder that holds the tasks, or one task")
    parser.add_argument(
        "-m",
        "--measures",
        required=True,
        help="names separated by commas, `all`, or your own module:function",
    )
    parser.add_argument("--tasks", help="only these, separated by commas")
    parser.add_argument("--models", help="only these, separated by commas")
    parser.add_argument("--limit", type=positive, help="only so many models of each task")
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="OPTION=VALUE",
        help="an option of the measures that have it; may be repeated",
    )
    parser.add_argument(
        "--device",
        help="k80, v100, separated by commas (default: both; with --enforce: whatever is here)",
    )
    parser.add_argument(
        "--time-limit", type=positive_number, metavar="SECONDS", help="of each model (default: 300)"
    )
    parser.add_argument(
        "--enforce", action="store_true", help="check the real time on this device, no estimate"
    )
    parser.add_argument("--details", action="store_true", help="show every model")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all numbers here")


def run(args: argparse.Namespace) -> int:
    import json

    from ingestion.budget import COMPETITION_SECONDS
    from ingestion.chosen import choose_measures
    from ingestion.corpus import find_corpus
    from scoring.files import write_whole
    from starting_kit_adapter.cli.quiet import import_tensorflow

    tasks = find_corpus(args.corpus).select(args.tasks)
    selected = {task: _models(task, args.models, args.limit) for task in tasks}
    if not any(selected.values()):
        raise PgdlError(f"no model is named {args.models} in {args.corpus}")
    import_tensorflow()
    from starting_kit_adapter.limits import report
    from starting_kit_adapter.limits.profile import profile_task

    measures = choose_measures(
        [name.strip() for name in args.measures.split(",")], dict(map(parse_option, args.set))
    )
    meter, machine, devices = _meter(args)
    limit = args.time_limit or COMPETITION_SECONDS
    with Progress(sum(map(len, selected.values())), "models") as progress:
        costs = [
            cost
            for task, models in selected.items()
            if models
            for cost in profile_task(task, models, measures, meter, progress.step)
        ]
    print(report.summary(costs, limit))
    if args.details:
        print("\n" + report.details(costs, limit))
    for cost in costs:
        if cost.problem:
            print(f"problem: {cost.task} {cost.model} {cost.measure}: {cost.problem}")
    print(report.verdict(costs, limit))
    if machine is not None:
        print("\n" + report.assumptions(machine, devices))
    if args.json is not None:
        content = report.to_json(costs, limit, machine, devices)
        write_whole(args.json, json.dumps(content, indent=1) + "\n")
    return 0 if report.fits(costs, limit) else 1


def _meter(args: argparse.Namespace) -> tuple[Meter, Machine | None, list[Device]]:
    from starting_kit_adapter.limits.calibration import gpu_name, measure_machine
    from starting_kit_adapter.limits.profile import Estimator, stopwatch
    from starting_kit_adapter.limits.roofline import DEVICES, find_devices

    if not args.enforce:
        devices = find_devices(args.device or ",".join(DEVICES))
        machine = measure_machine()
        return Estimator(machine, devices), machine, devices
    devices = find_devices(args.device) if args.device else []
    found = gpu_name()
    for device in devices:
        if device.name.upper() not in (found or "").upper():
            raise PgdlError(
                f"--enforce needs {device.title}; TensorFlow finds {found or 'no GPU'} here"
            )
    return stopwatch, None, devices


def _models(task: Task, names: str | None, limit: int | None) -> list[str]:
    known = list(task.model_ids)
    if names is not None:
        wanted = {name.strip() for name in names.split(",")}
        known = [m for m in known if m in wanted or m.removeprefix("model_") in wanted]
    return known[:limit]
