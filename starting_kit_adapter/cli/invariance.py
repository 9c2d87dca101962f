"""`pgdl invariance`: how invariant is one network, and where does it break?"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from pgdl_measures.errors import PgdlError
from starting_kit_adapter.cli.numbers import positive, seed, share

if TYPE_CHECKING:
    import tensorflow as tf

HELP = "How invariant is a network to rotation, translation, colour, noise, and where does it break"
EXAMPLES = """\
examples:
  pgdl invariance mine.keras --data npz:mine.npz
  pgdl invariance zoo/input_data/digits/model_3 -o model_3.svg       the data is the task's own
  pgdl invariance mine.keras --data npz:mine.npz --perturbations rotation90,noise
  pgdl invariance mine.keras --data npz:mine.npz --perturbations rotation,mymodule:blur

Prints a table and draws the response curves. Gi is 0 for a network that the perturbation does not
touch and 1 for one that is always wrong. "holds 90 %" is the range of magnitudes around 0 in which
the accuracy stays at 90 % of what it is without perturbation; where it ends, the network breaks.
Both are of the same images, of which none is drawn twice.
A perturbation of your own is a function (images, magnitude, rng) -> images that mymodule.py
registers: register_perturbation(blur, 0.0, 3.0).
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "model", metavar="MODEL", type=Path, help="a .keras or .h5 file, or a model_<id> folder"
    )
    parser.add_argument("--data", help="digits, npz:FILE or tfds:NAME: its training data")
    parser.add_argument(
        "--perturbations", metavar="NAMES", help="only these, separated by commas (default: all)"
    )
    parser.add_argument(
        "--holds", metavar="SHARE", type=share, default=0.9, help="of the accuracy (default: 0.9)"
    )
    parser.add_argument(
        "--batches", type=positive, default=40, help="of 128 training examples (default: 40)"
    )
    parser.add_argument("--seed", type=seed, default=0, help="of the draws (default: 0)")
    parser.add_argument(
        "-o",
        "--output",
        type=Path,
        default=Path("invariance.png"),
        help="the figure: .png, .svg or .pdf (default: invariance.png)",
    )


def run(args: argparse.Namespace) -> int:
    from starting_kit_adapter.cli.quiet import import_tensorflow

    import_tensorflow()
    from pgdl_measures.base import Subject
    from pgdl_measures.perturbations.catalogue import perturbations
    from pgdl_measures.plots import need_matplotlib
    from starting_kit_adapter.studies.one_model import examine, save_figure, to_text

    need_matplotlib()  # before minutes of computing
    if args.output.suffix not in (".png", ".svg", ".pdf"):
        raise PgdlError(f"the figure is {args.output}; expected a .png, .svg or .pdf file")
    if args.perturbations:
        names = [name.strip() for name in args.perturbations.split(",")]
    else:
        names = [perturbation.name for perturbation in perturbations()]
    subject = Subject(_model(args.model), _dataset(args))
    findings = examine(subject, names, share=args.holds, batches=args.batches, seed=args.seed)
    print(to_text(findings))
    save_figure(findings, args.output)
    print(f"\nwrote {args.output}")
    return 0


def _model(path: Path) -> tf.keras.Model:
    if path.is_dir():
        from ingestion.models import load_model

        return load_model(path)
    from starting_kit_adapter.zoo.existing import read_existing

    return read_existing(path)[1]


def _dataset(args: argparse.Namespace) -> tf.data.Dataset:
    if args.data:
        import tensorflow as tf

        from starting_kit_adapter.zoo.sources import load_source

        train = load_source(args.data).train
        return tf.data.Dataset.from_tensor_slices((train.images, train.labels))
    if not args.model.is_dir():
        raise PgdlError(f"{args.model} does not say what it was trained on: give --data")
    from ingestion.corpus import Task
    from ingestion.data import load_dataset

    folder = args.model.resolve().parent
    return load_dataset(Task(folder.name, folder, None, ()).shards())
