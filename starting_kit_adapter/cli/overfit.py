"""`pgdl overfit`: is a model, or an architecture, overfitted to a test set?"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from starting_kit_adapter.terminal.custom import add_custom
from starting_kit_adapter.terminal.numbers import positive, seed
from starting_kit_adapter.terminal.scale_option import add_scale
from starting_kit_adapter.terminal.selection import add_model
from starting_kit_adapter.terminal.text import Progress

if TYPE_CHECKING:
    from starting_kit_adapter.diagnose.overfit.report import Report

HELP = "Test whether a model, or N training runs of one architecture, is overfitted to a test set"
EXAMPLES = """\
examples:
  pgdl overfit --control                       what a detection looks like, in seconds
  pgdl overfit mine.keras --data npz:mine.npz
  pgdl overfit mine.keras --data npz:mine.npz --split both -o out/
  pgdl overfit mine.keras --data tfds:cifar10 --data tfds:cifar10_1      a new test set beside it
  pgdl overfit vgg.keras --data tfds:imagenette --image-size 256 --resize short-side --eps 5

N training runs of one architecture tested together, and a control on training images that no run
has seen. one_cell.json is a grid with one value per hyperparameter (see `pgdl zoo build -h`):
  pgdl zoo build --data npz:fashion.npz --grid one_cell.json --repeats 9 --protocol rescaled -o zoo/
  pgdl overfit --models zoo/input_data/one_cell --data npz:fashion.npz --split both -o out/
  pgdl overfit --models zoo/input_data/one_cell --data npz:fashion.npz --split unseen

Tests the hypothesis that the model is independent of the images, by the test of Werpachowski et al.
2019: the error on the images is compared with an estimate of it from adversarially shifted images.
No new data is needed. Images are shifted by up to eps pixels. Their height and width must be 6 eps
pixels larger than the model's input. Images of the size of the input are upsampled first, as in
that paper (train on such images with `pgdl zoo build --protocol rescaled`), or shifted circularly.
The test assumes that a shifted image is as likely as the image. If all objects are centred this is
false, and the test rejects without overfitting. Images that the model has not seen show which it
is: the test set, if the training set was tested (--split both), or a second --data of new images,
if the test set was tested. Without them the answer to a rejection is "undecided".

For models of a zoo (ZOO/input_data/TASK/model_<id>) the training and test sets are those of the
zoo; --train-examples and --test-examples change that.

A generator chooses the shifted copy of each image: strongest, the wrongly classified one of largest
loss; nearest, the closest wrongly classified one; random, any. The verdict is that of "strongest".
"uncapped p" is the bound before it is cut at 1: it also orders models that are not rejected.

With -o: overfit.json with every number, and Figures 8 to 11 of the paper as SVG and PNG.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_model(parser, required=False)
    parser.add_argument(
        "--data",
        action="append",
        help="digits, npz:FILE or tfds:NAME; for --split test an npz file needs x_test and y_test "
        "only. May be repeated for further test sets, which were not used to make the model",
    )
    parser.add_argument(
        "--models",
        metavar="DIR",
        type=Path,
        help="a folder of training runs of one architecture, which are tested together",
    )
    parser.add_argument(
        "--original",
        metavar="DIR",
        type=Path,
        help="a folder of training runs without --protocol rescaled: also show how similar the "
        "models are to these",
    )
    parser.add_argument(
        "--control",
        action="store_true",
        help="instead of a model and data, test a network that has memorized random textures, on "
        "its training set and its test set: shows what a detection looks like",
    )
    parser.add_argument(
        "--split",
        choices=("test", "train", "unseen", "both"),
        default="test",
        help="the images to test on (default: test). train: a control, the model depends on them; "
        "unseen: a control, as many training images that the model's zoo left out; both: test and "
        "train",
    )
    parser.add_argument("--train-examples", type=positive, help="use that many training images")
    parser.add_argument("--test-examples", type=positive, help="use that many test images")
    add_scale(parser)
    parser.add_argument("--image-size", type=positive, help="resize images of tfds data to N x N")
    parser.add_argument(
        "--resize",
        choices=("square", "short-side"),
        default="square",
        help="how --image-size resizes. square: both sides to N (default); short-side: the shorter "
        "side to N, then crop the centre",
    )
    parser.add_argument(
        "--eps", type=positive, default=2, help="largest shift in pixels (default: 2)"
    )
    parser.add_argument(
        "--padding",
        "--room",
        choices=("auto", "upsample", "circular"),
        default="auto",
        help="how images of the size of the model's input are shifted. upsample: upsampled first; "
        "circular: circularly; auto: upsampled unless that raises the models' error (default)",
    )
    parser.add_argument("--seed", type=seed, default=0, help="random seed (default: 0)")
    add_custom(parser)
    parser.add_argument("-o", "--output", metavar="DIR", type=Path, help="where results go")


def run(args: argparse.Namespace) -> int:
    """Examines, prints and writes."""
    from starting_kit_adapter.terminal.output import need_writable

    if args.output is not None:
        need_writable(args.output)
    from ingestion.datasets.sources import check_source
    from ingestion.quiet import import_tensorflow

    for source in args.data or ():
        check_source(source)
    import_tensorflow()
    from starting_kit_adapter.diagnose.overfit.questions import ask, ask_control
    from starting_kit_adapter.diagnose.overfit.report import examine_models
    from starting_kit_adapter.diagnose.overfit.words import (
        describe,
        describe_selection,
        describe_similarity,
    )

    question = ask_control(args) if args.control else ask(args)
    reports = {}
    with Progress(len(question.sets) * len(question.models), "models") as progress:
        for split, images in question.sets.items():
            reports[split] = examine_models(
                question.models,
                images,
                eps=args.eps,
                padding=question.padding,
                seed=args.seed,
                step=progress.step,
            )
    similar = question.similarity()
    paragraphs = [*question.notes, *(describe(reports, split) for split in reports)]
    paragraphs += [describe_selection(reports)]
    paragraphs += [describe_similarity(similar, question.compared)] if similar is not None else []
    print("\n\n".join(filter(None, paragraphs)))
    if args.output is not None:
        _write(args.output, question.to_json(similar), reports)
    return 0


def _write(folder: Path, settings: dict[str, Any], reports: dict[str, Report]) -> None:
    from scoring.files import write_json
    from starting_kit_adapter.diagnose.overfit import plots
    from starting_kit_adapter.diagnose.overfit.words import p_by_error
    from starting_kit_adapter.terminal.figures import save

    content = {
        **settings,
        "sets": {split: r.to_json() for split, r in reports.items()},
        "p_by_error": [
            {"p": tested, "error": split, "correlation": value}
            for tested, split, value in p_by_error(reports)
        ],
    }
    write_json(folder / "overfit.json", content)
    for split, report in reports.items():
        save(plots.figure8(report), folder / f"figure8_{split}")
    if all(len(report.examinations) > 1 for report in reports.values()):
        save(plots.figure9(reports), folder / "figure9")
        save(plots.figure10(reports), folder / "figure10")
        save(plots.figure11(reports), folder / "figure11")
    print(f"\nwrote {folder}")
