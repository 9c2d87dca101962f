"""`pgdl zoo`: trains networks into a corpus in the competition's layout, or adds them to one."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING, Any

from starting_kit_adapter.terminal import zoo_suite
from starting_kit_adapter.terminal.custom import add_custom
from starting_kit_adapter.terminal.failures import warn
from starting_kit_adapter.terminal.numbers import positive
from starting_kit_adapter.terminal.selection import add_model
from starting_kit_adapter.terminal.stopping import tell_stopped
from starting_kit_adapter.terminal.subcommands import add_parser
from starting_kit_adapter.terminal.text import Progress, table
from starting_kit_adapter.terminal.zoo_options import (
    add_data_arguments,
    add_grid_arguments,
    order_of,
)

if TYPE_CHECKING:
    from ingestion.datasets.arrays import Data

HELP = "Train a grid of networks into a corpus, or add a trained network to one"
EXAMPLES = """\
examples:
  pgdl zoo presets                                             the papers' grids, and small ones
  pgdl zoo build --data digits --grid digits -o zoo/           36 small networks in a minute
  pgdl zoo build --data npz:fashion.npz --grid fashion -o zoo/
  pgdl zoo build --data tfds:cifar10 --grid schiff-resnet --size small --augment rotation -o zoo/
  pgdl zoo build --data tfds:cifar10 --data tfds:svhn_cropped --grid dziugaite-nin -o zoo/
  pgdl zoo build --data tfds:oxford_iiit_pet --image-size 32 --grid my_grid.json -o zoo/
  pgdl zoo build --data npz:fashion.npz --grid fashion --protocol rescaled --eps 2 -o rescaled/
  pgdl zoo suite mini -o corpus/ --data-dir data/              eight tasks like the competition's
  pgdl zoo add zoo/ mine.keras --data npz:mine.npz --hparam width=32 --hparam dropout=0.5
  pgdl zoo add zoo/ vit.keras --custom my_layers       layers that my_layers.py defines

`add` takes Sequential and functional models of any Keras layers. Without x_test and y_test in the
.npz file the task has no test accuracy: its models can be measured, but no gap is known.

The same command continues an interrupted build. The exit code is 1 if a model could not be
trained. `pgdl limits --grid` estimates how long a build takes.
"""
_GRID = """\
a grid file:
  {
    "architecture": "vgg",                                  a name below, or module:function
    "hparams": {"width": [16, 32], "dropout": [0.0, 0.5]},  every combination is trained
    "fixed": {"blocks": 3, "learning_rate": 0.001},         the same for all
    "target": {"accuracy": 0.995, "loss": 0.05},            training ends when these are met
    "max_epochs": 200,
    "train_examples": 2000,                                 how much of the data is used
    "validation": 0.05,                                     share of it that is held out
    "repeats": 1                                            networks per cell
  }
architectures and their hyperparameters:
  vgg           width, blocks, dense_layers, dense_units, dropout, batch_norm
  nin           width, depth, dropout, dense, batch_norm
  conv          parameters, depth, reversed, batch_norm
  strided_nin   width, depth
  vggnet        depth, batch_norm, width_scale               vgg11 … vgg19, vgg11_bn … vgg19_bn
  resnet        depth, width, batch_norm, width_scale        resnet18, 34, 50, 101
  wide_resnet   depth, factor, dropout, width_scale          wide_resnet_28_10, _26_10, _16_8
  resnext       depth, groups, group_width, width_scale      resnext29_32x4d, 29_8x64d, 50_32x4d
  densenet      depth, growth, width_scale                   densenet121, 169, densenet_bc_100_12
  mobilenet     version, width_scale                         mobilenet_v2
  mnasnet       width_scale
  shufflenet_v2 width_scale
  module:f      those of your f(input_shape, classes, ...), which returns a Keras model that ends
                in logits; or one of Keras: keras.applications:MobileNetV2
hyperparameters of training:
  learning_rate, batch_size, weight_decay
  optimizer     adam, or sgd with momentum
  schedule      constant; steps, times decay_factor at each of the milestones (shares of
                max_epochs); or plateau, times decay_factor after patience epochs without progress
  augmentation  none, crop_flip, randaugment, autoaugment, or PERTURBATION:partial|full
