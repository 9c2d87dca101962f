"""`pgdl invariance`: how invariant one network is to perturbations of its images."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from pgdl_measures.errors import PgdlError
from starting_kit_adapter.terminal.custom import add_custom
from starting_kit_adapter.terminal.numbers import fraction, positive, seed
from starting_kit_adapter.terminal.scale_option import add_scale
from starting_kit_adapter.terminal.selection import add_model, split_names
from starting_kit_adapter.terminal.text import Progress

if TYPE_CHECKING:
    import tensorflow as tf

HELP = "Measure how invariant a network is to rotation, translation, colour and noise"
EXAMPLES = """\
examples:
  pgdl invariance mine.keras --data npz:mine.npz
  pgdl invariance zoo/input_data/digits/model_3 -o model_3.svg       uses the task's training data
  pgdl invariance mine.keras --data npz:mine.npz --perturbations rotation90,noise
  pgdl invariance mine.keras --data npz:mine.npz --perturbations rotation,mymodule:blur

Prints a table and draws the response curves: accuracy against the magnitude of the perturbation. Gi
is 0 for a network that the perturbation does not affect and 1 for one that is always wrong. "mean
acc" and "worst acc" are the mean and the smallest accuracy in the tested range, "at" is where it is
smallest. "keeps 90 % within" is the range of magnitudes around 0 in which the network keeps 90 % of
its accuracy on the unperturbed images. Each image is used once.
A perturbation of your own is a function (images, magnitude, rng) -> images that mymodule.py
registers with register_perturbation(blur, 0.0, 3.0).
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_model(parser)
    parser.add_argument(
        "--data",
        help="its training data: npz:FILE (x_train and y_train), tfds:NAME or digits",
    )
    add_scale(parser)
    parser.add_argument(
        "--perturbations",
        metavar="NAMES",
        help="only these perturbations, separated by commas (default: all)",
    )
    parser.add_argument(
        "--keep-fraction",
        "--holds",
        metavar="FRACTION",
        type=fraction,
        default=0.9,
        help="fraction of the accuracy that the network is to keep (default: 0.9)",
    )
    parser.add_argument(
        "--batches",
        type=positive,
        default=40,
        help="batches of 128 training examples (default: 40)",
    )
    parser.add_argument("--seed", type=seed, default=0, help="random seed (default: 0)")
    add_custom(parser)
    parser.add_argument(
        "-o",
        "--output",
        type=Path,
        default=Path("invariance.png"),
        help="the figure: .png, .svg or .pdf (default: invariance.png)",
    )


def run(args: argparse.Namespace) -> int:
    from ingestion.datasets.sources import check_source
    from ingestion.quiet import import_tensorflow
    from starting_kit_adapter.terminal.output import need_writable

    if args.output.suffix not in (".png", ".svg", ".pdf"):
        raise PgdlError(f"the figure is {args.output}; expected a .png, .svg or .pdf file")
    need_writable(args.output.parent)
    if args.data:
        check_source(args.data)
    import_tensorflow()
    from ingestion.model_files.any_model import read_model
    from pgdl_measures.base import Subject
    from pgdl_measures.perturbations.catalogue import perturbations
    from scoring.canvas import need_matplotlib
    from starting_kit_adapter.diagnose.invariance import examine, save_figure, to_text

    need_matplotlib()  # before minutes of computing
    if args.perturbations:
        names = split_names(args.perturbations)
    else:
        names = [perturbation.name for perturbation in perturbations()]
    model = read_model(args.model, args.custom or ())[1]
    subject = Subject(model, _dataset(args, model))
    with Progress(len(names), "perturbations") as progress:
        findings = examine(
            subject,
            names,
            keep_fraction=args.keep_fraction,
            batches=args.batches,
            seed=args.seed,
            step=progress.step,
        )
    print(to_text(findings))
    save_figure(findings, args.output)
    print(f"\nwrote {args.output}")
    return 0


def _dataset(args: argparse.Namespace, model: tf.keras.Model) -> tf.data.Dataset:
    if args.data:
        import tensorflow as tf

        from ingestion.datasets.scale import data_warning, scaled_for
        from ingestion.datasets.sources import load_source
        from ingestion.zoo.add import fitted
        from starting_kit_adapter.terminal.failures import warn

        data = load_source(args.data, scale="none", need_test=False)
        data = scaled_for(model, fitted(model, data, args.model), args.scale)
        warning = data_warning(model, data)
        if warning:
            warn(f"{args.model.name}: {warning}")
        return tf.data.Dataset.from_tensor_slices((data.train.images, data.train.labels))
    if not args.model.is_dir():
        raise PgdlError(f"{args.model} does not contain its training data: give it with --data")
    from ingestion.corpus import Task
    from ingestion.datasets.data import load_dataset

    model = args.model.resolve()
    task = Task(model.parent.name, model.parent, None, (model.name,))
    return load_dataset(task.shards(dataset=task.dataset_of(model.name)))
