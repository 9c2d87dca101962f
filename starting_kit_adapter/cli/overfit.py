"""`pgdl overfit`: is a model, or an architecture, overfitted to a test set?"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from starting_kit_adapter.cli.text import Progress

if TYPE_CHECKING:
    from starting_kit_adapter.overfit.report import Report

HELP = "Is a model (or are N training runs of it) overfitted to a test set?"
EXAMPLES = """\
examples:
  pgdl overfit mine.keras --data npz:mine.npz
  pgdl overfit zoo/input_data/fashion/model_3 --data npz:fashion.npz --split both -o out/
  pgdl overfit --models zoo/input_data/fashion --data npz:fashion.npz -o out/     N runs together
  pgdl overfit mine.keras --data tfds:cifar10 --room circular --eps 3

Tests the hypothesis that the model is independent of the images, by the adversarial risk estimate
of paper 002: no new data is needed. Images are shifted by up to eps pixels. They must have 6 eps
pixels more than the model takes, each way; where they have the model's size they are upsampled (as
in the paper; train on such images with `pgdl zoo build --protocol rescaled`) or shifted circularly.
Images that were centred automatically break the test's assumption, except for models that were
trained on shifted ones.

With -o: overfit.json with every number, and the paper's Figures 8 to 10 as SVG and PNG.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "model", metavar="MODEL", type=Path, nargs="?", help="a .keras or .h5 file, or model_<id>/"
    )
    parser.add_argument("--data", required=True, help="digits, npz:FILE or tfds:NAME")
    parser.add_argument(
        "--models", metavar="DIR", type=Path, help="training runs of one architecture: test all"
    )
    parser.add_argument(
        "--split",
        choices=("test", "train", "both"),
        default="test",
        help="which images (default: test); the training set is a control",
    )
    parser.add_argument("--train-examples", type=_positive, help="use that many training images")
    parser.add_argument("--test-examples", type=_positive, help="use that many test images")
    parser.add_argument("--eps", type=_positive, default=2, help="largest shift (default: 2)")
    parser.add_argument(
        "--room",
        choices=("upsample", "circular"),
        default="upsample",
        help="how images without spare pixels are shifted (default: upsample)",
    )
    parser.add_argument("--seed", type=int, default=0, help="of the random generators (default: 0)")
    parser.add_argument("-o", "--output", metavar="DIR", type=Path, help="where results go")


def run(args: argparse.Namespace) -> int:
    """Examines, prints and writes."""
    from starting_kit_adapter.cli.quiet import import_tensorflow

    import_tensorflow()
    from starting_kit_adapter.overfit.models import (
        check_one_architecture,
        find_models,
        read_model,
    )
    from starting_kit_adapter.overfit.report import examine_models
    from starting_kit_adapter.overfit.words import describe
    from starting_kit_adapter.zoo.sources import load_source

    paths = find_models(args.model, args.models)
    check_one_architecture({name: read_model(path)[0] for name, path in paths.items()})
    data = load_source(args.data).limited(args.train_examples, args.test_examples)
    splits = ("test", "train") if args.split == "both" else (args.split,)
    readers = {name: lambda path=path: read_model(path)[1] for name, path in paths.items()}
    reports = {}
    with Progress(len(splits) * len(paths), "models") as progress:
        for split in splits:
            reports[split] = examine_models(
                readers,
                getattr(data, split),
                eps=args.eps,
                room=args.room,
                seed=args.seed,
                step=progress.step,
            )
    print("\n\n".join(describe(report, split) for split, report in reports.items()))
    if args.output is not None:
        settings = {key: getattr(args, key) for key in ("data", "eps", "room", "seed")}
        _write(args.output, settings, reports)
    return 0


def _write(folder: Path, settings: dict[str, Any], reports: dict[str, Report]) -> None:
    from scoring.files import write_whole
    from starting_kit_adapter.overfit import plots
    from starting_kit_adapter.overfit.figures import save

    content = {**settings, "sets": {split: r.to_json() for split, r in reports.items()}}
    write_whole(folder / "overfit.json", json.dumps(content, indent=1) + "\n")
    for split, report in reports.items():
        save(plots.figure8(report), folder / f"figure8_{split}")
    if all(len(report.examinations) > 1 for report in reports.values()):
        save(plots.figure9(reports), folder / "figure9")
        save(plots.figure10(reports), folder / "figure10")
    print(f"\nwrote {folder}")


def _positive(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"expected a positive integer, found {text!r}")
    return int(text)
