"""The options of `pgdl run`: from the command line or a file, and as a command line again."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from ingestion.run.budget import COMPETITION_SECONDS, RULES, TimeLimit
from pgdl_measures.errors import PgdlError
from scoring.files import parse_json
from starting_kit_adapter.terminal.custom import add_custom
from starting_kit_adapter.terminal.negation import join_negated
from starting_kit_adapter.terminal.numbers import (
    non_negative_number,
    positive,
    positive_number,
    seed,
    size,
)
from starting_kit_adapter.terminal.selection import add_corpus, add_models, add_tasks

if TYPE_CHECKING:
    from ingestion.run.loop import Executor

DEFAULTS = {
    "time_limit": COMPETITION_SECONDS,
    "time_rule": RULES[0],
    "threads": 1,
    "executor": "local",
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the options. One that is not given is None, because the --config file may give it."""
    add_corpus(parser)
    what = parser.add_argument_group("what to compute")
    what.add_argument(
        "-m",
        "--measures",
        help="names separated by commas, `all` for those that apply, or your own "
        "module:function; -NAME is the negation",
    )
    what.add_argument("-o", "--output", type=Path, help="where results are written")
    add_tasks(what)
    add_models(what)
    what.add_argument("--seed", type=seed, help="random seed of the measures (default: 0)")
    add_set(what)
    add_custom(what)
    what.add_argument(
        "--config",
        type=Path,
        help="a JSON file with these options by their long names, or the run.json of another run",
    )
    add_again_arguments(what)
    limits = parser.add_argument_group("limits")
    add_time_limit(limits)
    limits.add_argument(
        "--time-rule",
        choices=RULES,
        help="what the time limit is for. model: each measure of each model (default). task: the "
        "kit's rule - a measure may take that long times the number of models of the task; after "
        "that it predicts EXCEEDED",
    )
    add_worker_arguments(parser)


def add_set(group: argparse._ActionsContainer) -> None:
    """The options of measures."""
    group.add_argument(
        "--set",
        action="append",
        metavar="OPTION=VALUE",
        help="set an option of the measures that have it; may be repeated",
    )


def add_worker_arguments(parser: argparse.ArgumentParser) -> None:
    """How many processes work, and where; studies have these options, too."""
    group = parser.add_argument_group("where to compute")
    group.add_argument(
        "--workers",
        type=positive,
        help="processes (default: one per GPU, else cores / threads); each holds a task's data",
    )
    group.add_argument(
        "--threads",
        type=positive,
        help="threads of each worker (default: 1, the fastest per core)",
    )
    group.add_argument(
        "--memory-limit",
        type=size,
        metavar="SIZE",
        help="largest memory of each worker, such as 4G or 500M; Linux only",
    )
    group.add_argument(
        "--executor",
        choices=["local", "ray"],
        help="where workers run: on this machine or on a Ray cluster (default: local)",
    )
    group.add_argument(
        "--ray-address",
        help="address of a running cluster, or `auto` (default: start one on this machine)",
    )
    group.add_argument(
        "--ray-cpus",
        type=non_negative_number,
        help="CPUs that a worker reserves in Ray (default: its threads)",
    )
    group.add_argument(
        "--ray-gpus",
        type=non_negative_number,
        help="GPUs that a worker reserves in Ray (default: 0)",
    )


def add_again_arguments(group: argparse._ActionsContainer) -> None:
    """Which recorded results are computed again; the studies have these options, too."""
    group.add_argument(
        "--retry-failed", action="store_true", default=None, help="compute again what failed"
    )
    group.add_argument(
        "--recompute",
        action="store_true",
        default=None,
        help="compute again what was computed with other options, threads or code",
    )


def add_time_limit(group: argparse._ActionsContainer) -> None:
    """How long a step may take; the studies have this option, too."""
    group.add_argument(
        "--time-limit",
        type=positive_number,
        metavar="SECONDS",
        help="stop a measure of a model, or loading the model, after this time (default: 300)",
    )


def make_limits(given: Mapping[str, Any]) -> TimeLimit:
    """The limits of these options; those that are missing or None have their defaults."""
    settings = _with_defaults(given)
    return TimeLimit(settings["time_limit"], settings["time_rule"])


