"""`pgdl overfit`: is a model, or an architecture, overfitted to a test set?"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from starting_kit_adapter.terminal.numbers import positive, seed
from starting_kit_adapter.terminal.text import Progress

if TYPE_CHECKING:
    from starting_kit_adapter.diagnose.overfit.report import Report

HELP = "Is a model (or are N training runs of it) overfitted to a test set?"
EXAMPLES = """\
examples:
  pgdl overfit mine.keras --data npz:mine.npz
  pgdl overfit zoo/input_data/fashion/model_3 --data npz:fashion.npz --split both -o out/
  pgdl overfit mine.keras --data tfds:cifar10 --room circular --eps 3

N training runs of one architecture together, and two controls, where one_cell.json is a grid with
one value of everything (see `pgdl zoo build -h`):
  pgdl zoo build --data npz:fashion.npz --grid one_cell.json --repeats 9 --protocol rescaled -o zoo/
  pgdl overfit --models zoo/input_data/one_cell --data npz:fashion.npz -o out/
  pgdl overfit --models zoo/input_data/one_cell --data npz:fashion.npz --split train
  pgdl overfit --models zoo/input_data/one_cell --data npz:fashion.npz --split unseen

Tests the hypothesis that the model is independent of the images, by the adversarial risk estimate
of Werpachowski et al. 2019: no new data is needed. Images are shifted by up to eps pixels. They
must have 6 eps pixels more than the model takes, each way; where they have the model's size they
are upsampled (as in the paper; train on such images with `pgdl zoo build --protocol rescaled`) or
shifted circularly.
The test assumes that shifted images are as likely as the images. Where these were centred it
rejects without overfitting: compare with --split unseen, and see the error by shift.

For models of a zoo (ZOO/input_data/TASK/model_<id>) the train and test sets are those that the zoo
used, unless --train-examples or --test-examples say otherwise.

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
        choices=("test", "train", "unseen", "both"),
        default="test",
        help="which images (default: test). Controls: train, which the model depends on; unseen, "
        "as many training images that the model's zoo left out; both: test and train",
    )
    parser.add_argument("--train-examples", type=positive, help="use that many training images")
    parser.add_argument("--test-examples", type=positive, help="use that many test images")
    parser.add_argument("--image-size", type=positive, help="make images of tfds data N x N")
    parser.add_argument("--eps", type=positive, default=2, help="largest shift (default: 2)")
    parser.add_argument(
        "--room",
        choices=("upsample", "circular"),
        default="upsample",
        help="how images without spare pixels are shifted (default: upsample)",
    )
    parser.add_argument(
        "--seed", type=seed, default=0, help="of the random generators (default: 0)"
    )
    parser.add_argument("-o", "--output", metavar="DIR", type=Path, help="where results go")


def run(args: argparse.Namespace) -> int:
    """Examines, prints and writes."""
    from ingestion.quiet import import_tensorflow

    import_tensorflow()
    from ingestion.any_model import read_architecture, read_model
    from ingestion.sources import load_source
    from starting_kit_adapter.diagnose.overfit import models, sets
    from starting_kit_adapter.diagnose.overfit.report import examine_models
    from starting_kit_adapter.diagnose.overfit.words import describe

    paths = models.find_models(args.model, args.models)
    models.check_one_architecture({name: read_architecture(path) for name, path in paths.items()})
    models.check_one_training({name: models.read_training(path) for name, path in paths.items()})
    origin = sets.find_origin(paths.values())
    train, test = sets.limits(origin, args.train_examples, args.test_examples)
    data = load_source(args.data, args.image_size)
    chosen = sets.choose_sets(data, args.split, origin, train, test)
    notes = sets.notes(origin, args.split, train, test, args.eps)
    readers = {name: lambda path=path: read_model(path)[1] for name, path in paths.items()}
    reports = {}
    with Progress(len(chosen) * len(paths), "models") as progress:
        for split, images in chosen.items():
            reports[split] = examine_models(
                readers,
                images,
                eps=args.eps,
                room=args.room,
                seed=args.seed,
                step=progress.step,
            )
    described = [describe(report, split) for split, report in reports.items()]
    print("\n\n".join([*notes, *described]))
    if args.output is not None:
        settings = {
            **{name: getattr(args, name) for name in ("data", "image_size", "split")},
            **{"train_examples": train, "test_examples": test},
            **{name: getattr(args, name) for name in ("eps", "room", "seed")},
            "paths": {name: str(path) for name, path in paths.items()},
            "notes": notes,
        }
        _write(args.output, settings, reports)
    return 0


def _write(folder: Path, settings: dict[str, Any], reports: dict[str, Report]) -> None:
    from scoring.files import write_whole
    from starting_kit_adapter.diagnose.overfit import plots
    from starting_kit_adapter.terminal.figures import save

    content = {**settings, "sets": {split: r.to_json() for split, r in reports.items()}}
    write_whole(folder / "overfit.json", json.dumps(content, indent=1) + "\n")
    for split, report in reports.items():
        save(plots.figure8(report), folder / f"figure8_{split}")
    if all(len(report.examinations) > 1 for report in reports.values()):
        save(plots.figure9(reports), folder / "figure9")
        save(plots.figure10(reports), folder / "figure10")
    print(f"\nwrote {folder}")