in "hparams" also: architecture, data (a list of sources), train_examples
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    verbs = parser.add_subparsers(dest="zoo_verb", metavar="build|suite|add|presets", required=True)
    build = add_parser(verbs, "build", "train every network of a grid", epilog=_GRID)
    add_grid_arguments(build)
    build.add_argument("-o", "--output", type=Path, required=True, help="the folder of the zoo")
    build.add_argument("--task", help="name of the task (default: the grid's name)")
    build.add_argument("--workers", type=positive, help="processes (default: cores / threads)")
    build.add_argument(
        "--threads",
        type=positive,
        default=1,
        help="threads of each process (default: 1); the last bits of the weights depend on it",
    )
    build.set_defaults(zoo_run=_build)

    suite = add_parser(verbs, "suite", "train several tasks into one corpus")
    zoo_suite.add_arguments(suite)
    suite.set_defaults(zoo_run=zoo_suite.run)

    presets = add_parser(verbs, "presets", "list the grids that come with the project")
    presets.add_argument(
        "name", nargs="?", help="show the grid of this one and where it comes from"
    )
    presets.set_defaults(zoo_run=_presets)

    add = add_parser(verbs, "add", "put a trained Keras model into a zoo")
    add.add_argument(
        "output", metavar="DIR", type=Path, help="the folder of the zoo; made if it does not exist"
    )
    add_model(add)
    add.add_argument("--data", help="digits, npz:FILE or tfds:NAME (default: the task's own)")
    add.add_argument("--task", help="name of the task (default: the only one, or the data's name)")
    add_data_arguments(add)
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
    from ingestion.run.executors.local import available_cpus
    from ingestion.zoo.build import build
    from ingestion.zoo.layout import Zoo
    from ingestion.zoo.prepare import prepare
    from starting_kit_adapter.terminal.zoo_summary import summary

    plan, notes = prepare(order_of(args), args.output)
    for note in notes:
        print(f"note: {note}", file=sys.stderr)
    workers = args.workers or max(1, available_cpus() // args.threads)
    try:
        failed = build(args.output, plan, workers, Progress)
    except KeyboardInterrupt as error:
        return tell_stopped(error)
    print(summary(Zoo(args.output).records(plan.task)))
    for outcome in failed:
        print(f"model_{outcome.job.model} failed: {outcome.problem}", file=sys.stderr)
    return 1 if failed else 0


def _presets(args: argparse.Namespace) -> int:
    from ingestion.zoo.presets import PRESETS, SIZES, find_grid
    from pgdl_measures.errors import UnknownNameError

    if args.name is None:
        rows = []
        for name, preset in PRESETS.items():
            sizes = [find_grid(name, size)[1] for size in SIZES]
            rows.append([name, *(len(g.cells()) * g.repeats for g in sizes), preset.rebuilds])
        print(table(["preset", "full", "small", "rebuilds"], rows))
        print("\nfull, small: models, for one data set and one level of augmentation")
        return 0
    if args.name not in PRESETS:
        raise UnknownNameError("preset", args.name, PRESETS)
    preset = PRESETS[args.name]
    print(f"{args.name}: {preset.rebuilds}\n")
    for title, text in (
        ("published", preset.published),
        ("ours", preset.ours),
        ("--size small", preset.scaled),
    ):
        print(fill(f"{title}: {text}", 100, subsequent_indent="  "))
    for size in SIZES if preset.small else SIZES[:1]:
        print(f"\n--size {size}:\n{json.dumps(preset.entry(size), indent=1)}")
    return 0


def _add(args: argparse.Namespace) -> int:
    from ingestion.datasets.scale import WORDS
    from ingestion.datasets.sources import source_name
    from ingestion.zoo.add import add
    from ingestion.zoo.layout import Zoo

    data = _data(args) if args.data else None
    task = args.task or _only_task(args.output) or source_name(args.data or "zoo")
    number = add(
        args.output,
        task,
        args.model,
        data,
        dict(args.hparam),
        args.custom or (),
        args.scale,
        warn,
    )
    zoo = Zoo(args.output)
    metrics, scale = zoo.records(task)[number]["metrics"], zoo.tasks()[task].get("scale")
    print(
        f"{args.model} is model_{number} of task {task}: "
        + ", ".join(f"{name} {value:.4f}" for name, value in metrics.items())
        + (f" ({WORDS[scale]})" if scale else "")
    )
    if "test_acc" not in metrics:
        print("the data has no test part: measures can be run, but not scored against the gap")
    return 0


def _data(args: argparse.Namespace) -> Data:
    """The data of a model that is added; its bytes are scaled when the model is known."""
    from ingestion.datasets.sources import load_source

    data = load_source(args.data, args.image_size, scale="none", need_test=False, images_only=False)
    return data.limited(args.train_examples, args.test_examples)


def _only_task(root: Path) -> str | None:
    """The only task of a zoo, which is the default."""
    from ingestion.zoo.layout import Zoo

    tasks = list(Zoo(root).tasks())
    return tasks[0] if len(tasks) == 1 else None


def _assignment(text: str) -> tuple[str, Any]:
    """`name=value`; a value that looks like a number or a truth value becomes one."""
    name, equals, value = text.partition("=")
    if not name or not equals:
        raise argparse.ArgumentTypeError(f"expected NAME=VALUE, found {text!r}")
    try:
        from scoring.files import parse_json

        parsed = parse_json(value.lower() if value in ("True", "False") else value)
    except ValueError:
        parsed = value
    return name, parsed if isinstance(parsed, (int, float, str)) else value