def make_executor(given: Mapping[str, Any]) -> Executor:
    """The executor of the options of `add_worker_arguments`; missing ones have their defaults."""
    from ingestion.run.executors.local import LocalExecutor
    from ingestion.run.executors.process import WorkerSettings

    settings = _with_defaults(given)
    worker = WorkerSettings(settings["threads"], settings.get("memory_limit"))
    if settings["executor"] == "local":
        return LocalExecutor(worker, settings.get("workers"))
    from ingestion.run.executors.ray_cluster import RayExecutor

    return RayExecutor(
        worker,
        settings.get("workers"),
        address=settings.get("ray_address"),
        cpus=settings.get("ray_cpus"),
        gpus=settings.get("ray_gpus", 0.0),
    )


def run_arguments(given: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments of `ingestion.evaluate` that follow from all of these options."""
    return {
        "limits": make_limits(given),
        "executor": make_executor(given),
        "retry_failed": bool(given.get("retry_failed")),
        "recompute": bool(given.get("recompute")),
        "custom": given.get("custom") or (),
    }


def _with_defaults(given: Mapping[str, Any]) -> dict[str, Any]:
    return {**DEFAULTS, **{name: value for name, value in given.items() if value is not None}}


def read_settings(args: argparse.Namespace) -> dict[str, Any]:
    """The options of the command line and of the file; the command line wins."""
    typed_settings = _given(args)
    path = typed_settings.pop("config", None)
    if path is None:
        return typed_settings
    try:
        content = parse_json(path.read_bytes())
    except (OSError, ValueError) as error:
        raise PgdlError(f"cannot read {path}: {error}") from error
    settings = content.get("settings", content) if isinstance(content, dict) else None
    if not isinstance(settings, dict):
        raise PgdlError(f"{path} is not a JSON object of options")
    parser = _FileParser(path)
    add_arguments(parser)
    arguments = join_negated(typed(settings))
    return {**_given(parser.parse_args([str(args.corpus), *arguments])), **typed_settings}


def _given(args: argparse.Namespace) -> dict[str, Any]:
    not_options = ("corpus", "run", "verb")
    return {k: v for k, v in vars(args).items() if v is not None and k not in not_options}


class _FileParser(argparse.ArgumentParser):
    """Reads the options of a file; errors name the file."""

    def __init__(self, path: Path) -> None:
        super().__init__(add_help=False, allow_abbrev=False)
        self._path = path

    def error(self, message: str) -> NoReturn:
        raise PgdlError(f"{self._path}: {message}")


def typed(settings: Mapping[str, Any]) -> list[str]:
    """Settings as words of a command line."""
    arguments = []
    for name, value in settings.items():
        option = f"--{name.replace('_', '-')}"
        if value is True:
            arguments.append(option)
        elif isinstance(value, dict):
            arguments += [part for k, v in value.items() for part in (option, f"{k}={v}")]
        elif isinstance(value, list) and name == "set":
            arguments += [part for item in value for part in (option, str(item))]
        elif isinstance(value, list):
            arguments += [option, ",".join(map(str, value))]
        elif value is not False:
            arguments += [option, str(value)]
    return arguments


def plain(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Settings as JSON can hold them."""
    return {k: str(v) if isinstance(v, Path) else v for k, v in settings.items()}


def parse_options(texts: Sequence[str] | None) -> dict[str, Any]:
    """The options that `--set` was given."""
    return dict(map(parse_option, texts or ()))


def parse_option(text: str) -> tuple[str, Any]:
    """`name=value`, the value in JSON or a word; `max_bytes` may have a unit."""
    name, equals, value = text.partition("=")
    if not equals:
        raise PgdlError(f"--set {text}: expected OPTION=VALUE")
    if name == "max_bytes":
        try:
            return name, size(value)
        except argparse.ArgumentTypeError as error:
            raise PgdlError(f"--set {text}: {error}") from error
    try:
        return name, parse_json(value)
    except ValueError:
        return name, value  # a word
