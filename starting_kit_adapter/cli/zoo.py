"""`pgdl zoo`: a corpus of one's own, in the competition's layout."""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from starting_kit_adapter.terminal.custom import add_custom
from starting_kit_adapter.terminal.numbers import positive, positive_number, seed
from starting_kit_adapter.terminal.stopping import tell_stopped
from starting_kit_adapter.terminal.text import Progress

if TYPE_CHECKING:
    from ingestion.arrays import Data
    from ingestion.zoo.grid import Grid

HELP = "Train a grid of networks into a corpus, or add a network that is already trained"
EXAMPLES = """\
examples:
  pgdl zoo build --data digits --grid digits -o zoo/           36 small networks in a minute
  pgdl zoo build --data npz:fashion.npz --grid fashion -o zoo/
  pgdl zoo build --data tfds:cifar10 --grid task1 --width-scale 0.125 -o zoo/
  pgdl zoo build --data tfds:oxford_iiit_pet --image-size 32 --grid my_grid.json -o zoo/
  pgdl zoo build --data npz:fashion.npz --grid invariance --augment rotation -o zoo/
  pgdl zoo build --data npz:fashion.npz --grid invariance_resnet --augment noise:none,full -o zoo/
  pgdl zoo build --data npz:fashion.npz --grid fashion --protocol rescaled --eps 2 -o rescaled/
  pgdl zoo add zoo/ mine.keras --data npz:mine.npz --hparam width=32 --hparam dropout=0.5

The same command continues an interrupted build. The exit code is 1 if a model could not be
trained.
"""
_GRID = """\
a grid file:
  {
    "architecture": "vgg",                                  vgg, nin, conv or resnet
    "hparams": {"width": [16, 32], "dropout": [0.0, 0.5]},  every combination is trained
    "fixed": {"blocks": 3, "learning_rate": 0.001},         the same for all
    "target": {"accuracy": 0.995, "loss": 0.05},            training ends when these are met
    "max_epochs": 200,
    "train_examples": 2000                                  how much of the data is used
  }
hyperparameters: learning_rate, batch_size, weight_decay, and of
  vgg     width, blocks, dense_layers, dense_units, dropout, batch_norm
  nin     width, depth, dropout, dense
  conv    parameters, depth, reversed, batch_norm
  resnet  width, depth, batch_norm
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    verbs = parser.add_subparsers(dest="zoo_verb", metavar="build|add", required=True)
    build = verbs.add_parser(
        "build",
        help="train every network of a grid",
        epilog=_GRID,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    build.add_argument("--data", required=True, help="digits, npz:FILE or tfds:NAME")
    build.add_argument(
        "--grid",
        required=True,
        help="digits, fashion, invariance[_resnet], task1 … task9, or a JSON file (see below)",
    )
    build.add_argument("-o", "--output", type=Path, required=True, help="the folder of the zoo")
    build.add_argument("--task", help="name of the task (default: the grid's name)")
    _add_data_arguments(build)
    build.add_argument(
        "--width-scale", type=positive_number, help="multiply the networks' widths by this"
    )
    build.add_argument(
        "--target-accuracy", type=positive_number, help="training accuracy that ends training"
    )
    build.add_argument("--target-loss", type=positive_number, help="training loss that ends it")
    build.add_argument("--max-epochs", type=positive, help="stop training after so many epochs")
    images = build.add_mutually_exclusive_group()
    images.add_argument(
        "--protocol",
        choices=("rescaled",),
        help="rescaled: random windows of upsampled images, for `pgdl overfit` "
        "(Werpachowski et al. 2019, Section 5.3)",
    )
    images.add_argument(
        "--augment",
        metavar="PERTURBATION[:LEVELS]",
        help="train each network with none, partial (half the range) and full augmentation, or the "
        "levels named; test under the full range. The task is named as the perturbation is",
    )
    build.add_argument(
        "--eps",
        type=positive,
        help="of --protocol rescaled: windows move 3 eps pixels (default 2)",
    )
    build.add_argument("--repeats", type=positive, default=1, help="networks per cell (default 1)")
    build.add_argument("--seed", type=seed, default=0, help="seed of the whole zoo (default 0)")
    build.add_argument(
        "--workers", type=positive, help="processes (default: as many as the cores allow)"
    )
    build.add_argument(
        "--threads",
        type=positive,
        default=1,
        help="threads of each process (default 1); the number changes the last bits of the weights",
    )
    build.set_defaults(zoo_run=_build)

    add = verbs.add_parser("add", help="put a trained Keras model into a zoo")
    add.add_argument("output", metavar="DIR", type=Path, help="the folder of the zoo, old or new")
    add.add_argument(
        "model",
        metavar="MODEL",
        type=Path,
        help="a .keras or .h5 file, a SavedModel, or model_<id>/",
    )
    add.add_argument("--data", help="digits, npz:FILE or tfds:NAME (default: the task's own)")
    add.add_argument("--task", help="name of the task (default: the only one, or the data's name)")
    _add_data_arguments(add)
    add.add_argument(
        "--hparam",
        metavar="NAME=VALUE",
        action="append",
        default=[],
        type=_assignment,
        help="a hyperparameter of the model; give all that the zoo's models have",
    )
    add_custom(add)
    add.set_defaults(zoo_run=_add)


def run(args: argparse.Namespace) -> int:
    from ingestion.quiet import import_tensorflow

    import_tensorflow()
    return args.zoo_run(args)


def _build(args: argparse.Namespace) -> int:
    from ingestion.errors import ZooError
    from ingestion.run.executors.local import available_cpus
    from ingestion.zoo.augment import CROPS, parse_augment, with_perturbed_test
    from ingestion.zoo.build import Plan, build
    from ingestion.zoo.layout import Zoo
    from ingestion.zoo.presets import find_grid
    from ingestion.zoo.rescaled import rescaled
    from starting_kit_adapter.terminal.zoo_summary import summary

    if args.eps is not None and args.protocol != "rescaled":
        raise ZooError("--eps is of --protocol rescaled, which is not given")
    name, grid = find_grid(args.grid)
    grid = _with_options(grid, args)
    data = _data(args, grid.train_examples, grid.test_examples)
    augment = parse_augment(args.augment) if args.augment else None
    if augment is not None:
        data = with_perturbed_test(data, augment.perturbation, args.seed)
    task = args.task or (augment.name if augment else _only_task(args.output)) or name
    eps = None
    if args.protocol == "rescaled":
        eps = args.eps or 2
        data, augment = rescaled(data, eps=eps), CROPS
    plan = Plan(task, args.data, data, grid, args.seed, args.repeats, args.threads, augment, eps)
    if not plan.can_be_scored:
        print(
            "warning: with one network for each pair of values no score is defined; vary a third "
            "hyperparameter, or train several networks per cell (--repeats 2)",
            file=sys.stderr,
        )
    workers = args.workers or max(1, available_cpus() // args.threads)
    try:
        failed = build(args.output, plan, workers, Progress)
    except KeyboardInterrupt as error:
        return tell_stopped(error)
    print(summary(Zoo(args.output).records(task)))
    for outcome in failed:
        print(f"model_{outcome.job.model} failed: {outcome.problem}", file=sys.stderr)
    return 1 if failed else 0


def _add(args: argparse.Namespace) -> int:
    from ingestion.sources import source_name
    from ingestion.zoo.add import add
    from ingestion.zoo.layout import Zoo

    data = _data(args, None, None) if args.data else None
    task = args.task or _only_task(args.output) or source_name(args.data or "zoo")
    number = add(args.output, task, args.model, data, dict(args.hparam), args.custom or ())
    metrics = Zoo(args.output).records(task)[number]["metrics"]
    print(
        f"{args.model} is model_{number} of task {task}: train_acc {metrics['train_acc']:.4f}, "
        f"test_acc {metrics['test_acc']:.4f}"
    )
    return 0


def _with_options(grid: Grid, args: argparse.Namespace) -> Grid:
    from ingestion.zoo.grid import parse_grid

    if args.width_scale is not None:
        grid = grid.scaled(args.width_scale)
    asked = {"accuracy": args.target_accuracy, "loss": args.target_loss}
    target = {name: value for name, value in asked.items() if value is not None}
    grid = replace(
        grid,
        target=target or grid.target,
        max_epochs=args.max_epochs or grid.max_epochs,
        train_examples=args.train_examples or grid.train_examples,
        test_examples=args.test_examples or grid.test_examples,
    )
    return parse_grid(vars(grid), f"grid {args.grid}")


def _data(args: argparse.Namespace, train: int | None, test: int | None) -> Data:
    from ingestion.sources import load_source

    data = load_source(args.data, args.image_size)
    return data.limited(args.train_examples or train, args.test_examples or test)


def _only_task(root: Path) -> str | None:
    """The only task of a zoo, which is the default."""
    from ingestion.zoo.layout import Zoo

    tasks = list(Zoo(root).tasks())
    return tasks[0] if len(tasks) == 1 else None


def _add_data_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--train-examples", type=positive, help="use that many training examples")
    parser.add_argument("--test-examples", type=positive, help="use that many test examples")
    parser.add_argument("--image-size", type=positive, help="make images of tfds data N x N")


def _assignment(text: str) -> tuple[str, Any]:
    """`name=value`; a value that looks like a number or a truth value becomes one."""
    name, equals, value = text.partition("=")
    if not name or not equals:
        raise argparse.ArgumentTypeError(f"expected NAME=VALUE, found {text!r}")
    try:
        parsed = json.loads(value.lower() if value in ("True", "False") else value)
    except json.JSONDecodeError:
        parsed = value
    return name, parsed if isinstance(parsed, (int, float, str)) else value
