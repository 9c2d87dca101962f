"""The options that say which zoo is built, for `pgdl zoo build` and `pgdl limits --grid`."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from starting_kit_adapter.terminal.numbers import positive, positive_number, seed
from starting_kit_adapter.terminal.scale_option import add_scale

if TYPE_CHECKING:
    from ingestion.zoo.prepare import Order


def add_grid_arguments(parser: argparse._ActionsContainer, required: bool = True) -> None:
    """The grid, its data, and changes to both."""
    parser.add_argument(
        "--grid", required=required, help="a preset (see `pgdl zoo presets`) or a JSON file"
    )
    parser.add_argument(
        "--size",
        choices=("full", "small"),
        default="full",
        help="size of a preset: full, as published (default), or small, for two cores; "
        "`--scale small` is the same",
    )
    parser.add_argument(
        "--data",
        action="append",
        default=[],
        metavar="[NAME=]SOURCE",
        help="digits, npz:FILE or tfds:NAME; given several times, the data is a hyperparameter",
    )
    add_data_arguments(parser, scales=("full", "small"))
    parser.add_argument(
        "--width-scale", type=positive_number, help="multiply the networks' widths by this"
    )
    parser.add_argument(
        "--target-accuracy", type=positive_number, help="end training at this training accuracy"
    )
    parser.add_argument(
        "--target-loss", type=positive_number, help="end training at this training loss"
    )
    parser.add_argument("--max-epochs", type=positive, help="end training after this many epochs")
    images = parser.add_mutually_exclusive_group()
    images.add_argument(
        "--protocol",
        choices=("rescaled",),
        help="rescaled: train on random windows of upsampled images, for `pgdl overfit` "
        "(Werpachowski et al. 2019, Section 5.3)",
    )
    images.add_argument(
        "--augment",
        metavar="PERTURBATION[:LEVELS]",
        help="train each network without augmentation (none), with half of the perturbation's "
        "range (partial) and all of it (full), or at the LEVELS named; test under all of it. "
        "The task is named after the perturbation, or DATA_PRESET_PERTURBATION",
    )
    parser.add_argument(
        "--eps",
        type=positive,
        help="with --protocol rescaled: windows are shifted by up to 3 eps pixels (default: 2)",
    )
    parser.add_argument(
        "--repeats",
        type=positive,
        help="networks per combination of hyperparameters (default: the grid's, or 1)",
    )
    parser.add_argument(
        "--seed", type=seed, default=0, help="random seed of the whole zoo (default: 0)"
    )


def add_data_arguments(parser: argparse._ActionsContainer, scales: tuple[str, ...] = ()) -> None:
    """How much of the data is used, and in which form; `scales` are more values of --scale."""
    parser.add_argument("--train-examples", type=positive, help="use that many training examples")
    parser.add_argument("--test-examples", type=positive, help="use that many test examples")
    parser.add_argument("--image-size", type=positive, help="resize images to N x N")
    add_scale(parser, "; 0 to 1 where networks are trained", scales)


def order_of(args: argparse.Namespace) -> Order:
    """What the options ask for."""
    from ingestion.errors import ZooError
    from ingestion.zoo.prepare import Order

    if args.eps is not None and args.protocol != "rescaled":
        raise ZooError("--eps belongs to --protocol rescaled; give both, or neither")
    target = {"accuracy": args.target_accuracy, "loss": args.target_loss}
    return Order(
        grid=args.grid,
        data=args.data,
        size=args.scale if args.scale in ("full", "small") else args.size,
        task=getattr(args, "task", None),
        width_scale=args.width_scale,
        target={name: value for name, value in target.items() if value is not None},
        max_epochs=args.max_epochs,
        train_examples=args.train_examples,
        test_examples=args.test_examples,
        repeats=args.repeats,
        image_size=args.image_size,
        scale="none" if args.scale == "none" else "unit",
        augment=args.augment,
        eps=(args.eps or 2) if args.protocol == "rescaled" else None,
        seed=args.seed,
        threads=getattr(args, "threads", 1),
    )
